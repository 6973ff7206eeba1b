import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { COUNT_TOKENS_PATH, MESSAGES_PATH } from '../../../shared/http/messages-path.ts';
import { type DocumentedReplies, documentedReplies } from '../../support/clients/documented-replies.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import type { Json } from '../../support/clients/schemas.ts';

let run: TestRun;
let operationOf: DocumentedReplies['operationOf'];
let checkReply: DocumentedReplies['checkReply'];
beforeAll(async () => {
  run = await shareTestRun();
  ({ operationOf, checkReply } = await documentedReplies(run));
});
afterEach(async () => {
  await run.control('container');
  await run.control('sagemaker');
});
afterAll(async () => {
  await run.close();
});

const question = { role: 'user', content: 'Tell me about rivers.' };
const ask = { model: 'sluice-tiny', messages: [question], max_tokens: 12, temperature: 0 };
const weather = { name: 'get_weather', input_schema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] } };

interface Message extends Json {
  content: Json[];
}

const create = async (change: Json = {}): Promise<Message> => {
  const { status, value } = await checkReply(MESSAGES_PATH, 'post', { body: { ...ask, ...change } });
  expect(status).toBe(200);
  return value as Message;
};

const typesOf = (values: readonly Json[]): Set<unknown> => new Set(values.map(({ type }) => type));

describe('a message', () => {
  test.each<[string, Json, string[]]>([
    ['a text', { max_tokens: 200 }, ['text']],
    ['a text that is cut off', { max_tokens: 3 }, ['text']],
    ['a stop sequence', { stop_sequences: ['river'], max_tokens: 60 }, ['text']],
    ['a tool call', { tools: [weather], tool_choice: { type: 'any' }, max_tokens: 200 }, ['tool_use']],
    ['thinking', { model: 'sluice-tiny-reasoning', thinking: { type: 'enabled' }, max_tokens: 300 }, ['thinking', 'text']],
    ['fields that have no effect', { my_property: 1, service_tier: 'auto', messages: [{ ...question, cache_control: null }] }, ['text']],
  ])('matches the OpenAPI document with %s, streamed or not', async (_, change, blocks) => {
    const whole = await create(change);
    const { status, values, isDone } = await checkReply(MESSAGES_PATH, 'post', { body: { ...ask, ...change, stream: true } });
    expect({ status, isDone }).toEqual({ status: 200, isDone: false });
    const started = values.filter(({ type }) => type === 'content_block_start').map(({ content_block: block }) => (block as Json).type);
    expect([whole.content.map(({ type }) => type), started]).toEqual([expect.arrayContaining(blocks), expect.arrayContaining(blocks)]);
    expect(values.find(({ type }) => type === 'message_delta')).toMatchObject({
      delta: { stop_reason: whole.stop_reason, stop_sequence: whole.stop_sequence },
      usage: whole.usage,
    });
    expect(values.at(-1)).toEqual({ type: 'message_stop' });
  });

  test('matches the OpenAPI document when a stream fails midway', async () => {
    await run.control('container', { fault: { kind: 'destroy', after_tokens: 5, times: 1 } });
    const { values } = await checkReply(MESSAGES_PATH, 'post', { body: { ...ask, max_tokens: 40, stream: true } });
    expect([...typesOf(values)]).toEqual(expect.arrayContaining(['message_start', 'content_block_delta']));
    expect(values.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error', details: { error_code: 'upstream_error' } } });
  });
});

test('every example request succeeds', async () => {
  for (const path of [MESSAGES_PATH, COUNT_TOKENS_PATH]) {
    const { examples } = operationOf(path, 'post').requestBody.content['application/json'];
    for (const [name, { value }] of Object.entries(examples)) {
      const body = { ...value, model: 'sluice-tiny', ...(path === MESSAGES_PATH && { max_tokens: 40 }) };
      expect({ name, status: (await checkReply(path, 'post', { body })).status }).toEqual({ name, status: 200 });
    }
  }
});

test('a count equals the input tokens of the same message', async () => {
  const body = { ...ask, system: 'Be brief.', tools: [weather] };
  const { value } = await checkReply(COUNT_TOKENS_PATH, 'post', { body });
  expect(value).toEqual({ input_tokens: ((await create(body)).usage as Json).input_tokens });
});

test.each([MESSAGES_PATH, COUNT_TOKENS_PATH])('every error of %s matches the OpenAPI document', async (path) => {
  const refused = async (change: Json, key?: string): Promise<unknown> => {
    const { status, value } = await checkReply(path, 'post', { body: { ...ask, ...change }, ...(key && { key }) });
    return [status, (value.error as Json).type];
  };
  const { secret } = await run.createKey({ models: ['other'] });
  expect(await refused({ temperature: 5 })).toEqual([400, 'invalid_request_error']);
  expect(await refused({}, 'nonsense')).toEqual([401, 'authentication_error']);
  expect(await refused({}, secret)).toEqual([403, 'permission_error']);
  expect(await refused({ model: 'nothing' })).toEqual([404, 'not_found_error']);
  if (path === COUNT_TOKENS_PATH) return;
  const { secret: poor } = await run.createKey({ total_budget_nanos: 0n });
  const { secret: slow } = await run.createKey({ requests_per_minute: 0 });
  expect(await refused({}, poor)).toEqual([402, 'billing_error']);
  expect(await refused({}, slow)).toEqual([429, 'rate_limit_error']);
  await run.control('sagemaker', { fault: { kind: 'throttling' } });
  expect(await refused({})).toEqual([503, 'overloaded_error']);
});
