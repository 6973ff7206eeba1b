import { MESSAGES_PATH } from '../../../../shared/http/messages-path.ts';
import type { TestRun } from '../../clients/local-run.ts';
import type { TableCaller, TableRoute } from './routes.ts';
import { REPLY_LIMIT_MS } from './time-class.ts';

/** A reply as its caller saw it. */
export interface SeenReply {
  status: number | 'cut';
  /** The code of the error in the body or in the stream; null: there was none. */
  code: string | null;
  retryAfter: string | null;
  /** A whole body, or a stream to its end. */
  isComplete: boolean;
  /** True for an error with the documented body and nothing internal. */
  isDocumented: boolean;
  /** Until its end. */
  elapsedMs: number;
}

// The end of a complete stream, by path.
const ENDS: Readonly<Record<string, RegExp>> = {
  '/v1/responses': /^event: response\.(completed|incomplete)$/m,
  [MESSAGES_PATH]: /^event: message_stop$/m,
};
const DONE = /^data: \[DONE\]$/m;
const INTERNAL = /arn:aws|\b\d{12}\b|https?:\/\/127|node_modules|at .*:\d+:\d+|DynamoDB|SageMaker/;
const USER_ID = '3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11';

/** Sends a request and reads its reply to the end. @param onHead called when the head of the reply has arrived */
export const send = async (run: TestRun, route: TableRoute, caller: TableCaller, onHead = (): void => undefined): Promise<SeenReply> => {
  const { host, path, access, bodyOf } = route;
  const token = { key: caller.secret, session: caller.user.token, scim: caller.identities.scimToken, none: undefined }[access];
  const headers = {
    'content-type': 'application/json',
    'x-user-id': USER_ID,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const request = bodyOf ? { method: 'POST', headers, body: JSON.stringify(await bodyOf(caller)) } : { headers };
  const url = `${{ serverless: run.base_url, 'on-demand': run.ondemand_url, control: run.control_url }[host]}${path}`;
  const startMs = performance.now();
  const elapsedMs = (): number => performance.now() - startMs;
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(REPLY_LIMIT_MS) });
    onHead();
    return { ...read(route, response, await response.text()), elapsedMs: elapsedMs() };
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') throw error;
    return { status: 'cut', code: null, retryAfter: null, isComplete: false, isDocumented: true, elapsedMs: elapsedMs() };
  }
};

const read = (route: TableRoute, response: Response, text: string): Omit<SeenReply, 'elapsedMs'> => {
  const isStream = /event-stream/.test(response.headers.get('content-type') ?? '');
  const events = isStream ? [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json)) : [JSON.parse(text)];
  const error = events.map(errorOf).find((found) => found !== undefined);
  const isEnded = !isStream || (ENDS[route.path] ?? DONE).test(text);
  return {
    status: response.status,
    code: error ? String(error.code) : null,
    retryAfter: response.headers.get('retry-after'),
    isComplete: response.ok && isEnded && error === undefined,
    isDocumented: response.status < 400 ? !error || isPlain(error) : error !== undefined && isPlain(error),
  };
};

interface WireError {
  code?: unknown;
  message?: unknown;
}

// A body, or an event of a stream. The error of a 401 is a text, with its code beside it; that of OAuth is a code, with
// a description; SCIM has a detail with a code; the Messages API has the code among the details.
interface WireBody {
  error?: (WireError & { details?: { error_code: unknown } }) | string | null;
  error_description?: string;
  detail?: string;
  code?: unknown;
  response?: { error?: WireError | null };
}

const errorOf = ({ error, error_description, detail, code, response }: WireBody): WireError | undefined => {
  if (detail !== undefined) return { message: detail, code };
  if (error_description !== undefined) return { message: error_description, code: error };
  if (typeof error === 'string') return { message: error, code };
  if (error?.details) return { message: error.message, code: error.details.error_code };
  return error ?? response?.error ?? undefined;
};

const isPlain = ({ message }: WireError): boolean => typeof message === 'string' && message.length > 0 && !INTERNAL.test(message);
