import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startColdDeployments, WARM_ENDPOINT } from '../../../support/fixtures/cold-deployment.ts';
import { publish } from './fallback-fixtures.ts';

const CALLERS = 40;

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
  test(`is woken once by ${CALLERS} callers, who get answers at once, and later answers itself`, async () => {
    const world = await cold.createWorld({ scope: 'serverless' });
    const environments = await Promise.all(Array.from({ length: 4 }, () => world.createEnvironment()));
    const askAll = () =>
      Promise.all(Array.from({ length: CALLERS }, (_, i) => environments[i % 4]?.ask(`Question ${i}`, undefined, { models })));
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
