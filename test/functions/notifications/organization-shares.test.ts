import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { createOrganization } from '../../../functions/control/organizations/create-organization.ts';
import { LEASE_MS, MAX_AT_ONCE } from '../../../functions/notifications/organization-shares.ts';
import { Deliveries } from '../../../infra/constructs/queues/deliveries.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { eventually } from '../../support/eventually.ts';
import { createNotificationsWorld, type NotificationsWorld } from './notifications-world.ts';

let database: TestDatabase;
let world: NotificationsWorld;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
  world = await createNotificationsWorld(database);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await world.close();
});

// Each delivery is for another webhook.
const messagesOf = async (organization: string, events: number): Promise<string[]> => {
  await world.createWebhook({ organization });
  const rows: Record<string, unknown>[] = [];
  for (let i = 0; i < events; i++) rows.push({ record: 'notification#1', ...(await world.emit({ organization })) });
  await world.announceRows(rows);
  return world.queue.splice(0).map(({ body }) => body);
};

// As the queue delivers them: in parallel, each in an invocation of its own.
const handle = (bodies: readonly string[]) => Promise.all(bodies.map((body) => world.handleMessages([body])));

test('lets silent receivers of one organization hold half of the deliveries, and delivers to others', async () => {
  const { id: neighbour } = await createOrganization(world.stores, world.admin.origin, { name: 'Neighbour' });
  let letGo: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const slow = await messagesOf(world.organization, 2 * Deliveries.CONCURRENCY);
  const own = await messagesOf(neighbour, 1);
  const sent: string[] = [];
  world.whileAnswering(async () => {
    sent.push('slow');
    if (sent.length <= MAX_AT_ONCE) await answered;
  });
  const held = handle(slow);
  const postponed = () => world.queue.length === slow.length - MAX_AT_ONCE;
  await eventually(async () => postponed() && sent.length >= MAX_AT_ONCE, 'its share is in use, and the others are postponed');
  expect(sent).toHaveLength(MAX_AT_ONCE);
  await handle(own);
  expect(JSON.parse(world.received.at(-1)?.body ?? '')).toMatchObject({ sluiceorganization: neighbour });
  letGo();
  await held;
  await world.run(60_000);
  expect(world.received).toHaveLength(slow.length + own.length);
  expect(world.queue).toEqual([]);
  expect(MAX_AT_ONCE).toBeLessThanOrEqual(Deliveries.CONCURRENCY / 2);
});

test('waits longer each time a message is postponed, up to 15 minutes', async () => {
  const [body = ''] = await messagesOf(world.organization, 1);
  const busy = { ...world.deps, shares: { use: async () => false } };
  const waits: number[] = [];
  for (let next = body, i = 0; i < 12; i++) {
    await world.handleMessages([next], busy);
    const [message] = world.queue.splice(0);
    waits.push(((message?.dueAtMs ?? 0) - world.now()) / 1_000);
    next = message?.body ?? '';
  }
  expect(waits).toEqual([2, 3, 6, 12, 24, 48, 96, 192, 384, 768, 900, 900]);
});

test('frees the place of a crashed function after its lease', async () => {
  const never = new Promise<void>(() => undefined);
  for (let i = 0; i < MAX_AT_ONCE; i++)
    await new Promise<void>((begin) => {
      void world.deps.shares.use(world.organization, () => {
        begin();
        return never;
      });
    });
  expect(await world.deps.shares.use(world.organization, async () => undefined)).toBe(false);
  world.advance(LEASE_MS + 1);
  expect(await world.deps.shares.use(world.organization, async () => undefined)).toBe(true);
});
