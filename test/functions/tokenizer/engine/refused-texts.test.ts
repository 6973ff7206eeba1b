import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from '@jest/globals';
import { TextRefused } from '../../../../shared/tokens/errors.ts';
import { encodedLength, load, sentencePiece, withChanges } from '../../../support/emulators/tokenizers.ts';
import { sized } from '../../../support/sized.ts';

const normalizing = withChanges({ normalizer: { type: 'NFC' } });

const cpuMs = (work: () => unknown): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

describe('a text with too many combining marks in a row', () => {
  const runOf = (marks: number, mark = '\u0301'): string => `a${mark.repeat(marks)} b`;

  test.each([
    ['marks', '\u0301'],
    ['marks of two halves', '\u{1E8D0}'],
  ])('is rejected if they are %s; one with the maximum is not', (_, mark) => {
    const { encode, createCounter } = load(normalizing);
    expect(() => createCounter().count(runOf(1_025, mark))).toThrow(TextRefused);
    expect(() => encode(runOf(1_025, mark), true)).toThrow('more than 1024 combining marks in a row');
    expect(createCounter().count(runOf(1_024, mark))).toBe(encodedLength(normalizing, runOf(1_024, mark)));
    expect(createCounter().count(runOf(1_024, mark).repeat(3))).toBe(encodedLength(normalizing, runOf(1_024, mark).repeat(3)));
  });

  test('is rejected at once', () => {
    const { createCounter } = load(normalizing);
    const many = `a${'\u0301'.repeat(150_000)}${'\u0323'.repeat(150_000)}`;
    const refuse = () => expect(() => createCounter().count(many)).toThrow(TextRefused);
    expect(cpuMs(refuse)).toBeLessThan(10_000);
  });

  test('is accepted by a tokenizer that does not normalize', () => {
    expect(load(withChanges({})).createCounter().count(runOf(5_000))).toBe(encodedLength(withChanges({}), runOf(5_000)));
  });
});

describe('a text with very long words', () => {
  const words = (...lengths: number[]): string => lengths.map((length) => 'x'.repeat(length)).join('\n');

  test.each([
    ['one', words(400_001)],
    ['several', words(150_000, 150_000, 100_001)],
    ['letters of three bytes', '\u6f22'.repeat(133_334)],
    ['several between added tokens', words(200_000, 200_001).replace('\n', '<|im_end|>')],
  ])('is rejected (%s)', (_, text) => {
    const { encode, createCounter } = load(withChanges({}));
    expect(() => createCounter().count(text)).toThrow(TextRefused);
    expect(() => encode(text, true)).toThrow('400000');
  });

  test('is accepted up to a limit, separately for each question', () => {
    const { encode, createCounter } = load(withChanges({}));
    const counter = createCounter();
    expect(counter.count(words(400_000))).toBe(400_000);
    expect(() => counter.count(words(20_000))).toThrow(TextRefused);
    expect(encode(words(200_000, 200_000), true)).toHaveLength(400_001);
    expect(encode(words(200_000, 200_000), true)).toHaveLength(400_001);
  });

  test('does not include a text of many short words, however long it is', () => {
    expect(load(withChanges({})).createCounter().count('x'.repeat(16_000).concat('\n').repeat(60))).toBe(60 * 16_001);
  });

  test('is rejected by a tokenizer that treats a text as one word', () => {
    const unigram = { type: 'Unigram', unk_id: 0, vocab: [['<unk>', 0], ['x', -1]] }; // biome-ignore format: pairs
    const json = sentencePiece({ normalizer: null, model: unigram });
    expect(() => load(json).createCounter().count('x'.repeat(400_001))).toThrow(TextRefused);
  });
});

// A thread has a heap of its own, which is small: a collection of this one takes longer the more suites ran before.
test.each(sized([63], [63, 80]))('the word cache needs about 15 MB at most, even for words of %i rare letters', async (length) => {
  const thread = new Worker(new URL('./cache-heap.ts', import.meta.url), { workerData: length });
  const [mostMb] = (await once(thread, 'message')) as [number];
  await thread.terminate();
  expect(mostMb).toBeGreaterThan(5);
  expect(mostMb).toBeLessThan(18);
});
