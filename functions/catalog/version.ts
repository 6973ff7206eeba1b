import { jsonReply, type Reply } from '../../shared/http/reply.ts';
import type { Handle } from './router.ts';

/** The version of the serverless surface (interface 9). */
const API_VERSION = '1.0.0';

/** GET /version: what is deployed. */
export const version =
  (deployed: { version: string; commit: string }): Handle =>
  async ({ requestId }): Promise<Reply> =>
    jsonReply(requestId, 200, { ...deployed, api_version: API_VERSION });
