import { ServiceUnavailable } from '../../shared/http/errors.ts';
import { jsonReply } from '../../shared/http/reply.ts';
import type { Handle } from '../../shared/http/router.ts';

// The route is public, so the probe runs at most once in this time.
const CACHE_MS = 2_000;

/**
 * Reports whether the host can serve.
 * @param probe rejects if a dependency of every request doesn't respond
 */
export const health = (probe: () => Promise<unknown>): Handle => {
  let last: { atMs: number; isHealthy: Promise<boolean> } | undefined;
  return async ({ requestId, receivedAtMs }) => {
    if (!last || receivedAtMs - last.atMs >= CACHE_MS) {
      const isHealthy = probe().then(
        () => true,
        () => false,
      );
      last = { atMs: receivedAtMs, isHealthy };
    }
    if (!(await last.isHealthy)) throw new ServiceUnavailable();
    return jsonReply(requestId, 200, { status: 'ok' });
  };
};
