import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type Control, controlOf } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { background } from './run.ts';

// A user can list deliveries 60 times a minute.
const POLL_MS = 1_000;
// One per cent of the budget.
const FIRST_THRESHOLD_NANOS = 20_000n;

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

interface Event {
  id: string;
  data: { threshold: number };
}

let run: TestRun;
let control: Control;
let receiver: Server;
let received: Received[];
// Further responses have status 204.
let nextStatuses: number[];

beforeAll(async () => {
  received = [];
  nextStatuses = [];
  receiver = createServer(async (request, response) => {
    const body = (await Array.fromAsync(request)).join('');
    received.push({ headers: request.headers, body });
    response.writeHead(nextStatuses.shift() ?? 204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  run = await background.start();
  control = controlOf(run);
});
afterAll(async () => {
  receiver.close();
});

const chat = async (secret: string): Promise<number> => {
  const { status } = await fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: run.model, max_tokens: 60, messages: [{ role: 'user', content: 'Rivers, please.' }] }),
  });
  return status;
};

test('a webhook is notified of each threshold of a budget once, and again with the same id after a failure', async () => {
  const { id: organization } = await control.createOrganization();
  const { token } = await control.createUser({ role: 'owner', organization });
  await control.done('PATCH', '/v1/billing/profile', { token, body: { budget_thresholds: [1, 30] } });
  const { port } = receiver.address() as AddressInfo;
  const { id, secret } = await control.done('POST', '/v1/webhooks', { token, body: { url: `http://127.0.0.1:${port}/events` } });
  // A request holds about six per cent of it, and costs at most two.
  const budgets = { day: '0.002' };
  const key = await control.done('POST', '/v1/api-keys', { token, body: { name: 'batch', budgets } });

  nextStatuses = [503];
  const arrived = (): number => new Set(received.map((each) => each.headers['webhook-id'])).size;
  // An evaluation that comes after both thresholds were passed reports only the second one.
  await eventually(async () => {
    await chat(key.secret);
    const spentNanos = (await run.eventsOf(key.id)).reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
    return spentNanos >= FIRST_THRESHOLD_NANOS;
  }, 'one per cent of the budget is spent');
  await eventually(async () => arrived() === 1, 'the first threshold arrives');
  // The second threshold is evaluated after the first one, so by then a repetition of the first would have been sent,
  // too.
  await eventually(async () => {
    await chat(key.secret);
    return arrived() > 1;
  }, 'both thresholds arrive');
  await eventually(async () => received.length > 2, 'the failed attempt is repeated');

  const events = received.map(({ headers, body }) => new Webhook(secret).verify(body, headers as Record<string, string>) as Event);
  for (const [index, event] of events.entries()) {
    expect(received[index]?.headers['webhook-id']).toBe(event.id);
    expect(event).toMatchObject({
      type: 'sluice.budget.threshold_reached.v1',
      subject: key.id,
      sluiceorganization: organization,
      data: { api_key: key.id, period: 'day', budget: budgets.day },
    });
  }
  const repeated = events.filter((event) => event.id === events[0]?.id);
  expect(repeated).toEqual([events[0], events[0]]);
  expect(new Set(events.map(({ data }) => data.threshold))).toEqual(new Set([1, 30]));

  const list = async () => (await control.done('GET', `/v1/webhooks/${id}/deliveries`, { token })).data;
  const areDelivered = async () => (await list()).every((each: { state: string }) => each.state === 'delivered');
  await eventually(async () => (await areDelivered()) || delay(POLL_MS, false), 'both are delivered');
  const attempts = (await list()).map((each: { attempts: { status: number }[] }) => each.attempts.map(({ status }) => status));
  expect(attempts.sort()).toEqual([[204], [503, 204]]);
  expect(received).toHaveLength(3);
});

test('a test event arrives as a CloudEvent, with the same id and the same bytes after a failure', async () => {
  const { id: organization } = await control.createOrganization();
  const { token } = await control.createUser({ role: 'owner', organization });
  const { port } = receiver.address() as AddressInfo;
  const { id, secret } = await control.done('POST', '/v1/webhooks', { token, body: { url: `http://127.0.0.1:${port}/hook` } });
  received = [];
  nextStatuses = [500, 200];
  const { event } = await control.done('POST', `/v1/webhooks/${id}/test`, { token });

  const list = async () => (await control.done('GET', `/v1/webhooks/${id}/deliveries`, { token })).data;
  await eventually(async () => received.length === 2, 'the test event is sent twice');
  await eventually(async () => (await list())[0]?.state === 'delivered' || delay(POLL_MS, false), 'the test event is delivered');
  expect(await list()).toMatchObject([{ event, type: 'sluice.webhook.test.v1', attempts: [{ status: 500 }, { status: 200 }] }]);
  expect(received).toHaveLength(2);
  expect(received[1]?.body).toBe(received[0]?.body);
  for (const { headers, body } of received) {
    expect([headers['content-type'], headers['webhook-id']]).toEqual(['application/cloudevents+json', event]);
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      specversion: '1.0',
      id: event,
      type: 'sluice.webhook.test.v1',
      sluiceorganization: organization,
    });
  }

  await control.done('DELETE', `/v1/webhooks/${id}`, { token });
  expect((await control.call('POST', `/v1/webhooks/${id}/test`, { token })).status).toBe(404);
});
