import { describe, expect, test } from '@jest/globals';
import { createTally } from '../../../../functions/inference/pipeline/tally.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { keptBytes } from '../../../support/kept-bytes.ts';

const most = { promptTokens: 1_000, completionTokens: 1_000_000 };
const facts = { promptBytes: 40, most, choices: 1, keepsText: true, echoedCharacters: () => 0, now: () => 1_000 };

const count = (...chunks: unknown[]) => {
  const tally = createTally({ ...facts, keepsText: false });
  for (const chunk of chunks) tally.take(chunk as UpstreamChunk);
  return tally.count();
};
const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] });

describe('the billed usage', () => {
  test("is the runtime's own count", () => {
    const possible = { cachedTokens: 0, source: 'runtime', isOvercounted: false };
    for (const [promptTokens, completionTokens] of [
      [7, 2],
      [0, 0],
      [most.promptTokens, most.completionTokens],
    ]) {
      const usage = { prompt_tokens: promptTokens, completion_tokens: completionTokens };
      expect(count(delta({ content: 'Hello' }), { usage })).toEqual({ promptTokens, completionTokens, ...possible });
    }
  });

  test('is that of all choices, also if the runtime counts each of them with its chunks', () => {
    const usage = (completion_tokens: number) => ({ usage: { prompt_tokens: 7, completion_tokens } });
    const choice = (index: number, finish_reason?: string) => ({ choices: [{ index, delta: { content: 'Hi' }, finish_reason }] });
    const tallyOf = (...chunks: unknown[]) => {
      const tally = createTally({ ...facts, choices: 2 });
      for (const chunk of chunks) tally.take(chunk as UpstreamChunk);
      return tally.count();
    };
    const chunks = [
      { ...choice(0, 'stop'), ...usage(1) },
      { ...choice(1), ...usage(1) },
    ];
    expect(tallyOf(...chunks)).toMatchObject({ source: 'estimated', promptTokens: 10 });
    expect(tallyOf(...chunks, choice(1, 'stop'), { choices: [], ...usage(3) })).toMatchObject({ source: 'runtime', completionTokens: 3 });
    expect(tallyOf(...chunks, { ...choice(1, 'stop'), ...usage(3) })).toMatchObject({ source: 'runtime', completionTokens: 3 });
  });

  test.each([[7.5], [-7], ['7'], [null]])('is an estimate if the runtime counts %p', (tokens) => {
    expect(count(delta({ content: 'Hello you' }), { usage: { prompt_tokens: tokens, completion_tokens: 2 } })).toEqual({
      promptTokens: 10,
      cachedTokens: 0,
      completionTokens: 3,
      source: 'estimated',
      isOvercounted: false,
    });
  });

  test.each([
    [most.promptTokens + 1, 2, 10],
    [1e15, 2, 10],
    [2 ** 60, 2, 10],
    [1e300, 2, 10],
    [7, most.completionTokens + 1, 7],
  ])(
    'is our own count if the runtime counts %p and %p tokens, more than the request can have used',
    (prompt_tokens, completion_tokens, promptTokens) => {
      const usage = { prompt_tokens, completion_tokens };
      const own = { promptTokens, cachedTokens: 0, completionTokens: 3, source: 'estimated', isOvercounted: true };
      expect(count(delta({ content: 'Hello you' }), { usage })).toEqual(own);
      // Not even if an earlier count was possible.
      const early = { ...delta({ content: 'Hello you' }), usage: { prompt_tokens: promptTokens, completion_tokens: 3 } };
      expect(count(early, { usage })).toEqual(own);
      expect(count(early, { usage }, { usage: { prompt_tokens: 8, completion_tokens: 4 } })).toMatchObject({
        source: 'runtime',
        isOvercounted: false,
      });
    },
  );

  test('is at most what the request can have used, whoever counted', () => {
    const tally = createTally({ ...facts, most: { promptTokens: 6, completionTokens: 5 } });
    tally.take({ choices: [{ index: 0, delta: { content: 'x'.repeat(400) } }] });
    expect(tally.count()).toMatchObject({ promptTokens: 6, completionTokens: 5, source: 'estimated' });
    tally.counted({ promptTokens: 9, completionTokens: 90 });
    expect(tally.count()).toMatchObject({ promptTokens: 6, completionTokens: 5, source: 'estimated' });
  });

  test('replaces the runtime’s in the reply too if it is ours', () => {
    const tally = createTally(facts);
    tally.take({ choices: [{ index: 0, delta: { content: 'Hello you' } }], usage: { prompt_tokens: 7, completion_tokens: 1e15 } });
    expect(tally.usage()).toBeUndefined();
    expect(tally.uncounted()).toEqual(['Hello you']);
    tally.take({ usage: { prompt_tokens: 7, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1e15, other: 1 } } });
    expect(tally.usage()).toMatchObject({ prompt_tokens_details: { cached_tokens: 7, other: 1 } });
    for (const impossible of [-1, 0.5, '7', { toString: 1 }]) {
      tally.take({
        usage: {
          prompt_tokens: 7,
          completion_tokens: 2,
          prompt_tokens_details: { cached_tokens: impossible, other: 1 },
          completion_tokens_details: { reasoning_tokens: impossible, other: 2 },
        },
      });
      expect(tally.usage()).toMatchObject({
        prompt_tokens_details: { cached_tokens: 0, other: 1 },
        completion_tokens_details: { reasoning_tokens: 0, other: 2 },
      });
    }
  });

  test('includes reasoning and the arguments of calls as output', () => {
    for (const fields of [
      { reasoning: 'Hmm, well' },
      { reasoning_content: 'Hmm, well' },
      { tool_calls: [{ function: { arguments: '{"a":"b"}' } }] },
    ])
      expect(count(delta(fields))).toMatchObject({ promptTokens: 10, cachedTokens: 0, completionTokens: 3, source: 'estimated' });
  });

  test('is not a count that the runtime sent before more text', () => {
    const early = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 0 } };
    expect(count(early, delta({ content: 'x'.repeat(400) }))).toEqual({
      promptTokens: 9,
      cachedTokens: 0,
      completionTokens: 100,
      source: 'estimated',
      isOvercounted: false,
    });
    expect(count(early, delta({ content: 'Hello' }), { usage: { prompt_tokens: 9, completion_tokens: 2 } })).toMatchObject({
      completionTokens: 2,
    });
    expect(count({ ...delta({ content: 'Hello' }), usage: { prompt_tokens: 9, completion_tokens: 1 } })).toMatchObject({
      source: 'runtime',
    });
    expect(count(delta({ content: 'Hello' }), { usage: { prompt_tokens: 7, completion_tokens: null } })).toMatchObject({ promptTokens: 7 });
  });

  test('is a tokenizer’s count of the kept texts if the runtime sends none', () => {
    const tally = createTally(facts);
    for (const [index, content] of [
      [0, 'Hello '],
      [1, 'Good'],
      [0, 'you'],
    ] as const)
      tally.take({ choices: [{ index, delta: { content } }] });
    tally.take({ choices: [{ index: 1, delta: { tool_calls: [{ function: { name: 'f', arguments: '{}' } }] } }] });
    expect(tally.uncounted()).toEqual(['Hello you', 'Goodf{}']);
    tally.counted({ promptTokens: 11, completionTokens: 5 });
    expect(tally.count()).toMatchObject({ promptTokens: 11, cachedTokens: 0, completionTokens: 5, source: 'estimated' });
    tally.take({ usage: { prompt_tokens: 12, completion_tokens: 6 } });
    expect(tally.uncounted()).toEqual([]);
    expect(tally.count()).toMatchObject({ promptTokens: 12, cachedTokens: 0, completionTokens: 6, source: 'runtime' });
  });

  test('is an estimate if the output is too long to keep', () => {
    const tally = createTally(facts);
    for (let i = 0; i < 3; i++) tally.take({ choices: [{ index: 0, delta: { content: 'x'.repeat(400_000) } }] });
    expect(tally.uncounted()).toEqual([]);
    expect(tally.count()).toMatchObject({ completionTokens: 300_000, source: 'estimated' });
  });

  test('is zero without output', () => {
    expect(count(delta({ role: 'assistant', content: '' }))).toEqual({
      promptTokens: 0,
      cachedTokens: 0,
      completionTokens: 0,
      source: 'estimated',
      isOvercounted: false,
    });
  });

  test('includes the runtime’s count of cached tokens, but never more than the prompt has', () => {
    const usage = (cached_tokens: unknown) => ({
      usage: { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { cached_tokens } },
    });
    expect(count(delta({ content: 'a' }), usage(8))).toMatchObject({ promptTokens: 9, cachedTokens: 8, source: 'runtime' });
    expect(count(delta({ content: 'a' }), usage(10))).toMatchObject({ cachedTokens: 9 });
    for (const wrong of ['8', -1, 0.5, null]) expect(count(delta({ content: 'a' }), usage(wrong))).toMatchObject({ cachedTokens: 0 });
  });

  test('is no output if only the echo was requested, whatever the runtime counts', () => {
    const tally = createTally({ ...facts, echoedCharacters: () => 'A sluice'.length, isEchoOnly: true });
    tally.take({ choices: [{ index: 0, delta: { content: 'A sluice' }, finish_reason: 'length' }] });
    tally.take({ choices: [], usage: { prompt_tokens: 2, completion_tokens: 1 } });
    expect(tally.count()).toEqual({ promptTokens: 2, cachedTokens: 0, completionTokens: 0, source: 'runtime', isOvercounted: false });
    expect(tally.usage()).toMatchObject({ completion_tokens: 0 });
  });

  test('leaves out the echoed prompt of each choice, however its chunks are split', () => {
    const tally = createTally({ ...facts, echoedCharacters: (choice) => (choice === 0 ? 'A sluice'.length : 'A weir'.length) });
    const chunkOf = (index: number, content: string): UpstreamChunk => ({ choices: [{ index, delta: { content } }] });
    for (const chunk of [chunkOf(0, 'A slu'), chunkOf(1, 'A weir is low'), chunkOf(0, 'ice is '), chunkOf(0, 'a gate')]) tally.take(chunk);
    expect(tally.uncounted()).toEqual([' is low', ' is a gate']);
    expect(tally.count().completionTokens).toBe(Math.ceil(' is low is a gate'.length / 4));
  });
});

describe('createTally', () => {
  test('keeps nothing in memory after its request', () => {
    const url = import.meta.resolve('../../../../functions/inference/pipeline/tally.ts');
    const kept = keptBytes<typeof import('../../../../functions/inference/pipeline/tally.ts')>(url, ({ createTally }) => {
      const most = { promptTokens: 1_000, completionTokens: 1_000_000 };
      return createTally({ promptBytes: 40, most, choices: 1, keepsText: true, echoedCharacters: () => 0, now: () => 1_000 });
    });
    expect(kept).toBeLessThan(100);
  });
});
