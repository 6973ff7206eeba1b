import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Chunk,
  type Completion,
  type Container,
  chunksOf,
  eventsOf,
  invoke,
  MODEL_NAME,
  question,
  REASONING_MODEL_NAME,
  refusalOf,
  startContainer,
  tokenizer,
} from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer();
});
afterAll(() => container.close());

const body = { model: REASONING_MODEL_NAME, messages: question, max_tokens: 300, temperature: 0 };
const complete = async (fields: object): Promise<Completion> =>
  (await (await invoke(container, { ...body, ...fields })).json()) as Completion;
const reasoningOf = async (fields: object): Promise<string | null> => (await complete(fields)).choices[0]?.message.reasoning ?? null;
const lengthOf = async (fields: object): Promise<number> => tokenizer.encodeText((await reasoningOf(fields)) ?? '').length;

describe('the two models of one process', () => {
  test('are selected by name; the first is the default, an unknown name is a 404', async () => {
    const modelOf = async (name: string | null | undefined) => (await complete({ model: name, max_tokens: 1 })).model;
    expect(await modelOf(REASONING_MODEL_NAME)).toBe(REASONING_MODEL_NAME);
    for (const name of [MODEL_NAME, '', null, undefined]) expect(await modelOf(name)).toBe(MODEL_NAME);
    expect(await refusalOf(container, { model: 'other' })).toMatchObject({ code: 404, param: 'model' });
  });

  test('reason only under the second name', async () => {
    expect(await reasoningOf({})).toMatch(/\w/);
    expect(await reasoningOf({ model: MODEL_NAME, reasoning_effort: 'high' })).toBeNull();
  });
});

describe('reasoning', () => {
  test('is longer for more effort, and absent for effort none', async () => {
    const [low, medium, high] = [
      await lengthOf({ reasoning_effort: 'low' }),
      await lengthOf({}),
      await lengthOf({ reasoning_effort: 'high' }),
    ];
    expect(low).toBeGreaterThanOrEqual(8);
    expect(low).toBeLessThanOrEqual(16);
    expect(medium).toBeGreaterThan(low);
    expect(medium).toBeLessThanOrEqual(48);
    expect(high).toBeGreaterThan(medium);
    expect(high).toBeLessThanOrEqual(96);
    expect(await reasoningOf({ reasoning_effort: 'none' })).toBeNull();
    expect(await reasoningOf({ chat_template_kwargs: { enable_thinking: false } })).toBeNull();
  });

  test('ends at the budget and leaves half of max_tokens for the answer', async () => {
    expect(await lengthOf({ thinking_token_budget: 5 })).toBe(5);
    expect(await reasoningOf({ thinking_token_budget: 0 })).toBeNull();
    expect(await lengthOf({ max_tokens: 20, reasoning_effort: 'high' })).toBeLessThanOrEqual(10);
    expect((await complete({ max_tokens: 40, reasoning_effort: 'high' })).choices[0]?.message.content).toMatch(/\w/);
  });

  test('counts towards usage, max_tokens and token ids, but has no logprobs', async () => {
    const { choices, usage } = await complete({ max_tokens: 60, return_token_ids: true, logprobs: true });
    const { message, token_ids: ids = [], logprobs } = choices[0] ?? {};
    expect(usage?.completion_tokens).toBe(60);
    expect(tokenizer.decode(ids ?? [])).toBe(`${message?.reasoning}\n</think>\n\n${message?.content}`);
    expect(logprobs?.content.map(({ token }) => token).join('')).toBe(message?.content);
  });

  test('comes first in a stream and is the same as without streaming', async () => {
    const response = await invoke(container, { ...body, stream: true, max_tokens: 80 });
    const chunks: Chunk[] = chunksOf(eventsOf(await response.text()));
    const kinds = chunks.map(({ choices }) => (choices[0]?.delta.reasoning ? 'r' : choices[0]?.delta.content ? 'c' : '-')).join('');
    expect(kinds).toMatch(/^-r+c+-$/);
    const { message } = (await complete({ max_tokens: 80 })).choices[0] ?? {};
    expect(chunks.map(({ choices }) => choices[0]?.delta.reasoning ?? '').join('')).toBe(message?.reasoning);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(message?.content);
  });

  test('is generated but not returned if include_reasoning is false', async () => {
    const hidden = await complete({ include_reasoning: false, max_tokens: 80 });
    const shown = await complete({ max_tokens: 80 });
    expect(hidden.choices[0]?.message).toEqual({ ...shown.choices[0]?.message, reasoning: null });
    expect(hidden.usage).toEqual(shown.usage);
  });

  test('also comes before JSON and tool calls', async () => {
    const json = (await complete({ response_format: { type: 'json_object' }, max_tokens: 60 })).choices[0]?.message;
    expect(json?.reasoning).toMatch(/\w/);
    expect(() => JSON.parse(json?.content ?? '')).not.toThrow();
    const tools = [{ type: 'function', function: { name: 'clock' } }];
    const called = (await complete({ tools, tool_choice: 'required' })).choices[0]?.message;
    expect(called).toMatchObject({
      content: null,
      reasoning: expect.stringMatching(/\w/),
      tool_calls: [{ function: { arguments: '{}' } }],
    });
  });
});
