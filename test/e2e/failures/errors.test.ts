import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { IN_THE_STREAM } from '../../../infra/local/sagemaker/invocation-settings.ts';
import { isMessagesPath, MESSAGES_PATH } from '../../../shared/http/messages-path.ts';
import { HOSTS, type HostRun, startHostRun } from '../../support/clients/hosts.ts';
import { eventually } from '../../support/eventually.ts';

// These codes differ between the hosts.
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

  /** Checks that an error body is as in interface 2.6, with the request id of the header. */
  const errorOf = async (response: Response): Promise<{ message: string; type: string; param: string | null; code: string | null }> => {
    const body = (await response.json()) as {
      error: { message: string; type: string; param: string | null; code: string | null };
      request_id: string;
    };
    expect(body).toEqual({
      // API Gateway's errors have one body for all routes.
      ...(!body.request_id.startsWith('req_') && { type: 'error' }),
      error: { message: expect.any(String), type: expect.any(String), param: body.error.param, code: body.error.code },
      request_id: response.headers.get('x-request-id'),
    });
    expect(body.error.message).not.toMatch(/arn:aws|\d{12}|https?:|node_modules|at .*:\d+:\d+/);
    return body.error;
  };

  describe('returns 400 and says why for', () => {
    test.each([
      ['malformed JSON', '{"model":', /not valid JSON/],
      ['an empty body', null, /empty/],
      ['JSON that is not an object', '[]', /expected an object/],
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
  });

  test('returns errors of each route in the shape that its clients read', async () => {
    const of = (path: string, key: string, body: unknown): Promise<Response> =>
      fetch(`${run.base_url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...run.host.headers },
        body: JSON.stringify(body),
      });
    for (const path of run.host.paths) {
      const isOfMessages = isMessagesPath(path);
      const unauthorized = await of(path, 'sk-nonsense', {});
      const message = expect.stringMatching(/API key/);
      expect([path, unauthorized.status, await unauthorized.json()]).toEqual([
        path,
        401,
        expect.objectContaining(
          isOfMessages ? { error: expect.objectContaining({ type: 'authentication_error', message }) } : { error: message },
        ),
      ]);
      const invalid = await of(path, secret, { model: 5 });
      const details = { error_code: null, param: 'model' };
      const error = {
        type: 'invalid_request_error',
        message: expect.any(String),
        ...(isOfMessages ? { details } : { code: null, param: 'model' }),
      };
      expect([path, invalid.status, await invalid.json()]).toEqual([
        path,
        400,
        { ...(isOfMessages && { type: 'error' }), error, request_id: invalid.headers.get('request-id') },
      ]);
    }
  });

  test('returns 413 for a large body of the Messages API, and 404 for a wrong base URL, in its shape', async () => {
    const ofMessages = (path: string, content: string): Promise<Response> =>
      fetch(`${run.base_url}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': secret, 'content-type': 'application/json', ...run.host.headers },
        body: JSON.stringify({ ...ask, messages: [{ role: 'user', content }] }),
      });
    const tooLarge = await ofMessages(MESSAGES_PATH, 'x '.repeat(2_375_000));
    expect([tooLarge.status, await tooLarge.json()]).toMatchObject([413, { type: 'error', error: { type: 'request_too_large' } }]);
    const unknown = await ofMessages(`/v1${MESSAGES_PATH}`, 'Hello');
    const body = { type: 'error', error: { type: 'not_found_error', details: { error_code: 'not_found' } } };
    expect([unknown.status, await unknown.json()]).toMatchObject([404, body]);
  });

  test('accepts a request without a content type', async () => {
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

  test('accepts unknown fields and lists them in x-sluice-ignored', async () => {
    const response = await chat({ wombat: 1, top_p: 0.5, 'ü\r\n': true, n: null });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-sluice-ignored')).toBe('wombat, %C3%BC%0D%0A');
  });

  test('checks in the order 401, 403, 400, 404, 429', async () => {
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

  test('returns 401 with the name of the right host for a key of the other host', async () => {
    const { secret: elsewhere } = await run.createKey({ scope: run.host.otherScope });
    const response = await post(JSON.stringify(ask), { authorization: `Bearer ${elsewhere}` });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: expect.stringContaining(run.host.otherName), code: 'invalid_api_key' });
  });

  test('returns 413 with our error body for a body that is too large, but accepts one of 4.5 MB', async () => {
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

  test('returns 400 and says why for messages that take too long to tokenize', async () => {
    const response = await chat({ messages: [{ role: 'user', content: 'x'.repeat(400_001) }] });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ param: 'messages', message: expect.stringContaining('cannot be tokenized') });
  });

  describe('when the upstream fails before the first token', () => {
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
    ])('%s returns 503 with the code %s and Retry-After, streamed or not', async (kind, code) => {
      // The gateway retries a broken connection once.
      await run.control('sagemaker', {
        fault: { kind, times: kind === 'refuse' ? 4 : 2, ...(kind === 'model_error' && { original_status: 500 }) },
      });
      for (const stream of [true, false]) {
        const response = await chat({ stream });
        expect(response.status).toBe(503);
        expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
        expect(response.headers.get('content-type')).toBe('application/json');
        expect(response.headers.get('x-ratelimit-remaining-requests')).toMatch(/^\d+$/);
        const codes = new Map([
          [NOT_READY, run.host.notReady],
          [NO_COPIES, run.host.noCopies],
        ]);
        expect(await errorOf(response)).toMatchObject({ code: codes.get(code) ?? code });
      }
      await run.control('sagemaker');
    });

    test('a connection that breaks once is retried and the request succeeds', async () => {
      await run.control('sagemaker', { fault: { kind: 'refuse', times: 1 } });
      expect((await chat()).status).toBe(200);
    });

    test('the request costs nothing', async () => {
      const own = await run.createKey();
      await run.control('sagemaker', { fault: { kind: 'throttling', times: 1 } });
      await post(JSON.stringify(ask), { authorization: `Bearer ${own.secret}` });
      await run.control('sagemaker');
      expect(await run.eventsOf(own.key_id)).toEqual([
        expect.objectContaining({ outcome: 'upstream_failed', prompt_tokens: 0, completion_tokens: 0, cost_nanos: 0n }),
      ]);
    });
  });

  describe('when the upstream fails midway', () => {
    // A silent stream ends only at its deadline, which another test covers.
    test.each(IN_THE_STREAM.filter((kind) => kind !== 'silence'))(
      '(%s) a stream ends with an error event and without [DONE]; without streaming the reply is a 503',
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

    test('an error event of the container followed by [DONE] counts as a failure', async () => {
      await run.control('container', { fault: { kind: 'error_event', after_tokens: 3, times: 1 } });
      const streamed = await (await chat({ stream: true })).text();
      expect(streamed).toContain('"code":"upstream_error"');
      expect(streamed).not.toContain('[DONE]');
      await run.control('container');
    });
  });

  test('counts the tokens itself when the runtime sends no usage, and marks the event as estimated', async () => {
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

  test('returns 503 with our error body when a function crashes, and serves the next request', async () => {
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
    eventually(async () => Object.keys((await run.limiters.whole(keyId))?.fl ?? {}).length > 0, 'the request is in flight');

  describe('the routes that need no key', () => {
    test('answer GET and HEAD', async () => {
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
        // Without a key, the on-demand host does not reveal who has which deployments.
        models:
          run.host.scope === 'serverless'
            ? Object.fromEntries(
                ['sluice-tiny', 'sluice-tiny-embed', 'sluice-tiny-reasoning', 'sluice-tiny-rerank'].map((name) => [name, 'available']),
              )
            : {},
      });
    });

    test('return 405 with Allow for a wrong method, and 404 for an unknown path', async () => {
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

    test('accept one trailing slash in a path, but return 404 for two', async () => {
      for (const path of run.host.paths) {
        const statusAt = async (end: string) => (await fetch(`${run.base_url}${path}${end}`, { method: 'POST', body: '{}' })).status;
        expect([path, await statusAt('/'), await statusAt('//')]).toEqual([path, 401, 404]);
      }
    });

    test('allow calls from a browser: a preflight allows the method and the authorization header', async () => {
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

  test('has the same request id in the reply, the log and the usage event', async () => {
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
