import { API_VERSION } from '../../shared/hosts/version.ts';
import { jsonReply, type Reply } from '../../shared/http/reply.ts';
import type { Handle } from '../../shared/http/router.ts';

/** GET /version: what is deployed. */
export const version =
  (deployed: { version: string; commit: string }): Handle =>
  async ({ requestId }): Promise<Reply> =>
    jsonReply(requestId, 200, { ...deployed, api_version: API_VERSION });
