import { createRoute } from '../access/route.ts';
import { addPrice, listPrices, type PriceDependencies } from './add-price.ts';
import { NewPrice, PricedModel, PriceList, PriceResource } from './price-resource.ts';
import { PriceSheet, priceSheet } from './price-sheet.ts';

const route = createRoute<PriceDependencies>();

const tag = 'Prices';
const prices = '/v1/prices';

export const priceRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/pricing/serverless',
      operationId: 'retrieveServerlessPricing',
      tag,
      summary: 'What the shared models cost',
      access: 'member',
      reply: { status: 200, description: 'The prices in force, and those that follow.', json: { name: 'PriceSheet', schema: PriceSheet } },
      errors: [503],
    },
    ({ deps, actor }) => priceSheet(deps, actor.origin.nowMs),
  ),
  route(
    {
      method: 'POST',
      path: prices,
      operationId: 'createPrice',
      tag,
      summary: 'Add a price version to a model',
      description:
        'A price version is never changed, because usage events name it: add another one. Requests that arrive after its time, and at most 30 s after this one, are billed by it.',
      access: 'admin',
      body: {
        name: 'NewPrice',
        schema: NewPrice,
        example: {
          model: 'qwen3-8b',
          effective_at: 1_798_761_600,
          per_million: { prompt: '0.05', cached_prompt: '0.005', completion: '0.2' },
        },
      },
      reply: { status: 201, description: 'The price version.', json: { name: 'Price', schema: PriceResource } },
      errors: [400, 404, 409, 412, 503],
    },
    ({ deps, actor, body }) => addPrice(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: prices,
      operationId: 'listPrices',
      tag,
      summary: 'List the price versions of a model',
      access: 'admin',
      query: PricedModel,
      reply: { status: 200, description: 'All of them, the newest first.', json: { name: 'PriceList', schema: PriceList } },
      errors: [400, 404, 503],
    },
    ({ deps, query }) => listPrices(deps, query),
  ),
];
