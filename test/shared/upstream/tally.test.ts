import { describe, expect, test } from '@jest/globals';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import { createTally } from '../../../shared/upstream/tally.ts';

const count = (...chunks: unknown[]) => {
  const tally = createTally(40, () => 1_000);
  for (const chunk of chunks) tally.take(chunk as UpstreamChunk);
  return tally.count();
};
const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] });

describe('what will be billed', () => {
  test("is the runtime's own count", () => {
    expect(count(delta({ content: 'Hello' }), { usage: { prompt_tokens: 7, completion_tokens: 2 } })).toEqual({
      promptTokens: 7,
      completionTokens: 2,
      source: 'runtime',
    });
    expect(count(delta({ content: 'Hello' }), { usage: { prompt_tokens: 0, completion_tokens: 0 } })).toEqual({
      promptTokens: 0,
      completionTokens: 0,
      source: 'runtime',
    });
  });

  test.each([[7.5], [-7], ['7'], [null], [2 ** 60]])('is an estimate when the runtime counts %p', (tokens) => {
    expect(count(delta({ content: 'Hello you' }), { usage: { prompt_tokens: tokens, completion_tokens: 2 } })).toEqual({
      promptTokens: 10,
      completionTokens: 3,
      source: 'estimated',
    });
  });

  test('counts reasoning and the arguments of calls as output', () => {
    for (const fields of [
      { reasoning: 'Hmm, well' },
      { reasoning_content: 'Hmm, well' },
      { tool_calls: [{ function: { arguments: '{"a":"b"}' } }] },
    ])
      expect(count(delta(fields))).toEqual({ promptTokens: 10, completionTokens: 3, source: 'estimated' });
  });

  test('is nothing when nothing was written', () => {
    expect(count(delta({ role: 'assistant', content: '' }))).toEqual({ promptTokens: 0, completionTokens: 0, source: 'estimated' });
  });
});
