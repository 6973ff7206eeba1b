import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createDeployments } from '../../../../shared/models/deployments.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import type { ModelAlias } from '../../../../shared/models/model-alias.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { withAliases } from '../../../../shared/models/with-aliases.ts';
import { bodyOf, publish, startFallbackPipeline } from './fallback-fixtures.ts';

const ORGANIZATION = 'org_with_deployments';
const split = { id: 'spl_1', model: 'new', percent: 50, min_requests: 100, started_at: 0 };
const ALIASES: readonly ModelAlias[] = [
  { alias: 'divided', model: 'old', fallbacks: [], split },
  { alias: 'returned', model: 'old', fallbacks: [], split: { ...split, percent: 99, stopped_at: 1 } },
  { alias: 'never-cold', model: 'resting', fallbacks: ['old'] },
];
const aliasesOf = () => new Map(ALIASES.map((alias) => [alias.alias, alias]));

let pipeline: Awaited<ReturnType<typeof startFallbackPipeline>>;
beforeAll(async () => {
  pipeline = await startFallbackPipeline();
  const { database } = pipeline;
  await publish(database, 'old');
  await publish(database, 'new', 9);
  const old = await database.models.get(SERVERLESS_POOL, 'old');
  if (!old) throw new Error('There is no model.');
  await database.models.put(ORGANIZATION, { ...old, name: 'resting', status: 'unpublished' });
});
afterAll(() => pipeline.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const shared = () => createInventory(pipeline.database.models, SERVERLESS_POOL, Date.now);

describe('a request to an alias with a split', () => {
  const setUp = () => pipeline.setUp({}, { modelsOf: () => withAliases(shared(), aliasesOf, [SERVERLESS_POOL]) });

  test('is answered, charged and recorded on the side of its user, each time', async () => {
    const { call, events } = await setUp();
    const users = Array.from({ length: 24 }, (_, number) => `user-${number}`);
    for (const user of [...users, ...users]) await call({ model: 'divided', user });
    const models = new Map<string, Set<unknown>>(users.map((user) => [user, new Set()]));
    for (const { user = '', model, ...event } of await events()) {
      models.get(user)?.add(model);
      const side = model === 'new' ? 'new' : 'base';
      expect(event).toMatchObject({ alias: 'divided', side, split_id: 'spl_1', price_version: `price of ${model}` });
    }
    expect([...models.values()].every(({ size }) => size === 1)).toBe(true);
    expect(new Set([...models.values()].flatMap((answered) => [...answered]))).toEqual(new Set(['old', 'new']));
  });

  test('is answered by its own model after the split has stopped', async () => {
    const { call, events } = await setUp();
    for (const user of ['a', 'b', 'c']) await call({ model: 'returned', user });
    for (const event of await events()) {
      expect(event.model).toBe('old');
      expect([event.side, event.split_id]).toEqual([undefined, undefined]);
    }
  });
});

test('an alias whose deployment is not in service is answered, and charged, by a shared model', async () => {
  const modelsOf = () =>
    withAliases(createDeployments(pipeline.database.models, Date.now)(ORGANIZATION), aliasesOf, [ORGANIZATION], shared());
  const { call, events } = await pipeline.setUp({}, { modelsOf });
  const reply = await call({ model: 'never-cold' });
  expect(reply.headers['x-sluice-fallback']).toBe('1');
  expect(await bodyOf(reply)).toContain('"model":"old"');
  expect(await events()).toMatchObject([
    {
      model: 'old',
      alias: 'never-cold',
      fallback: 1,
      is_shared: true,
      attempts: [{ model: 'resting', code: 'deployment_not_ready' }],
      price_version: 'price of old',
    },
  ]);
});
