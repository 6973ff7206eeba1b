import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { startColdDeployments } from '../../../support/fixtures/cold-deployment.ts';

let cold: Awaited<ReturnType<typeof startColdDeployments>>;
beforeAll(async () => {
  cold = await startColdDeployments();
});
afterAll(() => cold.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

// An organization's deployment behind an alias with a fallback: a shared model that is a deployment that sleeps.
const createWorlds = async (fields: Partial<Deployment> = {}) => {
  const shared = await cold.createWorld({ scope: 'serverless' });
  const aliases = [{ alias: 'assistant', model: 'qwen3-8b', fallbacks: [shared.name] }];
  const own = await cold.createWorld({ aliases, shared, fields, clock: shared.clock });
  return { own, shared, ...(await own.createEnvironment()) };
};

const errorOf = ({ body }: { body: unknown }) => (JSON.parse(body as string) as { error: { code: string; message: string } }).error;

describe('a request on the on-demand host whose fallback is a shared model that sleeps', () => {
  test('wakes both, and says when the shared model is ready', async () => {
    const { own, shared, ask } = await createWorlds();
    const reply = await ask('Hi', undefined, { model: 'assistant' });
    expect(own.reconciled).toEqual([own.deployment.id, shared.deployment.id]);
    expect(await shared.row()).toMatchObject({ state: 'waking', changes: 1 });
    expect(reply.statusCode).toBe(503);
    expect(errorOf(reply)).toMatchObject({
      code: 'deployment_waking',
      message: expect.stringContaining(`The model '${shared.name}' is starting`),
    });
  });

  test('waits for it if the deployment is stopped, and is answered by it', async () => {
    const { own, shared, ask, events } = await createWorlds({ wanted: 'stopped', state: 'stopped' });
    const asked = ask('Hi', 120, { model: 'assistant' });
    await shared.clock.advance(5_000, 1_000);
    await shared.bringUp();
    await shared.clock.advance(5_000, 1_000);
    const { headers, body } = await asked;
    expect([headers['x-sluice-fallback'], body]).toEqual(['1', expect.stringContaining('Answer to Hi')]);
    expect(own.reconciled).toEqual([shared.deployment.id]);
    expect(await events()).toMatchObject([
      { model: shared.name, is_shared: true, attempts: [{ model: own.name, code: 'deployment_not_ready' }] },
    ]);
  });

  test('does not say why a shared model of another organization is stopped', async () => {
    const { shared, ask } = await createWorlds({ wanted: 'stopped', state: 'stopped' });
    await shared.write((row) => ({ ...row, wanted: 'stopped', state: 'stopped' }));
    expect(errorOf(await ask('Hi', undefined, { model: 'assistant' }))).toMatchObject({
      code: 'deployment_not_ready',
      message: `The model '${shared.name}' is not in service. Ask your administrator.`,
    });
  });
});
