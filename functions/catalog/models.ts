import type { Reply } from '../../shared/http/reply.ts';
import { jsonReply } from '../../shared/http/reply.ts';
import type { Inventory } from '../../shared/models/inventory.ts';
import type { Handle } from './router.ts';

/** GET /v1/models: the published models in OpenAI's shape, with the sizes that a client needs to fit a request. */
export const listModels =
  (inventory: Inventory): Handle =>
  async ({ requestId }): Promise<Reply> => {
    const models = await inventory.list();
    const data = models.map(({ name, created, context_length, max_output_tokens }) => ({
      id: name,
      object: 'model',
      created,
      owned_by: 'sluice',
      context_length,
      max_output_tokens,
    }));
    return jsonReply(requestId, 200, { object: 'list', data }, { 'cache-control': 'public, max-age=30' });
  };
