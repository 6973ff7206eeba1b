import { NewFigures } from '../../../shared/prices/price-version.ts';
import { createRoute, Trial } from '../access/route.ts';
import { AdapterPrice, type AdapterPriceDependencies, AdapterPriceList, addAdapterPrice, listAdapterPrices } from './adapter-prices.ts';
import { addPrice, listPrices, type PriceRouteDependencies, previewPrice } from './add-price.ts';
import { PricedModel, PriceList, PricePreview, PriceRequest, PriceResource } from './price-resource.ts';
import { PriceSheet, priceSheet } from './price-sheet.ts';

const route = createRoute<PriceRouteDependencies & AdapterPriceDependencies>('Prices');
const prices = '/v1/prices';
const adapterPrices = '/v1/adapter-prices';

export const priceRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/pricing/serverless',
      operationId: 'retrieveServerlessPricing',
      summary: 'Retrieve the prices of the shared models',
      access: 'prices:read',
      reply: {
        status: 200,
        description: 'The current price and the next scheduled price of each model.',
        json: { name: 'PriceSheet', schema: PriceSheet },
      },
      errors: [503],
    },
    ({ deps, actor }) => priceSheet(deps, actor.origin.nowMs),
  ),
  route(
    {
      method: 'POST',
      path: prices,
      operationId: 'createPrice',
      summary: 'Add a price version to a model',
      description: 'Price versions cannot be changed; add a new one instead. It applies from its `effective_at` on, at most 30 s late.',
      access: 'prices:write',
      needsFreshLogin: true,
      body: {
        name: 'NewPrice',
        schema: PriceRequest,
        example: {
          model: 'qwen3-8b',
          effective_at: 1_798_761_600,
          per_million: { prompt: '0.05', cached_prompt: '0.005', completion: '0.2' },
        },
      },
      reply: { status: 201, description: 'The price version.', json: { name: 'Price', schema: PriceResource } },
      trialReply: {
        status: 200,
        description: 'With `validate_only`: what would change.',
        json: { name: 'PricePreview', schema: PricePreview },
      },
      errors: [400, 404, 409, 412, 503],
    },
    async ({ deps, actor, body: { validate_only, ...price } }) =>
      validate_only ? new Trial(await previewPrice(deps, actor, price)) : addPrice(deps, actor, price),
  ),
  route(
    {
      method: 'GET',
      path: prices,
      operationId: 'listPrices',
      summary: 'List the price versions of a model',
      access: 'prices:list',
      query: PricedModel,
      reply: { status: 200, description: 'All price versions, newest first.', json: { name: 'PriceList', schema: PriceList } },
      errors: [400, 404, 503],
    },
    ({ deps, query }) => listPrices(deps, query),
  ),
  route(
    {
      method: 'POST',
      path: adapterPrices,
      operationId: 'createAdapterPrice',
      summary: 'Add a surcharge on the tokens of adapters',
      description:
        'Requests through an adapter are charged at it, on top of the GPU time of the deployment. It applies to the adapters of all organizations from its `effective_at` on, at most two minutes late. Without one, their tokens are free. Price versions cannot be changed; add a new one instead.',
      access: 'prices:write',
      needsFreshLogin: true,
      body: {
        name: 'NewAdapterPrice',
        schema: NewFigures,
        example: { effective_at: 1_798_761_600, per_million: { prompt: '0.01', completion: '0.04' } },
      },
      reply: { status: 201, description: 'The price version.', json: { name: 'AdapterPrice', schema: AdapterPrice } },
      errors: [400, 409, 412, 503],
    },
    ({ deps, actor, body }) => addAdapterPrice(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: adapterPrices,
      operationId: 'listAdapterPrices',
      summary: 'List the surcharges on the tokens of adapters',
      access: 'prices:read',
      reply: {
        status: 200,
        description: 'All price versions, newest first.',
        json: { name: 'AdapterPriceList', schema: AdapterPriceList },
      },
      errors: [503],
    },
    ({ deps }) => listAdapterPrices(deps),
  ),
];
