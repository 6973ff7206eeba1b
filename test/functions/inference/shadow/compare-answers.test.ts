import { describe, expect, test } from '@jest/globals';
import { compareAnswers, type TimedAnswer } from '../../../../functions/inference/shadow/compare-answers.ts';
import { observeAnswer } from '../../../../functions/inference/shadow/observe-answer.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';

const answer = (fields: Partial<TimedAnswer> = {}): TimedAnswer => ({
  ...{ text: 'Hello', calls: [], finishReason: 'stop', promptTokens: 7, completionTokens: 2, firstTokenMs: 20, durationMs: 100 },
  ...fields,
});
const call = (name: string, written: string) => answer({ text: '', calls: [{ name, arguments: written }], finishReason: 'tool_calls' });
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const asJson = { response_format: { type: 'json_schema', json_schema: { name: 'city', schema: SCHEMA } } };
const withTools = { tools: [{ type: 'function', function: { name: 'weather' } }] };

test('counts tokens, times and finish reasons of both sides', () => {
  const shadow = answer({ finishReason: 'length', promptTokens: 9, completionTokens: 4, firstTokenMs: 5, durationMs: 1_000_000 });
  expect(compareAnswers({}, answer(), shadow)).toEqual({
    compared: 1,
    finish_different: 1,
    serving_finish_stop: 1,
    shadow_finish_length: 1,
    ...{ serving_prompt_tokens: 7, serving_completion_tokens: 2, shadow_prompt_tokens: 9, shadow_completion_tokens: 4 },
    ...{ serving_first_token_ms: 20, serving_first_token_4: 1, serving_duration_ms: 100, serving_duration_14: 1 },
    ...{ shadow_first_token_ms: 5, shadow_first_token_0: 1, shadow_duration_ms: 1_000_000, shadow_duration_63: 1 },
  });
});

test('counts what a runtime has not reported as unknown, and other finish reasons together', () => {
  const unknown = answer({ finishReason: 'abort', promptTokens: undefined, completionTokens: undefined, firstTokenMs: undefined });
  const counts = compareAnswers({}, unknown, unknown);
  expect(counts).toMatchObject({ finish_same: 1, serving_finish_other: 1, shadow_finish_other: 1 });
  expect(Object.keys(counts).filter((name) => /tokens|first_token/.test(name))).toEqual([]);
});

describe('the validity of JSON', () => {
  test.each([
    ['both', '{"city":"Oslo"}', '{"city":"Rome"}'],
    ['serving_only', '{"city":"Oslo"}', '{"city":"Os'],
    ['shadow_only', '{"city":1}', '{"city":"Oslo"}'],
    ['neither', 'Oslo', '[]'],
  ] as const)('counts %s', (side, serving, shadow) => {
    expect(compareAnswers(asJson, answer({ text: serving }), answer({ text: shadow }))).toHaveProperty(`schema_${side}`, 1);
  });

  test('is that of any object if there is no schema', () => {
    const counts = compareAnswers({ response_format: { type: 'json_object' } }, answer({ text: '{"a":1}' }), answer({ text: '1' }));
    expect(counts).toHaveProperty('schema_serving_only', 1);
  });

  test.each([
    ['the request wants none', {}, answer({ text: '{}' })],
    ['a tool is called instead', { ...asJson, ...withTools }, call('weather', '{}')],
  ])('is not counted if %s', (_, body, shadow) => {
    expect(Object.keys(compareAnswers(body, answer({ text: '{"city":"Oslo"}' }), shadow)).join()).not.toContain('schema_');
  });
});

describe('the validity of calls of tools', () => {
  const valid = call('weather', '{"city":"Oslo"}');
  test.each([
    ['both', valid, valid],
    ['serving_only', valid, call('weather', '{"city":')],
    ['serving_only', valid, call('forecast', '{}')],
    ['serving_only', valid, answer()],
    ['shadow_only', call('weather', '[]'), valid],
    ['neither', call('', '{}'), call('weather', '')],
  ] as const)('counts %s', (side, serving, shadow) => {
    expect(compareAnswers(withTools, serving, shadow)).toHaveProperty(`tools_${side}`, 1);
  });

  test('is not counted if neither answer has a call, or no tool was offered', () => {
    expect(Object.keys(compareAnswers(withTools, answer(), answer())).join()).not.toContain('tools_');
    expect(Object.keys(compareAnswers({}, valid, valid)).join()).not.toContain('tools_');
  });
});

describe('exact matches', () => {
  test.each([
    ['exact_same', answer(), answer({ durationMs: 7, promptTokens: 1 })],
    ['exact_different', answer(), answer({ text: 'Hello ' })],
    ['exact_different', call('weather', '{}'), call('weather', '{ }')],
  ] as const)('count %s at temperature 0', (name, serving, shadow) => {
    expect(compareAnswers({ temperature: 0 }, serving, shadow)).toHaveProperty(name, 1);
  });

  test.each([[{}], [{ temperature: 0.1 }]])('are not counted at other temperatures: %j', (body) => {
    expect(Object.keys(compareAnswers(body, answer(), answer())).join()).not.toContain('exact_');
  });
});

describe('an observed answer', () => {
  const observe = (...chunks: UpstreamChunk[]) => {
    const observer = observeAnswer();
    observer.take(chunks);
    return observer;
  };
  const delta = (fields: object): UpstreamChunk => ({ choices: [{ index: 0, delta: fields }] });

  // As text, they would be joined instead of added; a negative one would give the budget more than was reserved.
  test.each(['12', -5, 1.5, 1e300, { toString: 1 }])('has no count of tokens if the runtime’s is %j', (count) => {
    const observer = observe({ choices: [], usage: { prompt_tokens: count, completion_tokens: count } });
    expect(observer.answer()).toMatchObject({ promptTokens: undefined, completionTokens: undefined });
  });

  test('joins its parts', () => {
    const part = (index: number, name: string | null, written: string) =>
      delta({ tool_calls: [{ index, function: { name, arguments: written } }] });
    const observer = observe(
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      part(0, 'weather', '{"a"'),
      part(1, 'time', ''),
      part(0, null, ':1}'),
      { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
    );
    expect(observer.answer()).toEqual({
      text: 'Hello',
      calls: [
        { name: 'weather', arguments: '{"a":1}' },
        { name: 'time', arguments: '' },
      ],
      ...{ finishReason: 'tool_calls', promptTokens: 3, completionTokens: 4 },
    });
  });

  test.each<[string, UpstreamChunk, boolean]>([
    ['text', delta({ content: 'a' }), true],
    ['reasoning', delta({ reasoning: 'a' }), true],
    ['a role', delta({ role: 'assistant', content: '' }), false],
  ])('has begun with its first %s', (_, chunk, expected) => {
    expect(observe(chunk).hasBegun()).toBe(expected);
  });

  test('is dropped from memory once it is too large', () => {
    const long = 'x'.repeat(600_000);
    const observer = observe(delta({ content: long }));
    expect(observer.isTooLarge()).toBe(false);
    observer.take([delta({ content: long })]);
    expect(observer.isTooLarge()).toBe(true);
    expect(observer.answer().text).toBe('');
    const many = observe(delta({ tool_calls: Array.from({ length: 200 }, (_, index) => ({ index, function: { name: 'f' } })) }));
    expect(many.isTooLarge()).toBe(true);
  });
});
