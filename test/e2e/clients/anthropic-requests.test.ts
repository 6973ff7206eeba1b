import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HOSTS, type HostRun, startHostRun } from '../../support/clients/hosts.ts';
import { readEvents } from '../../support/clients/server-sent-events.ts';

interface RecordedRequest {
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

// As Claude Code 2.1.331 sent it; its texts are shortened, and its ids are zeros.
const first = JSON.parse(readFileSync(path.join(import.meta.dirname, 'claude-code-first-request.json'), 'utf8')) as RecordedRequest;

describe.each(HOSTS)('the %s host', (name) => {
  let run: HostRun;
  beforeAll(async () => {
    run = await startHostRun(name);
  });
  afterAll(async () => {
    await run.close();
  });

  const send = (route: string, { headers, body }: { headers: Record<string, string>; body: unknown }): Promise<Response> =>
    fetch(`${run.base_url}${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...run.host.headers, ...headers },
      body: JSON.stringify(body),
    });

  const short = { model: 'sluice-tiny', max_tokens: 2, messages: [{ role: 'user', content: 'Hi' }] };

  describe('POST /v1/messages', () => {
    test.each([['authorization'], ['x-api-key']])("answers Claude Code's first request with its key in %s (bug 1)", async (header) => {
      const { secret, key_id: keyId } = await run.createKey();
      const key = { [header]: header === 'authorization' ? `Bearer ${secret}` : secret };
      const response = await send(first.path, { headers: { ...first.headers, ...key }, body: first.body });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-sluice-ignored')).toContain('context_management');
      const { events, isDone } = readEvents(await response.text());
      expect(isDone).toBe(false);
      for (const event of events) expect(event).toMatchObject({ data: { type: event.name } });
      expect(events.map((event) => event.name).filter((event) => event !== 'content_block_delta' && event !== 'ping')).toEqual([
        'message_start',
        ...events.filter((event) => event.name === 'content_block_stop').flatMap(() => ['content_block_start', 'content_block_stop']),
        'message_delta',
        'message_stop',
      ]);
      expect(await run.eventsOf(keyId)).toEqual([expect.objectContaining({ outcome: 'completed', stream: true })]);
    });

    test.each([
      { 'anthropic-version': '2023-06-01' },
      { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'something-2031-01-01,another' },
      { 'anthropic-version': 'nonsense' },
      {},
    ])('accepts the headers %j', async (headers) => {
      const { secret } = await run.createKey();
      expect((await send('/v1/messages', { headers: { 'x-api-key': secret, ...headers }, body: short })).status).toBe(200);
    });

    test('returns a 404 that names the right base URL for one that ends with /v1', async () => {
      const { secret } = await run.createKey();
      const response = await send('/v1/v1/messages?beta=true', { headers: { authorization: `Bearer ${secret}` }, body: short });
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({
        type: 'error',
        error: expect.objectContaining({ type: 'not_found_error', message: expect.stringMatching(/base URL .* must have no path/) }),
        request_id: response.headers.get('request-id'),
      });
    });

    test('does not accept a key in x-api-key on the routes of OpenAI', async () => {
      const { secret } = await run.createKey();
      const response = await send('/v1/chat/completions', { headers: { 'x-api-key': secret }, body: short });
      expect(response.status).toBe(401);
    });
  });

  describe('POST /v1/messages/count_tokens', () => {
    const { max_tokens: _, stream: __, metadata: ___, ...counted } = first.body;

    test("counts Claude Code's first request as it is billed, for an ordinary key (bugs 10 and 12)", async () => {
      const { secret, key_id: keyId } = await run.createKey();
      const headers = { ...first.headers, authorization: `Bearer ${secret}` };
      const response = await send('/v1/messages/count_tokens?beta=true', { headers, body: counted });
      expect(response.status).toBe(200);
      const { input_tokens: tokens } = (await response.json()) as { input_tokens: number };
      await (await send(first.path, { headers, body: first.body })).text();
      expect(await run.eventsOf(keyId)).toEqual([expect.objectContaining({ prompt_tokens: tokens })]);
    });

    test('accepts 25 requests at once, and none of them counts for the limits of the key afterwards', async () => {
      const { secret, key_id: keyId } = await run.createKey({ requests_per_minute: 25 });
      const headers = { 'x-api-key': secret, 'anthropic-version': '2023-06-01' };
      const statuses = await Promise.all(
        Array.from({ length: 25 }, async () => (await send('/v1/messages/count_tokens', { headers, body: counted })).status),
      );
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(await run.eventsOf(keyId)).toEqual([]);
      const key = await fetch(`${run.base_url}/v1/key`, { headers: { ...run.host.headers, authorization: `Bearer ${secret}` } });
      expect(await key.json()).toMatchObject({ requests_per_minute: { remaining: 25 }, concurrency: { in_flight: 0 } });
      expect((await send('/v1/messages', { headers, body: short })).status).toBe(200);
    });
  });

  // Claude Code looks for models only if a setting tells it to, and keeps those with `claude` in their names: its own
  // helpers of keys can fail at that (bug 34), which no server can see.
  describe('GET /v1/models', () => {
    test("lists the models as both Anthropic's and OpenAI's (bug 33)", async () => {
      const { secret } = await run.createKey();
      const headers = { ...run.host.headers, 'x-api-key': secret, 'anthropic-version': '2023-06-01' };
      const list = (await (await fetch(`${run.base_url}/v1/models?limit=1000`, { headers })).json()) as {
        data: { id: string; task: string }[];
      };
      expect(list).toMatchObject({ object: 'list', has_more: false, first_id: list.data[0]?.id, last_id: list.data.at(-1)?.id });
      for (const model of list.data)
        expect(model).toMatchObject({
          object: 'model',
          type: 'model',
          display_name: expect.any(String),
          created: expect.any(Number),
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
          max_input_tokens: 8_192,
          max_tokens: model.task === 'generate' ? 4_096 : null,
        });
    });
  });
});
