import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { createPutEvent } from '../../../functions/notifications/put-event.ts';
import { startTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createNotificationsWorld, type NotificationsWorld } from './notifications-world.ts';

const DAY_MS = 86_400_000;

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

const MESSAGE = {
  type: 'sluice.ticket.message_added.v1' as const,
  subject: 'tkt_1',
  recipient: 'ann@example.com',
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

test('what support writes is mailed to the customer who opened the ticket, as plain text, and an answer names the ticket', async () => {
  world.setEmails(['finance@example.com']);
  const { id } = await world.emit(MESSAGE);
  await world.run(DAY_MS, 2);
  expect(world.mails).toMatchObject([
    { to: 'ann@example.com', subject: '[tkt_1] It fails Bcc: all@example.com', reply_to: 'support+tkt_1@example.com' },
  ]);
  expect(world.mails[0]?.text.split('\n')).toEqual(
    expect.arrayContaining(['Support wrote:', 'Which <b>model</b>?', 'And since when?', 'Ticket: tkt_1', `Event: ${id}`]),
  );
});

test('what a customer writes is mailed to support, and what time does to nobody', async () => {
  await world.emit({ ...MESSAGE, data: { ...MESSAGE.data, by: 'customer' } });
  const { body: _, message: __, ...closed } = MESSAGE.data;
  await world.emit({ ...MESSAGE, type: 'sluice.ticket.status_changed.v1', data: { ...closed, status: 'closed', by: null } });
  await world.run(DAY_MS);
  expect(world.mails.map(({ to }) => to)).toEqual(['desk@example.com']);
});

test('nobody is mailed without an address for support, or if e-mail is not configured', async () => {
  await world.emit({ ...MESSAGE, data: { ...MESSAGE.data, by: 'customer' } });
  const noDesk = { ...world.deps, supportDesk: { email: undefined, replyTo: undefined } };
  await world.announceRows(await world.newEntries(), noDesk);
  await world.emit(MESSAGE);
  await world.announceRows(await world.newEntries(), { ...world.deps, emailsOf: undefined });
  await world.run(DAY_MS);
  expect([world.mails, world.queue]).toEqual([[], []]);
});

test('webhooks get what both sides can read, and not the address of the customer', async () => {
  await world.createWebhook({ types: ['sluice.ticket.message_added.v1'] });
  const { organization } = await world.emit(MESSAGE);
  await world.run(DAY_MS);
  const { recipient, ...told } = MESSAGE;
  expect(world.received).toHaveLength(1);
  expect(JSON.parse(world.received[0]?.body ?? '')).toMatchObject({ type: told.type, sluiceorganization: organization, data: told.data });
  expect(world.received[0]?.body).not.toContain(recipient);
});

test('events of tickets, and no others, are put on the bus, and a failed entry is tried again', async () => {
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
    await expect(world.announceRows(rows, deps)).rejects.toThrow('EventBridge did not take');
    await world.announceRows(rows, deps);
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
