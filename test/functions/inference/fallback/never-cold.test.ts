import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { startColdDeployments, WARM_ENDPOINT } from '../../../support/fixtures/cold-deployment.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { publish } from './fallback-fixtures.ts';

const CALLERS = 200;
const ENVIRONMENTS = 8;

let cold: Awaited<ReturnType<typeof startColdDeployments>>;
beforeAll(async () => {
  cold = await startColdDeployments();
  await publish(cold.test, WARM_ENDPOINT, 3);
});
afterAll(() => cold.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const modelOf = ({ body }: { body: unknown }): string => (JSON.parse(body as string) as { model: string }).model;
const models = [WARM_ENDPOINT];

describe('a model that sleeps, with a warm fallback', () => {
  test(`is woken once by ${CALLERS} callers of an alias, who are answered at once, and later answers itself`, async () => {
    const name = newId('key');
    const aliases = [{ alias: 'assistant', model: name, fallbacks: [WARM_ENDPOINT] }];
    const world = await cold.createWorld({ scope: 'serverless', publishedAs: name, aliases });
    const environments = await Promise.all(
      Array.from({ length: ENVIRONMENTS }, () => world.createEnvironment({}, { concurrency: CALLERS })),
    );
    const askAll = () =>
      Promise.all(
        Array.from({ length: CALLERS }, (_, i) => environments[i % ENVIRONMENTS]?.ask(`Question ${i}`, undefined, { model: 'assistant' })),
      );
    const before = await askAll();
    expect(before.map((reply) => [reply?.statusCode, reply?.headers['x-sluice-fallback']])).toEqual(Array(CALLERS).fill([200, '1']));
    expect(world.reconciled).toEqual([world.deployment.id]);
    expect(world.container.invocations).toBe(0);
    await world.bringUp();
    const after = await askAll();
    expect(after.map((reply) => [reply && modelOf(reply), reply?.headers['x-sluice-fallback']])).toEqual(
      Array(CALLERS).fill([world.name, undefined]),
    );
    const events = (await Promise.all(environments.map((environment) => environment.events()))).flat();
    const costOf = (name: string): bigint =>
      events.filter(({ model }) => model === name).reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
    // Seven prompt tokens and two completion tokens each.
    expect([costOf(WARM_ENDPOINT), costOf(world.name)]).toEqual([BigInt(CALLERS * 27), BigInt(CALLERS * 11)]);
    expect(events.filter(({ model }) => model === WARM_ENDPOINT).map(({ attempts }) => attempts?.[0]?.code)).toEqual(
      Array(CALLERS).fill('deployment_waking'),
    );
  });

  test('is named in the tries of another organization by its published name only', async () => {
    const world = await cold.createWorld({ scope: 'serverless', publishedAs: newId('key'), fields: { name: 'own-name' } });
    const { ask, events } = await world.createEnvironment({}, { org: newId('organization') });
    const reply = await ask('Hi', undefined, { models });
    const [event] = await events();
    expect(event?.attempts).toEqual([{ model: world.name, code: 'deployment_waking', ms: expect.any(Number) }]);
    const { cost_nanos: _, ...seen } = event as UsageEvent;
    for (const hidden of ['own-name', world.organization, world.deployment.id])
      expect(JSON.stringify([seen, reply.headers, reply.body])).not.toContain(hidden);
  });

  test('is waited for if its caller wants that', async () => {
    const world = await cold.createWorld({ scope: 'serverless' });
    const { ask } = await world.createEnvironment();
    const asked = ask('Hi', 120, { models });
    await world.clock.advance(5_000, 1_000);
    await world.bringUp();
    await world.clock.advance(5_000, 1_000);
    const reply = await asked;
    expect([modelOf(reply), reply.headers['x-sluice-fallback']]).toEqual([world.name, undefined]);
  });

  test('is left for its fallback if its copies turn out to be gone', async () => {
    const world = await cold.createWorld({ scope: 'serverless', isReady: true });
    const { ask } = await world.createEnvironment();
    world.container.copies = 0;
    expect(modelOf(await ask('Hi', undefined, { models }))).toBe(WARM_ENDPOINT);
    expect(world.reconciled).toEqual([world.deployment.id]);
  });
});

describe('a deployment that sleeps, behind an alias with a warm shared model', () => {
  const createWorld = async () => {
    const aliases = [{ alias: 'assistant', model: 'qwen3-8b', fallbacks: [WARM_ENDPOINT] }];
    const world = await cold.createWorld({ aliases });
    const { ask, events } = await world.createEnvironment();
    const { Deployments, Models } = cold.test.tables;
    const readsOf = async (): Promise<string[]> => {
      world.calls.length = 0;
      expect((await ask('Hi', undefined, { model: 'assistant' })).statusCode).toBe(200);
      return world.calls.filter(({ table }) => table === Deployments || table === Models).map(({ method }) => method);
    };
    return { world, events, ask, readsOf };
  };

  test('is read once for each caller while it wakes, and neither it nor the reconciler is called again', async () => {
    const { world, events, readsOf } = await createWorld();
    await readsOf();
    for (const _ of [1, 2, 3]) expect(await readsOf()).toEqual(['get']);
    expect([world.container.invocations, world.reconciled.length]).toEqual([0, 1]);
    for (const { tries } of await events()) expect(tries).toBeUndefined();
  });

  test('answers as soon as it is in service, though the inventory is cached', async () => {
    const { world, ask, readsOf } = await createWorld();
    await readsOf();
    await world.bringUp();
    const { headers, body } = await ask('Hi', undefined, { model: 'assistant' });
    expect([headers['x-sluice-fallback'], body]).toEqual([undefined, expect.stringContaining('Answer to Hi')]);
  });
});
