import { createRoute } from '../access/route.ts';
import { type LevelDependencies, LevelsQuery, listLevels, ServiceLevels } from './list-levels.ts';
import { NewServicePromise, PromisedModel, ServicePromiseList, ServicePromiseResource } from './promise-resource.ts';
import { listPromises, type PromiseDependencies, statePromise } from './state-promise.ts';

const route = createRoute<PromiseDependencies & LevelDependencies>('Prices');
const promises = '/v1/service-promises';

export const serviceLevelRoutes = [
  route(
    {
      method: 'POST',
      path: promises,
      operationId: 'createServicePromise',
      summary: 'State what a shared model promises from a month on',
      description:
        "A month that misses the promise is credited to each organization when it is closed. Without a measure, nothing is promised from that month on. `If-Match` takes the ETag of the list of the model's promises.",
      access: 'prices:write',
      isVersioned: true,
      needsFreshLogin: true,
      body: {
        name: 'NewServicePromise',
        schema: NewServicePromise,
        example: {
          model: 'qwen3-8b',
          from_month: '2027-01',
          availability: {
            min_requests: 1_000,
            tiers: [
              { below: '0.999', credit_percent: 10 },
              { below: '0.99', credit_percent: 25 },
            ],
          },
          first_token_p95_ms: { min_requests: 1_000, tiers: [{ above: 2_000, credit_percent: 5 }] },
          max_credit_percent: 30,
        },
      },
      reply: { status: 201, description: 'The promise.', json: { name: 'ServicePromise', schema: ServicePromiseResource } },
      errors: [400, 404, 409, 503],
    },
    ({ deps, actor, body, expected }) => statePromise(deps, actor, body, expected),
  ),
  route(
    {
      method: 'GET',
      path: promises,
      operationId: 'listServicePromises',
      summary: 'List the promises of a shared model',
      access: 'prices:list',
      query: PromisedModel,
      reply: {
        status: 200,
        description: 'All promises, the latest month first.',
        json: { name: 'ServicePromiseList', schema: ServicePromiseList },
      },
      errors: [400, 404, 503],
    },
    ({ deps, query }) => listPromises(deps, query),
  ),
  route(
    {
      method: 'GET',
      path: '/v1/service-levels',
      operationId: 'listServiceLevels',
      summary: 'Compare what models promised and kept in a month',
      description: 'Of the shared models with a promise. This month has counts so far; percentiles and credits come when it is closed.',
      access: 'billing:read',
      query: LevelsQuery,
      reply: { status: 200, description: 'The service levels.', json: { name: 'ServiceLevels', schema: ServiceLevels } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listLevels(deps, actor, query),
  ),
];
