import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { transact } from '../../../shared/database/transaction.ts';
import { inState } from '../../../shared/deployments/deployment.ts';
import { listLiveDeployments } from '../../../shared/deployments/deployment-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { deploymentsOf, newDeployment, storeDeployment } from '../../support/fixtures/deployments.ts';
import { newId } from '../../support/fixtures/new-id.ts';

let emulator: TestDatabase;
beforeAll(async () => {
  emulator = await startTestDatabase();
});
afterAll(() => emulator.close());

const REASON = { code: 'idle', message: 'It was idle.', action: 'Send a request.' };
const newOrganization = (): string => newId('organization');
const live = (): Promise<string[]> => Array.fromAsync(listLiveDeployments(emulator.database, emulator.tables.Deployments as string));

describe('a stored deployment', () => {
  test('is found by its id and by its name', async () => {
    const stored = await storeDeployment(emulator, { organization: newOrganization(), name: 'llama' });
    const store = deploymentsOf(emulator);
    expect(await store.get(stored.organization, stored.id)).toEqual(stored);
    expect(await store.idOf(stored.organization, 'llama')).toBe(stored.id);
    expect((await store.list(stored.organization, { limit: 10 })).deployments).toEqual([stored]);
  });

  test('keeps structured outputs where release 0.1.0 can read the row', async () => {
    const { serving } = newDeployment({ organization: newOrganization() });
    const able = { ...serving, capabilities: { ...serving.capabilities, structured_outputs: true } };
    const stored = await storeDeployment(emulator, { organization: newOrganization(), serving: able });
    expect(await deploymentsOf(emulator).get(stored.organization, stored.id)).toEqual(stored);
    expect(stored.serving.capabilities.structured_outputs).toBe(true);
    const TableName = emulator.tables.Deployments as string;
    const { Item } = await emulator.database.get({ TableName, Key: { account: stored.id, record: 'deployment' } });
    expect(Object.keys((Item as unknown as { serving: typeof serving }).serving.capabilities).toSorted()).toEqual([
      'json_object',
      'logprobs',
      'thinking_budget',
      'tools',
    ]);
  });

  test('does not exist for another organization', async () => {
    const stored = await storeDeployment(emulator, { organization: newOrganization() });
    const other = newOrganization();
    await expect(deploymentsOf(emulator).get(other, stored.id)).rejects.toMatchObject({ status: 404 });
    expect(await deploymentsOf(emulator).idOf(other, stored.name)).toBeUndefined();
  });

  test('keeps others from taking its name, but only in its organization', async () => {
    const { organization, name } = await storeDeployment(emulator, { organization: newOrganization() });
    const create = (fields: Parameters<typeof newDeployment>[0]) =>
      transact(emulator.database, deploymentsOf(emulator).toCreate(newDeployment(fields)));
    await expect(create({ organization, name })).rejects.toMatchObject({ status: 409, code: 'deployment_exists' });
    await create({ organization: newOrganization(), name });
  });

  test('is replaced only if no other write came first', async () => {
    const stored = await storeDeployment(emulator, { organization: newOrganization() });
    const replace = (percent: number) =>
      transact(emulator.database, [deploymentsOf(emulator).toReplace({ ...stored, traffic_percent: percent })]);
    await replace(10);
    await expect(replace(20)).rejects.toMatchObject({ status: 412 });
    expect(await deploymentsOf(emulator).get(stored.organization, stored.id)).toMatchObject({ traffic_percent: 10, version: 2 });
  });

  test('is live until it is deleted, and then frees its name', async () => {
    const stored = await storeDeployment(emulator, { organization: newOrganization() });
    expect(await live()).toContain(stored.id);
    const store = deploymentsOf(emulator);
    await transact(emulator.database, [store.toReplace(inState(stored, 'deleted', Date.now())), ...store.toClear(stored)]);
    expect(await live()).not.toContain(stored.id);
    expect(await store.find(stored.id)).toMatchObject({ state: 'deleted' });
    await storeDeployment(emulator, { organization: stored.organization });
  });
});

describe('the history of a deployment', () => {
  test('has each state once, with its time and reason, and only the newest fifty', () => {
    const reason = { code: 'quota_exceeded', message: 'm', action: 'a' };
    let deployment = newDeployment({ organization: 'org_1', created_at: 0 });
    deployment = inState(inState(deployment, 'creating', 10), 'creating', 20);
    expect(inState(deployment, 'failed', 30, reason)).toMatchObject({
      state: 'failed',
      state_since: 30,
      reason,
      transitions: [
        { state: 'pending', at: 0 },
        { state: 'creating', at: 10 },
        { state: 'failed', at: 30, reason },
      ],
    });
    for (let i = 0; i < 100; i++) deployment = inState(deployment, i % 2 ? 'waking' : 'scaled_to_zero', 100 + i);
    expect(deployment.transitions).toHaveLength(50);
    expect(deployment.transitions.at(-1)).toEqual({ state: 'waking', at: 199 });
  });

  test('is woken by one of many callers that read it at the same time', async () => {
    const stored = await storeDeployment(emulator, { organization: newOrganization(), state: 'scaled_to_zero', reason: REASON });
    const store = deploymentsOf(emulator);
    const woken = (await Promise.all(Array.from({ length: 20 }, (_, i) => store.wake(stored, 1_000 + i)))).filter(Boolean);
    expect(woken).toHaveLength(1);
    expect(await store.find(stored.id)).toEqual(woken[0]);
    expect(woken[0]).toMatchObject({ state: 'waking', version: 2, changes: 1, transitions: [{ state: 'pending' }, { state: 'waking' }] });
    expect(woken[0]).not.toHaveProperty('reason');
    expect(woken[0]?.wake?.started_at).toBe(woken[0]?.state_since);
  });
});
