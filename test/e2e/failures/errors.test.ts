import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { IN_THE_STREAM } from '../../../infra/local/sagemaker/settings.ts';
import { eventually } from '../../support/eventually.ts';
import { HOSTS, type HostRun, startHostRun } from '../../support/hosts.ts';

/** As a host calls it. */
const NOT_READY = 'not ready';
const NO_COPIES = 'no copies';

describe.each(HOSTS)('the %s host', (name) => {
  let run: HostRun;
  let secret: string;
  let keyId: string;
  beforeAll(async () => {
    run = await startHostRun(name);
    ({ secret, key_id: keyId } = await run.createKey());
  });
  afterEach(async () => {
    await run.control('container');
    await run.control('sagemaker');
  });
  afterAll(async () => {
    await run.close();
  });

  const ask = { model: 'sluice-tiny', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20, temperature: 0 };

  const post = (body: string | Uint8Array<ArrayBuffer> | null, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${run.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...run.host.headers, ...headers },
      body,
    });
  const chat = (change: Record<string, unknown> = {}): Promise<Response> => post(JSON.stringify({ ...ask, ...change }));

  /** Every error body of ours: interface 2.6, with the request id of the header. */
  const errorOf = async (response: Response): Promise<{ message: string; type: string; param: string | null; code: string | null }> => {
    const body = (await response.json()) as {
      error: { message: string; type: string; param: string | null; code: string | null };
      request_id: string;
    };
    expect(body).toEqual({
      error: { message: expect.any(String), type: expect.any(String), param: body.error.param, code: body.error.code },
      request_id: response.headers.get('x-request-id'),
    });
    expect(body.error.message).not.toMatch(/arn:aws|\d{12}|https?:|node_modules|at .*:\d+:\d+/);
    return body.error;
  };

  describe('a request that cannot be read is a 400 that says why', () => {
    test.each([
      ['malformed JSON', '{"model":', /not valid JSON/],
      ['an empty body', null, /empty/],
      ['JSON that is no object', '[]', /expected object/],
      ['bytes that are not UTF-8', Uint8Array.of(0x7b, 0xff, 0xfe), /UTF-8/],
    ])('%s', async (_, body, message) => {
      const response = await post(body);
      expect(response.status).toBe(400);
      expect((await errorOf(response)).message).toMatch(message);
    });

    test('a wrong content type', async () => {
      const response = await post(JSON.stringify(ask), { 'content-type': 'application/x-www-form-urlencoded' });
      expect(response.status).toBe(400);
      expect((await errorOf(response)).message).toContain('application/json');
    });

    test('a tool call without its function', async () => {
      const response = await chat({ messages: [{ role: 'assistant', content: null, tool_calls: [{ x: 1 }] }, ...ask.messages] });
      expect(response.status).toBe(400);
      expect((await errorOf(response)).param).toBe('messages[0].tool_calls[0].function');
    });

    test('but an absent content type is accepted', async () => {
      const status = await new Promise((resolve, reject) => {
        const call = request(
          `${run.base_url}/v1/chat/completions`,
          { method: 'POST', headers: { authorization: `Bearer ${secret}`, ...run.host.headers } },
          (response) => resolve(response.resume().statusCode),
        );
        call.once('error', reject).end(JSON.stringify(ask));
      });
      expect(status).toBe(200);
    });

    test('unknown properties are accepted and named in a header', async () => {
      const response = await chat({ wombat: 1, top_p: 0.5, 'ü\r\n': true, n: null });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-sluice-ignored')).toBe('wombat, %C3%BC%0D%0A');
    });
  });

  test('the answers come in the order 401, 403, 400, 404, 429', async () => {
    const status = async (key: string, body: unknown): Promise<number> =>
      (await post(typeof body === 'string' ? body : JSON.stringify(body), { authorization: `Bearer ${key}` })).status;
    const limited = (await run.createKey({ models: ['sluice-tiny', 'gone'], requests_per_minute: 0 })).secret;
    expect(await status('sk-nonsense', '{')).toBe(401);
    expect(await status(limited, '{')).toBe(400);
    expect(await status(limited, { ...ask, model: 'gone' })).toBe(404);
    expect(await status(limited, ask)).toBe(429);
    const narrow = (await run.createKey({ models: ['another'], requests_per_minute: 0 })).secret;
    expect(await status(narrow, ask)).toBe(403);
    expect(await status(narrow, { ...ask, model: 'gone' })).toBe(403);
    expect(await status(narrow, { ...ask, temperature: 9 })).toBe(403);
    expect(await status(narrow, { ...ask, model: 'another', temperature: 9 })).toBe(400);
  });

  test('a key for the other host is told so, without a read', async () => {
    const { secret: elsewhere } = await run.createKey({ scope: run.host.otherScope });
    const response = await post(JSON.stringify(ask), { authorization: `Bearer ${elsewhere}` });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: expect.stringContaining(run.host.otherName), code: 'invalid_api_key' });
  });

  test('a body that is too large is a 413 in our body, and one of 4.5 MB is not', async () => {
    const sized = (bytes: number): Promise<Response> => chat({ messages: [{ role: 'user', content: 'x '.repeat(bytes / 2) }] });
    for (const bytes of [4_750_000, 11_000_000]) {
      const response = await sized(bytes);
      expect(response.status).toBe(413);
      expect(await errorOf(response)).toMatchObject({ code: 'request_too_large' });
    }
    const response = await sized(4_499_000);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ code: 'context_length_exceeded' });
  });

  test('messages that nobody could count in time are a 400 that says why', async () => {
    const response = await chat({ messages: [{ role: 'user', content: 'x'.repeat(400_001) }] });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ param: 'messages', message: expect.stringContaining('cannot be tokenized') });
  });

  describe('whatever the upstream does before its first word is a 503 with a code and Retry-After', () => {
    test.each([
      ['throttling', 'no_capacity'],
      ['service_unavailable', 'no_capacity'],
      ['no_capacity', NO_COPIES],
      ['model_not_ready', NOT_READY],
      ['internal_failure', 'upstream_error'],
      ['internal_dependency', 'upstream_error'],
      ['validation', 'upstream_error'],
      ['refuse', 'upstream_error'],
      ['model_error', 'upstream_error'],
    ])('%s → %s, streamed or not', async (kind, code) => {
      // A broken connection is tried once more.
      await run.control('sagemaker', {
        fault: { kind, times: kind === 'refuse' ? 4 : 2, ...(kind === 'model_error' && { original_status: 500 }) },
      });
      for (const stream of [true, false]) {
        const response = await chat({ stream });
        expect(response.status).toBe(503);
        expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
        expect(response.headers.get('content-type')).toBe('application/json');
        expect(response.headers.get('x-ratelimit-remaining-requests')).toMatch(/^\d+$/);
        const told = new Map([
          [NOT_READY, run.host.notReady],
          [NO_COPIES, run.host.noCopies],
        ]);
        expect(await errorOf(response)).toMatchObject({ code: told.get(code) ?? code });
      }
      await run.control('sagemaker');
    });

    test('but a connection that breaks once before any answer is not noticed', async () => {
      await run.control('sagemaker', { fault: { kind: 'refuse', times: 1 } });
      expect((await chat()).status).toBe(200);
    });

    test('and costs nothing', async () => {
      const own = await run.createKey();
      await run.control('sagemaker', { fault: { kind: 'throttling', times: 1 } });
      await post(JSON.stringify(ask), { authorization: `Bearer ${own.secret}` });
      await run.control('sagemaker');
      expect(await run.eventsOf(own.key_id)).toEqual([
        expect.objectContaining({ outcome: 'upstream_failed', prompt_tokens: 0, completion_tokens: 0, cost_nanos: 0n }),
      ]);
    });
  });

  describe('a failure in the middle', () => {
    // A silent stream has no end to tell of until its deadline, which is another test's.
    test.each(IN_THE_STREAM.filter((kind) => kind !== 'silence'))(
      'of a stream (%s) is an error event and then the end, without [DONE]; of a reply in one piece a 503',
      async (kind) => {
        await run.control('sagemaker', { cuts: 'whole', fault: { kind, after_parts: 4, times: 2 } });
        const streamed = await (await chat({ stream: true })).text();
        const events = streamed.trim().split('\n\n');
        expect(events.length).toBeGreaterThan(2);
        expect(JSON.parse((events.at(-1) as string).slice('data: '.length))).toMatchObject({
          error: { type: 'server_error', code: expect.stringMatching(/^upstream_/) },
          request_id: expect.stringMatching(/^req_/),
        });
        expect(streamed).not.toContain('[DONE]');
        expect((await chat()).status).toBe(503);
        await run.control('sagemaker');
      },
    );

    test('an error event of the container followed by [DONE] is a failure', async () => {
      await run.control('container', { fault: { kind: 'error_event', after_tokens: 3, times: 1 } });
      const streamed = await (await chat({ stream: true })).text();
      expect(streamed).toContain('"code":"upstream_error"');
      expect(streamed).not.toContain('[DONE]');
      await run.control('container');
    });
  });

  test('an answer whose runtime gives no usage is counted by us and marked so', async () => {
    const own = await run.createKey();
    await run.control('container', { omit_usage: true });
    const response = await post(JSON.stringify(ask), { authorization: `Bearer ${own.secret}` });
    const { usage } = (await response.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
    await run.control('container');
    expect(usage.completion_tokens).toBeGreaterThan(0);
    expect(await run.eventsOf(own.key_id)).toEqual([
      expect.objectContaining({ source: 'estimated', outcome: 'completed', completion_tokens: usage.completion_tokens }),
    ]);
  });

  test('a function that dies gives its callers a 503 in our body, and is there again for the next', async () => {
    await run.control('container', { first_token_delay_ms: 20_000 });
    const reply = chat();
    await untilInFlight();
    const [pid] = (await run.facts()).pids.functions[run.host.inference] as [number];
    process.kill(pid, 'SIGKILL');
    const response = await reply;
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await errorOf(response)).toMatchObject({ code: 'service_unavailable' });
    await run.control('container');
    expect((await chat()).status).toBe(200);
    expect((await run.facts()).pids.functions[run.host.inference]).not.toContain(pid);
  });

  const untilInFlight = (): Promise<void> =>
    eventually(async () => Object.keys((await run.limiters.get(keyId))?.fl ?? {}).length > 0, 'the request is in flight');

  describe('the light routes', () => {
    test('answer GET and HEAD without a key', async () => {
      for (const path of run.host.openPaths) {
        const response = await fetch(run.base_url + path);
        expect(response.status).toBe(200);
        expect(response.headers.get('x-request-id')).toMatch(/^req_/);
        const head = await fetch(run.base_url + path, { method: 'HEAD' });
        expect(head.status).toBe(200);
        expect(await head.text()).toBe('');
      }
      expect(await (await fetch(`${run.base_url}/version`)).json()).toEqual({
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        commit: expect.any(String),
        api_version: '1.0.0',
      });
      expect(await (await fetch(`${run.base_url}/health`)).json()).toEqual({
        status: 'ok',
        // Who has which deployments is told to nobody without a key.
        models: run.host.scope === 'serverless' ? { 'sluice-tiny': 'available', 'sluice-tiny-reasoning': 'available' } : {},
      });
    });

    test('tell a wrong method what is allowed, and an unknown path that it is none', async () => {
      const wrong = await fetch(`${run.base_url}/v1/chat/completions`);
      expect(wrong.status).toBe(405);
      expect(wrong.headers.get('allow')).toBe('POST, OPTIONS');
      expect(await errorOf(wrong)).toMatchObject({ code: 'method_not_allowed' });
      const unknown = await fetch(`${run.base_url}/v1/chat/completion`, { method: 'POST', body: '{}' });
      expect(unknown.status).toBe(404);
      expect(await errorOf(unknown)).toMatchObject({ code: 'not_found' });
      for (const path of ['/', '/__proto__', '/constructor', '/v1', '/v1/chat', '/v1/chat/completions/x', '/v1/nothing', '/%zz'])
        expect((await fetch(run.base_url + path)).status).toBe(404);
    });

    test('take POST with one slash at the end of its path, and know no path with two', async () => {
      for (const path of run.host.paths) {
        const statusAt = async (end: string) => (await fetch(`${run.base_url}${path}${end}`, { method: 'POST', body: '{}' })).status;
        expect([path, await statusAt('/'), await statusAt('//')]).toEqual([path, 401, 404]);
      }
    });

    test('let a browser call: a preflight allows the method and the authorization header', async () => {
      const response = await fetch(`${run.base_url}/v1/chat/completions`, {
        method: 'OPTIONS',
        headers: { origin: 'https://example.com', 'access-control-request-method': 'POST' },
      });
      expect(response.status).toBe(204);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-allow-methods')).toContain('POST');
      expect(response.headers.get('access-control-allow-headers')).toContain('authorization');
      expect((await chat()).headers.get('access-control-expose-headers')).toContain('x-ratelimit-remaining-requests');
    });
  });

  test('the same request id stands in the reply, the log and the usage event', async () => {
    const own = await run.createKey();
    const response = await post(JSON.stringify({ ...ask, user: 'someone', metadata: { team: 'a' } }), {
      authorization: `Bearer ${own.secret}`,
    });
    await response.text();
    const requestId = response.headers.get('x-request-id') as string;
    const [event] = await run.eventsOf(own.key_id);
    expect(event).toMatchObject({
      request_id: requestId,
      key_id: own.key_id,
      org_id: 'org_test',
      model: 'sluice-tiny',
      outcome: 'completed',
      source: 'runtime',
      finish_reason: expect.any(String),
      time_to_first_token_ms: expect.any(Number),
      duration_ms: expect.any(Number),
      price_version: 'price_demo_1',
      user: 'someone',
      metadata: { team: 'a' },
    });
    expect(event?.cost_nanos).toBe(BigInt((event?.prompt_tokens ?? 0) * 100 + (event?.completion_tokens ?? 0) * 400));
    const log = await run.logOf(run.host.inference);
    const line = log.split('\n').find((text) => text.includes(requestId)) as string;
    expect(JSON.parse(line)).toMatchObject({ level: 'INFO', message: 'request', request_id: requestId, key_id: own.key_id });
    expect(log).not.toContain(own.secret);
    expect(line).not.toMatch(/someone|team|Hello/);
  });
});
