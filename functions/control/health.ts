import { ServiceUnavailable } from '../../shared/http/errors.ts';
import { jsonReply } from '../../shared/http/reply.ts';
import type { Handle } from '../../shared/http/router.ts';

/** Anyone may ask, so the probe runs at most once in this time. */
const REMEMBERED_MS = 2_000;

/**
 * Reports whether the host can serve.
 * @param probe fails when a dependency of every request doesn't answer
 */
export const health = (probe: () => Promise<unknown>): Handle => {
  let last: { atMs: number; isWell: Promise<boolean> } | undefined;
  return async ({ requestId, receivedAtMs }) => {
    if (!last || receivedAtMs - last.atMs >= REMEMBERED_MS) {
      const isWell = probe().then(
        () => true,
        () => false,
      );
      last = { atMs: receivedAtMs, isWell };
    }
    if (!(await last.isWell)) throw new ServiceUnavailable();
    return jsonReply(requestId, 200, { status: 'ok' });
  };
};
