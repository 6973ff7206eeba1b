import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { reasonFor } from '../../../functions/deployments/reasons.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { OUTBOX_PREFIX, readOutboxEntry } from '../../../shared/notifications/outbox.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { createWorld, type World } from './world.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

// Oldest first.
const notificationsOf = async ({ organization }: World) => {
  const table = createRecordTable(database.database, database.tables.Notifications as string);
  const rows = await Array.fromAsync(table.all({ account: organization, prefix: OUTBOX_PREFIX }));
  return rows.map((row) => {
    const entry = readOutboxEntry(row);
    if (entry.kind !== 'notification') throw new Error('A deployment replays nothing.');
    return entry.notification;
  });
};

const statesOf = async (world: World) => (await notificationsOf(world)).map(({ data: { from, to } }) => [from, to]);

test('notifies an organization once of each new state of its deployment, in order', async () => {
  const world = await createWorld(database);
  await world.pass();
  await world.run(2 * MINUTE_MS);
  // Nothing changes any more.
  await world.pass();
  const [first, ...rest] = await notificationsOf(world);
  expect(first).toEqual({
    id: expect.stringMatching(/^evt_/),
    type: 'sluice.deployment.state_changed.v1',
    organization: world.organization,
    subject: world.id,
    at: expect.any(Number),
    data: { deployment: world.id, name: 'qwen3-8b', from: 'pending', to: 'creating', reason: null },
  });
  expect(rest.map(({ data: { from, to } }) => [from, to])).toEqual([['creating', 'in_service']]);
});

test('notifies of the reason without AWS’s message', async () => {
  const world = await createWorld(database, {}, { settings: { times: { load_ms: MINUTE_MS } } });
  await world.pass();
  const { meterPass } = world.dependencies;
  world.dependencies.meterPass = async (look) => ({ ...(await meterPass(look)), stop: 'out_of_credit' });
  await world.pass();
  const { message, action } = reasonFor('out_of_credit');
  // Two of the same millisecond are listed in any order.
  const stop = (await notificationsOf(world)).find(({ data }) => data.to === 'stopping');
  expect(stop?.data).toEqual({
    deployment: world.id,
    name: 'qwen3-8b',
    from: 'creating',
    to: 'stopping',
    reason: { code: 'out_of_credit', message, action },
  });
});

test('notifies of nothing if another change overtakes the pass', async () => {
  const world = await createWorld(database);
  let isOvertaken = false;
  world.dependencies.meterPass = async ({ deployment }) => {
    if (!isOvertaken) await world.change({ tags: { changed: 'meanwhile' } });
    isOvertaken = true;
    return { meter: deployment.meter, writes: [] };
  };
  expect(await world.pass()).toBe('overtaken');
  expect(await statesOf(world)).toEqual([]);
  expect(await world.pass()).toBe('done');
  expect(await statesOf(world)).toEqual([['pending', 'creating']]);
});

test('records a stop without credit in the organization’s audit log, as the system’s', async () => {
  const world = await createWorld(database);
  await world.pass();
  await world.run(2 * MINUTE_MS);
  const { meterPass, audit } = world.dependencies;
  world.dependencies.database = await database.as('deployments');
  world.dependencies.meterPass = async (look) => ({ ...(await meterPass(look)), stop: 'out_of_credit' });
  await world.pass();
  await world.pass();
  const { data } = await audit.list(world.organization, { limit: 10 });
  expect(data).toEqual([
    expect.objectContaining({
      action: 'deployment.stopped',
      actor: { type: 'system', id: 'deployments', email: null, organization: null },
      target: { type: 'deployment', id: world.id },
      reason: reasonFor('out_of_credit').message,
      changes: { wanted: { from: 'running', to: 'stopped' } },
    }),
  ]);
});

test('evaluates credit alerts after each pass that meters GPU time, and goes on if that fails', async () => {
  const world = await createWorld(database);
  await world.pass();
  expect(world.alerted).toEqual([]);
  const { meterPass, evaluateAlerts } = world.dependencies;
  const metered = { item: { Put: { TableName: database.tables.Usage as string, Item: { usage_bucket: world.id, usage_event: 'gpu' } } } };
  world.dependencies.meterPass = async (look) => ({ ...(await meterPass(look)), writes: [metered] });
  await world.pass();
  expect(world.alerted).toEqual([world.organization]);
  world.dependencies.evaluateAlerts = async () => {
    throw new Error('The queue is away.');
  };
  expect(await world.pass()).toBe('done');
  world.dependencies.evaluateAlerts = evaluateAlerts;
});
