import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { readEvents } from '../../support/clients/server-sent-events.ts';

let run: TestRun;
beforeAll(async () => {
  run = await shareTestRun();
});
afterAll(async () => {
  await run.close();
});

// The local run compares every reply with the reference.
const MESSAGE = { model: 'sluice-tiny', max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] };

const send = async (path: string, body: unknown, headers: Record<string, string> = {}, method = 'POST') => {
  const response = await fetch(`${run.base_url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-api-key': run.api_key, 'anthropic-version': '2023-06-01', ...headers },
    ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('POST /v1/messages', () => {
  test.each([false, true])('answers, and the same again under an idempotency key (stream: %s)', async (stream) => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await send('/v1/messages?beta=true', { ...MESSAGE, stream }, headers);
    expect(first.status).toBe(200);
    const again = await send('/v1/messages', { ...MESSAGE, stream }, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const lastOf = (text: string) => (stream ? readEvents(text).events.slice(-2) : JSON.parse(text));
    expect(lastOf(again.text)).toEqual(lastOf(first.text));
    expect(again.headers.get('request-id')).toBe(again.headers.get('x-request-id'));
  });

  test.each<[number, string, unknown, Record<string, string>]>([
    [400, 'invalid_request_error', { ...MESSAGE, max_tokens: 0 }, {}],
    [400, 'invalid_request_error', '{', {}],
    [401, 'authentication_error', MESSAGE, { 'x-api-key': 'sk-ant-other' }],
    [404, 'not_found_error', { ...MESSAGE, model: 'none' }, {}],
    [413, 'request_too_large', { ...MESSAGE, messages: [{ role: 'user', content: 'x'.repeat(11_000_000) }] }, {}],
  ])('fails with %i and %s in Anthropic’s shape', async (status, type, body, headers) => {
    const reply = await send('/v1/messages', body, headers);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text)).toMatchObject({ type: 'error', error: { type }, request_id: reply.headers.get('request-id') });
  });

  test.each([
    ['POST', '/v1/v1/messages', 404, 'not_found_error'],
    ['POST', '/messages', 404, 'not_found_error'],
    ['GET', '/v1/messages', 405, 'invalid_request_error'],
    ['GET', '/v1/messages/count_tokens', 405, 'invalid_request_error'],
  ])('has Anthropic’s errors on %s %s', async (method, path, status, type) => {
    const reply = await send(path, MESSAGE, {}, method);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text)).toMatchObject({ type: 'error', error: { type } });
  });
});

describe('POST /v1/messages/count_tokens', () => {
  test('counts the tokens that a message is billed', async () => {
    const counted = await send('/v1/messages/count_tokens?beta=true', MESSAGE);
    expect(counted.status).toBe(200);
    const { usage } = JSON.parse((await send('/v1/messages', MESSAGE)).text) as { usage: Record<string, number> };
    const { input_tokens = 0, cache_read_input_tokens = 0 } = usage;
    expect(JSON.parse(counted.text)).toEqual({ input_tokens: input_tokens + cache_read_input_tokens });
  });
});
