import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type DocumentedReplies, documentedReplies } from '../../support/clients/documented-replies.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import type { Json } from '../../support/clients/schemas.ts';

interface Whole extends Json {
  id: string;
  status: string;
  output: Json[];
}

const RESPONSES = '/v1/responses';
const RESPONSE = '/v1/responses/{id}';
const INPUT_ITEMS = '/v1/responses/{id}/input_items';

let run: TestRun;
let checkReply: DocumentedReplies['checkReply'];
let operationOf: DocumentedReplies['operationOf'];
beforeAll(async () => {
  run = await shareTestRun();
  ({ checkReply, operationOf } = await documentedReplies(run));
});
afterEach(async () => {
  await run.control('container');
  await run.control('sagemaker');
});
afterAll(async () => {
  await run.close();
});

const ask = { model: 'sluice-tiny', input: 'Tell me about rivers.', max_output_tokens: 12, temperature: 0 };
const weather = {
  type: 'function',
  name: 'get_weather',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};

const create = async (change: Json = {}): Promise<Whole> => {
  const { status, value } = await checkReply(RESPONSES, 'post', { body: { ...ask, ...change } });
  expect(status).toBe(200);
  return value as Whole;
};

// The distinct types of its events, and the response of the last one.
const stream = async (change: Json = {}): Promise<{ types: Set<unknown>; response: Whole }> => {
  const { values, value, isDone } = await checkReply(RESPONSES, 'post', { body: { ...ask, ...change, stream: true } });
  expect(isDone).toBe(false);
  expect(values.map(({ sequence_number }) => sequence_number)).toEqual(values.map((_, index) => index));
  return { types: new Set(values.map(({ type }) => type)), response: value.response as Whole };
};

const begun = ['response.created', 'response.in_progress', 'response.output_item.added'];
const inParts = ['response.content_part.added', 'response.content_part.done', 'response.output_item.done'];
const written = ['response.output_text.delta', 'response.output_text.done'];

describe('a response', () => {
  test.each<[string, Json, string[]]>([
    ['a text', { max_output_tokens: 200 }, [...inParts, ...written]],
    ['a text that is cut off', { max_output_tokens: 3 }, [...inParts, ...written, 'response.incomplete']],
    ['log probabilities', { top_logprobs: 2, include: ['message.output_text.logprobs'] }, written],
    ['a JSON object', { text: { format: { type: 'json_object' } }, max_output_tokens: 200 }, [...written, 'response.completed']],
    [
      'a tool call',
      { tools: [weather], tool_choice: 'required', max_output_tokens: 200 },
      ['response.function_call_arguments.delta', 'response.function_call_arguments.done', 'response.output_item.done'],
    ],
    [
      'reasoning',
      { model: 'sluice-tiny-reasoning', max_output_tokens: 300 },
      [...inParts, ...written, 'response.reasoning_text.delta', 'response.reasoning_text.done'],
    ],
    [
      'a reasoning summary',
      { model: 'sluice-tiny-reasoning', max_output_tokens: 300, reasoning: { summary: 'auto' } },
      ['part.added', 'text.delta', 'text.done', 'part.done'].map((end) => `response.reasoning_summary_${end}`),
    ],
    ['fields that have no effect', { my_property: 1, tools: [weather, { type: 'web_search' }], text: { verbosity: 'low' } }, written],
  ])('matches the OpenAPI document with %s, streamed or not', async (_, change, types) => {
    const whole = await create(change);
    const streamed = await stream(change);
    expect([...streamed.types]).toEqual(expect.arrayContaining([...begun, ...types]));
    expect(streamed.response.status).toBe(whole.status);
    expect(streamed.response.output.map(({ type }) => type)).toEqual(whole.output.map(({ type }) => type));
  });

  test('matches the OpenAPI document when a stream fails midway', async () => {
    await run.control('container', { fault: { kind: 'destroy', after_tokens: 5, times: 1 } });
    const { types, response } = await stream({ max_output_tokens: 40 });
    expect([...types]).toEqual(expect.arrayContaining([...begun, 'response.failed']));
    expect(response).toMatchObject({ status: 'failed', error: { code: 'upstream_error' }, output: [{ status: 'incomplete' }] });
  });
});

describe('every example request', () => {
  test('succeeds', async () => {
    const { examples } = operationOf(RESPONSES, 'post').requestBody.content['application/json'];
    expect(Object.keys(examples).length).toBeGreaterThan(4);
    const { id, output } = await create({ tools: [weather], tool_choice: 'required', max_output_tokens: 200 });
    const call_id = output.find(({ type }) => type === 'function_call')?.call_id;
    const plain = await create();
    for (const [name, { value }] of Object.entries(examples)) {
      const isResult = name === 'tool_result';
      const body = {
        ...value,
        model: 'sluice-tiny',
        max_output_tokens: 40,
        ...('previous_response_id' in value && { previous_response_id: isResult ? id : plain.id }),
        ...(isResult && { input: (value.input as Json[]).map((item) => ({ ...item, call_id })) }),
      };
      expect({ name, status: (await checkReply(RESPONSES, 'post', { body })).status }).toEqual({ name, status: 200 });
    }
  });
});

describe('replies about stored responses', () => {
  test('match the OpenAPI document when a response is retrieved, continued, listed and deleted', async () => {
    const made = await create({ metadata: { a: 'b' } });
    expect((await checkReply(RESPONSE, 'get', { id: made.id })).value).toEqual(made);
    const referred = (made.output[0] as Json).id;
    const input = [
      { type: 'item_reference', id: referred },
      { role: 'user', content: 'And of lakes.' },
    ];
    const next = await create({ previous_response_id: made.id, input });
    expect(next.previous_response_id).toBe(made.id);

    const { value: list } = await checkReply(INPUT_ITEMS, 'get', { id: next.id, query: '?order=asc&limit=1' });
    expect(list).toMatchObject({ data: [{ id: referred, role: 'assistant' }], has_more: true });
    const { value: rest } = await checkReply(INPUT_ITEMS, 'get', { id: next.id, query: `?order=asc&after=${list.last_id}` });
    expect(rest).toMatchObject({ data: [{ role: 'user', content: [{ type: 'input_text', text: 'And of lakes.' }] }], has_more: false });

    expect((await checkReply(RESPONSE, 'delete', { id: made.id })).value).toEqual({ id: made.id, object: 'response', deleted: true });
    for (const [path, method] of [
      [RESPONSE, 'get'],
      [RESPONSE, 'delete'],
      [INPUT_ITEMS, 'get'],
    ] as const)
      expect(await checkReply(path, method, { id: made.id })).toMatchObject({
        status: 404,
        value: { error: { code: 'response_not_found' } },
      });
  });

  test('match the OpenAPI document with the query parameters limit, order and after', () => {
    const inQuery = operationOf(INPUT_ITEMS, 'get').parameters?.filter((parameter) => parameter.in === 'query');
    expect(inQuery?.map(({ name }) => name)).toEqual(['limit', 'order', 'after']);
  });

  test('match the OpenAPI document when the items of a conversation with a tool are listed', async () => {
    const call = { type: 'function_call', call_id: 'a', name: 'get_weather', arguments: '{}' };
    const output = { type: 'function_call_output', call_id: 'a', output: 'Rain.' };
    const { id } = await create({ input: [{ role: 'user', content: 'Hi' }, call, output], tools: [weather] });
    const { value } = await checkReply(INPUT_ITEMS, 'get', { id });
    expect(value).toMatchObject({ data: [{ type: 'function_call_output' }, { type: 'function_call' }, { type: 'message' }] });
  });
});

describe('every error', () => {
  test('matches the OpenAPI document when a request for a response is rejected', async () => {
    const { secret } = await run.createKey({ models: ['other'] });
    const { secret: poor } = await run.createKey({ requests_per_minute: 0 });
    const refused = async (change: Json, key?: string): Promise<[number, unknown]> => {
      const { status, value } = await checkReply(RESPONSES, 'post', { body: { ...ask, ...change }, ...(key && { key }) });
      return [status, (value.error as Json).code];
    };
    expect((await refused({ temperature: 5 }))[0]).toBe(400);
    expect((await refused({}, 'nonsense'))[0]).toBe(401);
    expect((await refused({}, secret))[0]).toBe(403);
    expect(await refused({ model: 'nothing' })).toEqual([404, 'model_not_found']);
    expect(await refused({ previous_response_id: 'resp_nothing' })).toEqual([404, 'previous_response_not_found']);
    expect(await refused({ input: [{ type: 'item_reference', id: 'msg_nothing_0' }] })).toEqual([404, 'item_not_found']);
    expect((await refused({}, poor))[0]).toBe(429);
    await run.control('sagemaker', { fault: { kind: 'throttling' } });
    expect((await refused({}))[0]).toBe(503);
  });

  test('matches the OpenAPI document when a request about a stored response is rejected', async () => {
    const { id } = await create();
    const statusOf = async (...args: Parameters<typeof checkReply>): Promise<number> => (await checkReply(...args)).status;
    expect(await statusOf(RESPONSE, 'get', { id, query: '?stream=true' })).toBe(400);
    expect(await statusOf(INPUT_ITEMS, 'get', { id, query: '?limit=0' })).toBe(400);
    expect(await statusOf(INPUT_ITEMS, 'get', { id, query: '?after=nothing' })).toBe(400);
    for (const [path, method] of [
      [RESPONSE, 'get'],
      [RESPONSE, 'delete'],
      [INPUT_ITEMS, 'get'],
    ] as const) {
      expect(await statusOf(path, method, { id, key: 'nonsense' })).toBe(401);
      expect(await statusOf(path, method, { id: 'resp_nothing' })).toBe(404);
    }
  });
});
