import type { TestRun } from '../local-run.ts';
import type { TableRoute } from './routes.ts';

/** A reply as its caller saw it. */
export interface SeenReply {
  status: number | 'cut';
  /** The code of the error in the body or in the stream; null: there was none. */
  code: string | null;
  retryAfter: string | null;
  /** A whole body, or a stream to its end. */
  isComplete: boolean;
  /** Whether an error has the documented body and says nothing internal. */
  isDocumented: boolean;
}

const LIMIT_MS = 45_000;
const INTERNAL = /arn:aws|\b\d{12}\b|https?:\/\/127|node_modules|at .*:\d+:\d+|DynamoDB|SageMaker/;
const USER_ID = '3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11';

/** Sends a request and reads its reply to the end. */
export const send = async (run: TestRun, route: TableRoute, secret: string): Promise<SeenReply> => {
  const url = `${route.host === 'serverless' ? run.base_url : run.ondemand_url}${route.path}`;
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'x-user-id': USER_ID };
  const body = route.body && JSON.stringify({ ...route.body, model: run.model });
  const init = body === undefined ? {} : { method: 'POST', headers, body };
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(LIMIT_MS) });
    return read(route, response, await response.text());
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') throw error;
    return { status: 'cut', code: null, retryAfter: null, isComplete: false, isDocumented: true };
  }
};

const read = (route: TableRoute, response: Response, text: string): SeenReply => {
  const isStream = /event-stream/.test(response.headers.get('content-type') ?? '');
  const events = isStream ? [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json)) : [JSON.parse(text)];
  const error = events.map(errorOf).find((found) => found !== undefined);
  const isEnded =
    !isStream || (route.path === '/v1/responses' ? /^event: response\.(completed|incomplete)$/m : /^data: \[DONE\]$/m).test(text);
  return {
    status: response.status,
    code: error ? String(error.code) : null,
    retryAfter: response.headers.get('retry-after'),
    isComplete: response.status === 200 && isEnded && error === undefined,
    isDocumented: response.status < 400 ? !error || isPlain(error) : error !== undefined && isPlain(error),
  };
};

interface WireError {
  code?: unknown;
  message?: unknown;
}

/** The error of a body of interface 2.6, or of an event of a response. */
const errorOf = (value: { error?: WireError | null; response?: { error?: WireError | null } }): WireError | undefined =>
  value.error ?? value.response?.error ?? undefined;

const isPlain = ({ message }: WireError): boolean => typeof message === 'string' && message.length > 0 && !INTERNAL.test(message);
