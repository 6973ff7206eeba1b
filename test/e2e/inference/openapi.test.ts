import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { referredReply } from '../../support/clients/document-faults.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { type Json, schemasOf } from '../../support/clients/schemas.ts';

interface Content {
  schema: Json;
}
interface Reply {
  $ref?: string;
  headers?: Json;
  content?: Record<string, Content>;
}

let run: TestRun;
let document: Json;
let faults: ReturnType<typeof schemasOf>['faults'];
beforeAll(async () => {
  run = await shareTestRun();
  document = (await (await fetch(`${run.base_url}/openapi.json`)).json()) as Json;
  ({ faults } = schemasOf(document, { isClosed: true, open: ['OpenApiDocument', 'PerfMetrics'] }));
});
afterEach(async () => {
  await run.control('container');
  await run.control('sagemaker');
});
afterAll(async () => {
  await run.close();
});

const documentedReply = (path: string, method: string, status: number): Reply => {
  const paths = document.paths as Record<string, Record<string, { responses: Record<string, Reply> }>>;
  const reply = paths[path]?.[method]?.responses[status];
  if (!reply) throw new Error(`The document has no ${status} for ${method} ${path}.`);
  return referredReply(document as unknown as Parameters<typeof referredReply<Reply>>[0], reply);
};

// Checks status, headers and body, or each event of a stream, against the document. Returns the values.
const checkReply = async (
  path: string,
  method: 'get' | 'post',
  body?: Json,
  { url = path, headers = {} }: { url?: string; headers?: Record<string, string> } = {},
) => {
  const response = await fetch(run.base_url + url, {
    method,
    headers: { authorization: `Bearer ${run.api_key}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const documented = documentedReply(path, method, response.status);
  const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
  const text = await response.text();
  const undocumented = [...response.headers.keys()].filter(
    (name) => /^x-(ratelimit|sluice|should)|^retry-|^etag$/.test(name) && !documented.headers?.[name],
  );
  expect({ path, status: response.status, undocumented }).toEqual({ path, status: response.status, undocumented: [] });
  if (response.status === 304) return { status: 304, values: [], response };
  const content = documented.content?.[type];
  expect({ path, type, isDocumented: content !== undefined }).toEqual({ path, type, isDocumented: true });
  const values = type === 'text/event-stream' ? dataOf(text) : type === 'text/html' ? [text] : [JSON.parse(text)];
  for (const value of values) expect({ value, faults: faults((content as Content).schema, value) }).toEqual({ value, faults: [] });
  return { status: response.status, values: values as Json[], response };
};

const dataOf = (stream: string): unknown[] =>
  stream
    .split('\n\n')
    .filter((event) => event.startsWith('data: ') && event !== 'data: [DONE]')
    .map((event) => JSON.parse(event.slice('data: '.length)));

const question = { role: 'user', content: 'Tell me about rivers.' };
const ask = { model: 'sluice-tiny', messages: [question], max_tokens: 12, temperature: 0 };
const definition = { name: 'get_weather', parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] } };

describe('the served document', () => {
  test('is a valid OpenAPI document', async () => {
    expect(await new Validator().validate(document)).toEqual({ valid: true });
  });

  test('has the methods that each path allows', async () => {
    const paths = Object.entries(document.paths as Record<string, Json>);
    expect(paths.length).toBeGreaterThan(7);
    for (const [path, methods] of paths) {
      const { status, headers } = await fetch(run.base_url + path.replace(/\{\w+\}/, 'x'), { method: 'OPTIONS' });
      const allowed = headers.get('access-control-allow-methods')?.split(', ') ?? [];
      expect({ path, status, allowed }).toEqual({
        path,
        status: 204,
        allowed: expect.arrayContaining(Object.keys(methods).map((method) => method.toUpperCase())),
      });
    }
  });
});

describe('chat completions', () => {
  test.each<[string, Json]>([
    ['a plain question', {}],
    ['several choices with log probabilities', { n: 2, temperature: 1, logprobs: true, top_logprobs: 2 }],
    ['token ids and measurements', { return_token_ids: true, perf_metrics_in_response: true }],
    ['a tool call', { tools: [{ type: 'function', function: definition }], tool_choice: 'required', max_tokens: 100 }],
    ['a deprecated function call', { functions: [definition], function_call: { name: 'get_weather' }, max_tokens: 100 }],
    ['a JSON object', { response_format: { type: 'json_object' }, max_tokens: 60 }],
    ['a stop string', { stop: ['river'], max_tokens: 60 }],
    ['fields that have no effect', { my_property: 1, prediction: 'x' }],
    ['reasoning', { model: 'sluice-tiny-reasoning', max_tokens: 60 }],
  ])('match the document with %s, streamed or not', async (_, change) => {
    const body = { ...ask, ...change };
    expect(await checkReply('/v1/chat/completions', 'post', body)).toMatchObject({ status: 200 });
    const { values } = await checkReply('/v1/chat/completions', 'post', { ...body, stream: true, stream_options: { include_usage: true } });
    expect(values.length).toBeGreaterThan(2);
    expect(values.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
  });

  test('match the document when a request is rejected', async () => {
    const { secret } = await run.createKey({ models: ['other'] });
    const { secret: poor } = await run.createKey({ requests_per_minute: 0 });
    const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
    const refused = async (change: Json, options = {}): Promise<number> =>
      (await checkReply('/v1/chat/completions', 'post', { ...ask, ...change }, options)).status;
    expect(await refused({ temperature: 5 })).toBe(400);
    expect(await refused({}, as('nonsense'))).toBe(401);
    expect(await refused({}, as(secret))).toBe(403);
    expect(await refused({ model: 'nothing' })).toBe(404);
    expect(await refused({}, as(poor))).toBe(429);
    await run.control('sagemaker', { fault: { kind: 'throttling' } });
    expect(await refused({})).toBe(503);
  });

  test('match the document when a stream fails midway', async () => {
    await run.control('sagemaker', { cuts: 'whole', fault: { kind: 'socket_destroyed', after_parts: 4 } });
    const { values } = await checkReply('/v1/chat/completions', 'post', { ...ask, max_tokens: 40, stream: true });
    expect(values.at(-1)).toMatchObject({ error: { code: expect.stringMatching(/^upstream_/) } });
  });
});

describe('GET routes', () => {
  test.each(['/v1/key', '/health', '/version'])('match the document: %s', async (path) => {
    expect((await checkReply(path, 'get')).status).toBe(200);
  });

  test.each(['/v1/models', '/openapi.json', '/docs'])('match the document, and say that nothing has changed: %s', async (path) => {
    const { status, response } = await checkReply(path, 'get');
    expect(status).toBe(200);
    const headers = { 'if-none-match': response.headers.get('etag') ?? '' };
    expect((await checkReply(path, 'get', undefined, { headers })).status).toBe(304);
  });

  test('match the document: /v1/models/{model}, for a known and an unknown model', async () => {
    const path = '/v1/models/{model}';
    expect((await checkReply(path, 'get', undefined, { url: '/v1/models/sluice-tiny' })).status).toBe(200);
    expect((await checkReply(path, 'get', undefined, { url: '/v1/models/no/such%2Fmodel' })).status).toBe(404);
  });

  test('match the document: /v1/key without a key', async () => {
    expect((await checkReply('/v1/key', 'get', undefined, { headers: { authorization: 'Bearer x' } })).status).toBe(401);
  });
});
