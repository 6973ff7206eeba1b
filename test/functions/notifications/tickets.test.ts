import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../functions/control/access/actor.ts';
import { createOrganization } from '../../../functions/control/organizations/create-organization.ts';
import { createPutEvent } from '../../../functions/notifications/put-event.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { StoredUser } from '../../../shared/identity/user-store.ts';
import type { Notification } from '../../../shared/notifications/notification.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { storeUser } from '../../support/fixtures/stored-users.ts';
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

// She opened the ticket.
let ann: Actor;
beforeEach(async () => {
  ann = await storeUser(world.stores, { role: 'member', organization: world.organization });
});

const MESSAGE = {
  type: 'sluice.ticket.message_added.v1' as const,
  subject: 'tkt_1',
  data: {
    ticket: 'tkt_1',
    subject: 'It fails\r\nBcc: all@example.com',
    severity: 'high',
    category: 'api',
    status: 'waiting_on_customer',
    by: 'support',
    message: 'msg_1',
    body: 'Which <b>model</b>?\nAnd since when?',
  },
};

const answer = (fields: Partial<Notification> = {}) => world.emit({ ...MESSAGE, recipient: ann.email, user: ann.userId, ...fields });

const storedUser = async ({ userId }: Actor): Promise<StoredUser> => {
  const user = await world.stores.users.get(userId);
  if (!user) throw new Error(`${userId} does not exist.`);
  return user;
};

const change = async (whom: Actor, fields: Partial<StoredUser>): Promise<void> => {
  const user = await storedUser(whom);
  await transact(database.database, [world.stores.users.toReplace({ ...user, ...fields }, user)]);
};

const remove = async (whom: Actor): Promise<void> =>
  transact(database.database, world.stores.users.toDeleteWithEmail(await storedUser(whom)));

const addressees = (): string[] => world.mails.map(({ to }) => to).toSorted();

describe('a reply to a ticket whose opener', () => {
  // Their address now belongs to a user of another organization.
  const move = async (): Promise<void> => {
    const { id: organization } = await createOrganization(world.stores, world.admin.origin, { name: 'Other' });
    await remove(ann);
    const { users } = world.stores;
    const { userId: id } = await storeUser(world.stores, { role: 'owner', organization });
    const user = { ...(await storedUser({ ...ann, userId: id })), id: `user_${'0'.repeat(18)}`, email: ann.email };
    await users.claimEmail(ann.email, 'claim', world.now());
    await transact(database.database, users.toCreate(user, 'claim'));
  };

  test.each([
    ['was deleted', () => remove(ann)],
    ['was disabled', () => change(ann, { status: 'disabled' })],
    ['belongs to another organization now', move],
    ['is a service account', () => change(ann, { kind: 'service_account' })],
  ])('%s goes to the owners of the organization, of whom only active ones are told', async (_, leave) => {
    const owner = await storeUser(world.stores, { role: 'owner', organization: world.organization });
    const disabled = await storeUser(world.stores, { role: 'owner', organization: world.organization });
    await change(disabled, { status: 'disabled' });
    await leave();
    await answer();
    // As earlier releases wrote it.
    await answer({ user: undefined });
    await world.run(DAY_MS);
    expect(addressees()).toEqual([owner.email, owner.email]);
  });

  test('left an organization without owners goes to nobody', async () => {
    await remove(ann);
    await answer();
    await world.run(DAY_MS);
    expect([addressees(), world.queue]).toEqual([[], []]);
  });

  test('leaves before a late attempt is not sent to them', async () => {
    const send = jest.fn(async () => Promise.reject(new Error('SES does not answer.')));
    world.setEmails([], send);
    await answer();
    await world.run(1_000);
    expect(send).toHaveBeenCalledTimes(1);
    await change(ann, { status: 'disabled' });
    await world.run(3 * DAY_MS);
    expect(send).toHaveBeenCalledTimes(1);
    expect(world.queue).toEqual([]);
  });

  test('was demoted is sent to them, because members see the tickets that they opened', async () => {
    await change(ann, { role: 'owner' });
    await change(ann, { role: 'member', version: 2 });
    await answer();
    await world.run(DAY_MS);
    expect(addressees()).toEqual([ann.email]);
  });
});

test('mails support’s messages as plain text to the customer who opened the ticket', async () => {
  world.setEmails(['finance@example.com']);
  const { id } = await answer();
  await world.run(DAY_MS, 2);
  expect(world.mails).toMatchObject([
    { to: ann.email, subject: '[tkt_1] It fails Bcc: all@example.com', reply_to: 'support+tkt_1@example.com' },
  ]);
  expect(world.mails[0]?.text.split('\n')).toEqual(
    expect.arrayContaining(['Support wrote:', 'Which <b>model</b>?', 'And since when?', 'Ticket: tkt_1', `Event: ${id}`]),
  );
});

test('mails a customer’s messages to support, and automatic changes to nobody', async () => {
  await world.emit({ ...MESSAGE, data: { ...MESSAGE.data, by: 'customer' } });
  const { body: _, message: __, ...closed } = MESSAGE.data;
  await world.emit({ ...MESSAGE, type: 'sluice.ticket.status_changed.v1', data: { ...closed, status: 'closed', by: null } });
  await world.run(DAY_MS);
  expect(world.mails.map(({ to }) => to)).toEqual(['desk@example.com']);
});

test('mails nobody without an address for support, or if email is not configured', async () => {
  await world.emit({ ...MESSAGE, data: { ...MESSAGE.data, by: 'customer' } });
  const noDesk = { ...world.deps, supportDesk: { email: undefined, replyTo: undefined } };
  await world.announceRows(await world.newEntries(), noDesk);
  await answer();
  await world.announceRows(await world.newEntries(), { ...world.deps, recipients: undefined });
  await world.run(DAY_MS);
  expect([world.mails, world.queue]).toEqual([[], []]);
});

test('sends webhooks what both sides can read, without the address of the customer', async () => {
  await world.createWebhook({ types: ['sluice.ticket.message_added.v1'] });
  const { organization } = await answer();
  await world.run(DAY_MS);
  const told = MESSAGE;
  expect(world.received).toHaveLength(1);
  expect(JSON.parse(world.received[0]?.body ?? '')).toMatchObject({ type: told.type, sluiceorganization: organization, data: told.data });
  for (const hidden of [ann.email, ann.userId]) expect(world.received[0]?.body).not.toContain(hidden);
});

test('puts events of tickets, and no others, on the bus, from the queue, and retries a failed entry', async () => {
  const put: { Entries: { Source: string; DetailType: string; Detail: string }[] }[] = [];
  let fails = true;
  const bus = createServer(async (request, response) => {
    put.push(JSON.parse(await text(request)));
    const Entries = [fails ? { ErrorCode: 'InternalFailure', ErrorMessage: 'try again' } : { EventId: '1' }];
    fails = false;
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify({ FailedEntryCount: 0, Entries }));
  });
  await new Promise<void>((resolve) => bus.listen(0, '127.0.0.1', resolve));
  const environment = { ...process.env };
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
    AWS_ENDPOINT_URL_EVENTBRIDGE: `http://127.0.0.1:${(bus.address() as AddressInfo).port}`,
  });
  try {
    const deps = { ...world.deps, putEvent: createPutEvent() };
    const { id, organization } = await world.emit(MESSAGE);
    await world.emit({ type: 'sluice.deployment.state_changed.v1' });
    const rows = await world.newEntries();
    await world.announceRows(rows, deps);
    expect(put).toEqual([]);
    const messages = world.queue.map(({ body }) => body).filter((body) => body.includes('bus_event'));
    const attempts = [await world.handleMessages(messages, deps), await world.handleMessages(messages, deps)];
    expect(attempts.map(({ batchItemFailures }) => batchItemFailures.length)).toEqual([1, 0]);
    expect(put).toHaveLength(2);
    const [entry] = put[1]?.Entries ?? [];
    expect(entry).toMatchObject({ Source: 'sluice.tickets', DetailType: 'sluice.ticket.message_added.v1' });
    expect(JSON.parse(entry?.Detail ?? '')).toEqual({ id, organization, ...MESSAGE.data });
  } finally {
    process.env = environment;
    bus.close();
    bus.closeAllConnections();
  }
});
