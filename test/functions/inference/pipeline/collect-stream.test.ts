import { describe, expect, test } from '@jest/globals';
import { collectStream } from '../../../../functions/inference/pipeline/collect-stream.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';

const MEGABYTE = 1_000_000;

const collecting = () => {
  const taken: UpstreamChunk[] = [];
  const collected = collectStream({ take: (chunks) => void taken.push(...chunks), whole: () => ({ chunks: taken.length }) }, () => ({
    prompt_tokens: 1,
  }));
  return { taken, collected };
};

describe('the content of a stream for the payload log', () => {
  test('keeps a few megabytes of a stream of a hundred, and says that it is cut', () => {
    const { taken, collected } = collecting();
    const content = 'x'.repeat(MEGABYTE);
    for (let i = 0; i < 100; i++) collected.take([{ choices: [{ index: 0, delta: { content } }] }]);
    expect(collected.isCut()).toBe(true);
    expect(taken).toHaveLength(2);
  });

  test('keeps arguments of calls and plain texts within the same bound', () => {
    const { taken, collected } = collecting();
    const long = 'x'.repeat(MEGABYTE);
    for (let i = 0; i < 20; i++) {
      collected.take([{ choices: [{ delta: { tool_calls: [{ index: i, function: { arguments: long } }] } }] }]);
      collected.take([{ choices: [{ text: long }] }]);
    }
    expect(taken).toHaveLength(2);
    // A text that would fit again is not kept: the content ends where it was cut.
    const before = taken.length;
    collected.take([{ choices: [{ text: 'end' }] }]);
    expect(taken).toHaveLength(before);
  });

  test('counts what short deltas take besides their text', () => {
    const { taken, collected } = collecting();
    const chunks = Array.from({ length: 1_000 }, () => ({ choices: [{ index: 0, delta: { content: 'x' } }] }));
    for (let i = 0; i < 500; i++) collected.take(chunks);
    expect(collected.isCut()).toBe(true);
    expect(taken.length).toBeLessThan(MEGABYTE / 2);
  });

  test('keeps neither token ids nor log probabilities, which would take the most memory and are not logged', () => {
    const { taken, collected } = collecting();
    const choice = { index: 1, delta: { content: 'Hi' }, finish_reason: 'stop' };
    const tokens = { logprobs: { content: [{ token: 'Hi' }] }, token_ids: [5], prompt_token_ids: [6] };
    collected.take([{ choices: [{ ...choice, ...tokens }], prompt_token_ids: [6], usage: { prompt_tokens: 1 } }]);
    expect(taken).toEqual([{ choices: [choice], usage: { prompt_tokens: 1 } }]);
    expect(collected.isCut()).toBe(false);
    expect(collected.content()).toEqual({ chunks: 1 });
  });

  test('fails where the log is written, and not within the stream, if the reply can’t be collected', () => {
    const failing = (): never => {
      throw new Error('broken');
    };
    const collected = collectStream({ take: failing, whole: () => ({}) }, () => ({}));
    collected.take([{ choices: [] }]);
    expect(() => collected.content()).toThrow('broken');
  });
});
