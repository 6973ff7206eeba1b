import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import { LEASE_MS } from '../../../functions/notifications/organization-shares.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { Crash, unreliable } from '../../support/faults/unreliable-database.ts';
import { sized } from '../../support/sized.ts';
import { createNotificationsWorld, type NotificationsWorld } from './notifications-world.ts';

let database: TestDatabase;
let world: NotificationsWorld;
let lines: string[];
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  world = await createNotificationsWorld(database);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await world.close();
});

// Between two events of a day.
const HOURS_APART = sized(12, 6);

const idsReceived = (): string[] => world.received.map(({ id }) => id);

describe('an event', () => {
  test('is a CloudEvent with a signature that the published library verifies', async () => {
    const { secret } = await world.createWebhook();
    const { id } = await world.emit({ data: { export: 'exp_1', note: 'ä "quoted"' } });
    await world.run(0);
    const [{ headers, body } = { headers: {}, body: '' }] = world.received;
    expect(new Verifier(secret).verify(body, headers)).toEqual({
      specversion: '1.0',
      id,
      source: '/installations/sluice',
      type: 'sluice.export.completed.v1',
      subject: 'exp_1',
      time: new Date(world.now()).toISOString(),
      datacontenttype: 'application/json',
      sluiceorganization: world.organization,
      data: { export: 'exp_1', note: 'ä "quoted"' },
    });
    expect(headers).toMatchObject({ 'webhook-id': id, 'content-type': 'application/cloudevents+json', 'user-agent': 'Sluice-Webhooks/1' });
    const other = new Verifier(`whsec_${Buffer.alloc(32, 8).toString('base64')}`);
    expect(() => other.verify(body, headers)).toThrow('No matching signature');
    expect(() => new Verifier(secret).verify(`${body} `, headers)).toThrow('No matching signature');
  });

  test('is signed with both secrets during a rotation, and with the new one after it', async () => {
    const [older, newer] = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [string, string];
    await world.createWebhook({ secret: newer, previous_secret: older, previous_secret_until: world.now() + 1_000 });
    await world.emit();
    await world.run(0);
    const [first] = world.received;
    for (const secret of [older, newer]) new Verifier(secret).verify(first?.body ?? '', first?.headers ?? {});
    world.advance(1_000);
    await world.emit();
    await world.run(0);
    const [, second] = world.received;
    new Verifier(newer).verify(second?.body ?? '', second?.headers ?? {});
    expect(() => new Verifier(older).verify(second?.body ?? '', second?.headers ?? {})).toThrow('No matching signature');
  });

  test('goes to its organization’s enabled webhooks that select its type', async () => {
    const [all, selected] = [await world.createWebhook(), await world.createWebhook({ types: ['sluice.export.completed.v1'] })];
    const others = [await world.createWebhook({ types: ['sluice.invoice.issued.v1'] }), await world.createWebhook({ enabled: false })];
    await world.emit();
    await world.run(0);
    const counts = await Promise.all([all, selected, ...others].map(async (webhook) => (await world.deliveriesOf(webhook)).length));
    expect(counts).toEqual([1, 1, 0, 0]);
  });

  test('goes to no other webhook if it tests one', async () => {
    const tested = await world.createWebhook({ types: ['sluice.invoice.issued.v1'] });
    const other = await world.createWebhook();
    await world.emit({ type: 'sluice.webhook.test.v1', subject: tested.id });
    await world.run(0);
    expect(await world.deliveriesOf(tested)).toMatchObject([{ state: 'delivered' }]);
    expect(await world.deliveriesOf(other)).toEqual([]);
  });
});

describe('a receiver that is down', () => {
  test('gets each event after 24 hours, and nothing twice but with the same id', async () => {
    const webhook = await world.createWebhook();
    const sent: string[] = [];
    world.answers(500);
    for (let hour = 0; hour < 24; hour += HOURS_APART) {
      sent.push((await world.emit()).id, (await world.emit()).id);
      // Each event has two messages, as a stream or a standard queue can cause.
      await world.run(HOURS_APART * HOUR_MS, 2);
    }
    const bodies = new Map(world.received.map(({ id, body }) => [id, body]));
    expect(new Set(idsReceived())).toEqual(new Set(sent));
    world.received.length = 0;
    world.answers(200);
    await world.run(2 * DAY_MS, 2);
    // Once each: an attempt that succeeds is the last one.
    expect(idsReceived().toSorted()).toEqual(sent.toSorted());
    for (const { id, body } of world.received) expect(body).toBe(bodies.get(id));
    const states = (await world.deliveriesOf(webhook)).map(({ state }) => state);
    expect(states).toEqual(Array(sent.length).fill('delivered'));
    expect(world.queue).toEqual([]);
  });

  test('is retried after growing waits for more than 40 hours; then the delivery is dead', async () => {
    const webhook = await world.createWebhook();
    const startMs = world.now();
    world.answers(503);
    await world.emit();
    await world.run(2 * DAY_MS);
    const minutes = world.received.map(({ atMs }) => Math.round((atMs - startMs) / MINUTE_MS));
    expect(minutes).toEqual([0, 0, 1, 6, 38, 164, 542, 1298, 2810]);
    const [delivery] = await world.deliveriesOf(webhook);
    expect(delivery).toMatchObject({ state: 'dead', delivered_at: null });
    expect(delivery?.attempts.map(({ status, error }) => [status, error])).toEqual(Array(9).fill([503, null]));
    expect(world.queue).toEqual([]);
    expect(JSON.stringify(delivery)).not.toContain('never stored');
  });

  test('never gets two attempts of a delivery at the same time, however often its message arrives', async () => {
    await world.createWebhook();
    await world.emit();
    await world.announceRows(await world.newEntries());
    const [{ body } = { body: '' }] = world.queue.splice(0);
    let inParallel = 0;
    let most = 0;
    world.whileAnswering(async () => {
      most = Math.max(most, ++inParallel);
      await new Promise(setImmediate);
      inParallel--;
    });
    await Promise.all([world.handleMessages(Array<string>(10).fill(body)), world.handleMessages(Array<string>(10).fill(body))]);
    expect([most, world.received.length]).toEqual([1, 1]);
    // The others return when the lease ends, and are dropped.
    await world.run(2 * LEASE_MS);
    expect([world.received.length, world.queue.length]).toEqual([1, 0]);
  });

  test('does not delay deliveries to others', async () => {
    const slow = await world.createWebhook({ url: 'https://localhost:1/' });
    const quick = await world.createWebhook();
    for (let i = 0; i < 5; i++) await world.emit();
    await world.run(0);
    expect((await world.deliveriesOf(quick)).map(({ state }) => state)).toEqual(Array(5).fill('delivered'));
    expect((await world.deliveriesOf(slow)).map(({ state }) => state)).toEqual(Array(5).fill('pending'));
  });
});

test('disables the webhook of a receiver that is gone (410), and records that in the audit log', async () => {
  const webhook = await world.createWebhook({ url: `${world.url}/hook?token=secret` });
  await world.emit();
  await world.emit();
  world.answers(410);
  await world.run(DAY_MS);
  expect(world.received).toHaveLength(1);
  expect(await world.deps.webhooks.find(world.organization, webhook.id)).toMatchObject({ enabled: false, disabled_reason: 'gone' });
  expect(
    (await world.deliveriesOf(webhook)).map(({ state, attempts }) => [state, attempts.at(-1)?.status, attempts.at(-1)?.error]),
  ).toEqual(
    expect.arrayContaining([
      ['dead', 410, null],
      ['dead', null, 'webhook_disabled'],
    ]),
  );
  const { data: entries } = await world.audit.list(world.organization, { limit: 10 });
  const data = entries.filter(({ target }) => target.type === 'webhook');
  expect(data).toMatchObject([{ action: 'webhook.disabled', actor: { type: 'system', id: 'notifications' }, target: { id: webhook.id } }]);
  expect(JSON.stringify([data, lines])).not.toMatch(/whsec_|token=secret/);
});

test('ends deliveries of an organization that was suspended after the event, and can replay them', async () => {
  const webhook = await world.createWebhook();
  await world.emit();
  await world.announceRows(await world.newEntries());
  const { organizations } = world.stores;
  const before = await organizations.get(world.organization);
  await transact(database.database, [organizations.toReplace({ ...before, status: 'suspended' })]);
  await world.run(DAY_MS);
  expect(world.received).toEqual([]);
  expect(await world.deliveriesOf(webhook)).toMatchObject([{ state: 'dead', attempts: [{ error: 'organization_suspended' }] }]);
});

test('ends a delivery to a deleted webhook', async () => {
  const webhook = await world.createWebhook();
  world.answers(500);
  await world.emit();
  await world.run(MINUTE_MS);
  await transact(database.database, world.deps.webhooks.toDelete(webhook));
  world.received.length = 0;
  await world.run(3 * DAY_MS);
  expect([world.received.length, world.queue.length]).toEqual([0, 0]);
});

describe('a replay', () => {
  const replay = async (webhook: { id: string }, id: string): Promise<void> => {
    const before = await world.deps.deliveries.find(webhook.id, id);
    if (!before) throw new Error('There is no such delivery.');
    const after = { ...before, state: 'pending' as const, begun: 0, next_attempt_at: world.now(), delivered_at: null };
    const entry = { event: before.event, webhook: webhook.id, delivery: id, at: world.now() };
    await transact(database.database, [world.deps.deliveries.toReplace(after), world.outbox.toReplay(world.organization, entry)]);
  };

  test('sends the same id and body of a dead delivery, and can fail as often again', async () => {
    const webhook = await world.createWebhook();
    world.answers(500);
    const { id } = await world.emit();
    await world.run(3 * DAY_MS);
    const attempts = world.received.length;
    const [delivery] = await world.deliveriesOf(webhook);
    await replay(webhook, delivery?.id ?? '');
    await world.run(DAY_MS);
    expect(world.received.length).toBeGreaterThan(attempts + 5);
    world.answers(200);
    await world.run(3 * DAY_MS);
    expect(new Set(idsReceived())).toEqual(new Set([id]));
    expect(new Set(world.received.map(({ body }) => body)).size).toBe(1);
    const [after] = await world.deliveriesOf(webhook);
    expect(after).toMatchObject({ state: 'delivered', delivered_at: expect.any(Number) });
    expect(after?.attempts.length).toBeLessThanOrEqual(20);
  });

  test('is sent without a wait after an attempt that fails meanwhile', async () => {
    const webhook = await world.createWebhook();
    await world.emit();
    world.answers(500);
    world.whileAnswering(async () => {
      world.whileAnswering(async () => undefined);
      const [delivery] = await world.deliveriesOf(webhook);
      await replay(webhook, delivery?.id ?? '');
    });
    await world.run(0);
    world.answers(200);
    await world.run(LEASE_MS);
    expect(world.received).toHaveLength(2);
    expect(await world.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered', attempts: [{ status: 500 }, { status: 200 }] }]);
  });
});

describe('a function that crashes', () => {
  // More calls of the database than either of the two makes.
  const CALLS = 12;
  const points = Array.from({ length: CALLS }, (_, call) => (['before', 'after'] as const).map((when) => ({ call, when }))).flat();

  test.each(points)('$when call $call of the database loses nothing, and repeats nothing without the same id', async ({ call, when }) => {
    const webhook = await world.createWebhook();
    const { id } = await world.emit();
    let calls = 0;
    let isCrashed = false;
    const over = unreliable(database.database, {
      random: () => 1,
      lostRequests: 0,
      lostReplies: 0,
      crash: (_, at) => {
        if (at === 'before') calls++;
        isCrashed ||= calls - 1 === call && at === when;
        return isCrashed;
      },
    });
    const crashing = world.depsOver(over);
    const deps = {
      ...crashing,
      queue: { send: async (message: never) => (isCrashed ? Promise.reject(new Crash()) : crashing.queue.send(message)) },
    };
    const rows = await world.newEntries();
    // The stream and the queue deliver failures again.
    await world.announceRows(rows, deps as never).catch(() => world.announceRows(rows));
    const messages = world.queue.splice(0);
    for (const { body } of messages) {
      const { batchItemFailures } = await world.handleMessages([body], deps as never);
      if (batchItemFailures.length > 0) world.queue.push({ body, dueAtMs: world.now() });
    }
    await world.run(DAY_MS);
    expect(new Set(idsReceived())).toEqual(new Set([id]));
    expect(world.received.length).toBeLessThanOrEqual(2);
    expect(await world.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered' }]);
    expect(world.queue).toEqual([]);
  });

  test('sends the next message after a crash between the delivery and it', async () => {
    const webhook = await world.createWebhook();
    await world.emit();
    world.answers(500);
    await world.announceRows(await world.newEntries());
    const [{ body } = { body: '' }] = world.queue.splice(0);
    const deps = { ...world.deps, queue: { send: async () => Promise.reject(new Crash()) } };
    expect((await world.handleMessages([body], deps)).batchItemFailures).toHaveLength(1);
    world.queue.push({ body, dueAtMs: world.now() });
    world.answers(200);
    await world.run(MINUTE_MS);
    expect(await world.deliveriesOf(webhook)).toMatchObject([{ state: 'delivered', attempts: [{ status: 500 }, { status: 200 }] }]);
  });
});

test('makes no attempt without time left, and returns the batch to the queue', async () => {
  await world.createWebhook();
  await world.emit();
  await world.announceRows(await world.newEntries());
  const [{ body } = { body: '' }] = world.queue.splice(0);
  const { batchItemFailures } = await world.handleMessages([body, 'not a message'], world.deps, () => false);
  expect(batchItemFailures).toHaveLength(2);
  expect(world.received).toEqual([]);
});

test('announces only entries of the outbox', async () => {
  const webhook = await world.createWebhook();
  await world.announceRows([{ account: world.organization, record: `webhook#${webhook.id}`, ...webhook }]);
  expect(world.queue).toEqual([]);
});
