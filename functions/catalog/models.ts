import type { ApiEvent } from '../../shared/http/api-event.ts';
import { entityTag, unlessKnown } from '../../shared/http/conditional.ts';
import { jsonReply, type Reply } from '../../shared/http/reply.ts';
import type { Handle } from '../../shared/http/router.ts';
import { deprecationHeaders } from '../../shared/models/deprecation.ts';
import type { Inventory } from '../../shared/models/inventory.ts';
import { type ModelEntry, type ModelList, modelEntryOf } from '../../shared/models/model-entry.ts';

const HEADERS = { 'cache-control': 'public, max-age=30' };

const tagged = (event: ApiEvent, body: ModelEntry | ModelList, headers: Readonly<Record<string, string>> = {}): Reply => {
  const reply = jsonReply(event.requestId, 200, body, { ...HEADERS, ...headers });
  return unlessKnown(event, entityTag(reply.body), reply);
};

/** GET /v1/models: the published models in OpenAI's shape, with their sizes, prices and capabilities. */
export const listModels =
  (inventory: Inventory): Handle =>
  async (event) => {
    const models = await inventory.list();
    return tagged(event, { object: 'list', data: models.map((model) => modelEntryOf(model, event.receivedAtMs)) });
  };

/** GET /v1/models/{model}: one of them, or 404. That it goes is told in headers, too. */
export const retrieveModel =
  (inventory: Inventory): Handle =>
  async (event) => {
    const model = await inventory.find(event.pathParameters?.model ?? '');
    return tagged(event, modelEntryOf(model, event.receivedAtMs), deprecationHeaders(model));
  };
