import { CONTROL_API_VERSION } from '../../shared/hosts/version.ts';
import { ServiceUnavailable } from '../../shared/http/errors.ts';
import type { createReference } from '../../shared/http/reference.ts';
import { jsonReply } from '../../shared/http/reply.ts';
import type { Routes } from '../../shared/http/router.ts';

/** What the host says of itself: nobody needs to log in for it. */
interface Service {
  reference: ReturnType<typeof createReference>;
  /** Fails when what every request needs does not answer. */
  probe: () => Promise<unknown>;
  deployed: { version: string; commit: string };
}

/** Nobody needs to know better than this, and anybody may ask. */
const REMEMBERED_MS = 2_000;

/** GET /health, /version, /openapi.json and /docs. */
export const serviceRoutes = ({ reference, probe, deployed }: Service): Routes => {
  let last: { atMs: number; found: Promise<boolean> } | undefined;
  const isWell = (nowMs: number): Promise<boolean> => {
    if (!last || nowMs - last.atMs >= REMEMBERED_MS)
      last = {
        atMs: nowMs,
        found: probe().then(
          () => true,
          () => false,
        ),
      };
    return last.found;
  };
  return {
    '/health': {
      GET: async ({ requestId, receivedAtMs }) => {
        if (!(await isWell(receivedAtMs))) throw new ServiceUnavailable();
        return jsonReply(requestId, 200, { status: 'ok' });
      },
    },
    '/version': {
      GET: async ({ requestId }) => jsonReply(requestId, 200, { ...deployed, api_version: CONTROL_API_VERSION }),
    },
    '/openapi.json': { GET: reference.document },
    '/docs': { GET: reference.page },
    '/docs/{file}': { GET: reference.viewerFile },
  };
};
