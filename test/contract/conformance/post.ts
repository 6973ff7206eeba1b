import { toUpstreamError, UpstreamFailed } from '../../../shared/upstream/errors.ts';

/** The container cannot be reached, so no more requests make sense. */
export class ContainerGone extends Error {}

// The order in which they are tried.
const PATHS = ['/invocations', '/v1/chat/completions'];
const NO_SUCH_PATH = new Set([404, 405]);
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
// After this many timeouts, a container is not expected to answer any other request.
const MAX_TIMEOUTS = 3;

interface Address {
  url: string;
  path?: string | undefined;
  timeoutMs: number;
}

/**
 * Posts bodies to a container and yields the bytes of its replies as they arrive, each within the given time.
 * Throws the error that a caller of the gateway would get (shared/upstream/errors.ts), and ContainerGone.
 */
export const createPost = ({ url, path, timeoutMs }: Address) => {
  const paths = path === undefined ? PATHS : [path];
  let found: string | undefined;
  let timeouts = 0;

  const send = async (body: string, signal: AbortSignal): Promise<Response> => {
    const tried = found === undefined ? paths : [found];
    for (const [index, candidate] of tried.entries()) {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(new URL(candidate, url), { method: 'POST', headers, body, signal });
      if (index === tried.length - 1 || !NO_SUCH_PATH.has(response.status)) {
        found = candidate;
        return response;
      }
      await response.body?.cancel();
    }
    throw new Error('a container has at least one path');
  };

  const toThrow = (error: unknown): unknown => {
    const { name, cause } = error as { name?: string; cause?: { code?: string; message?: string } };
    if (name === 'TimeoutError') {
      timeouts += 1;
      const detail = `no answer within ${timeoutMs} ms`;
      return timeouts >= MAX_TIMEOUTS ? new ContainerGone(`${url}: ${detail}`) : new UpstreamFailed('upstream_timeout', detail);
    }
    if (UNREACHABLE.has(cause?.code ?? '')) return new ContainerGone(`${url}: there is no container (${cause?.code})`);
    return cause ? new UpstreamFailed('upstream_error', `the connection broke (${cause.message})`) : error;
  };

  return async function* (body: object): AsyncGenerator<Uint8Array> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await send(JSON.stringify(body), signal);
      if (!response.ok) throw await refusal(response);
      yield* response.body ?? [];
    } catch (error) {
      throw toThrow(error);
    }
  };
};

// The caller's error for a status other than 200, with the container's message.
const refusal = async (response: Response): Promise<Error> => {
  const { status } = response;
  const OriginalMessage = await response.text();
  const modelError = (OriginalStatusCode: number, message = '') =>
    toUpstreamError({ name: 'ModelError', message, facts: { OriginalStatusCode, OriginalMessage } });
  return modelError(status, `HTTP ${status}: ${modelError(400).message}`);
};
