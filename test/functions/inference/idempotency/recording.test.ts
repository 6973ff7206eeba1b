import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createRecording } from '../../../../functions/inference/idempotency/recording.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { createStreamReader } from '../../../../shared/upstream/read-stream.ts';
import { sized } from '../../../support/sized.ts';
import { accumulate } from './accumulate.ts';
import { randomAnswer } from './random-answers.ts';
import { type Route, routes } from './routes.ts';

const RUNS = sized(50, 300);

const merge = (chunks: readonly UpstreamChunk[], batch = chunks.length + 1): UpstreamChunk[] => {
  const recording = createRecording();
  for (let from = 0; from < chunks.length; from += batch) recording.take(chunks.slice(from, from + batch));
  return recording.chunks() as UpstreamChunk[];
};

// The object must be the same, and a client must merge the stream to the same.
const expectSame = (route: Route, merged: UpstreamChunk[], chunks: UpstreamChunk[]): void => {
  expect(route.whole(merged)).toBe(route.whole(chunks));
  expect(accumulate(route.stream(merged))).toEqual(accumulate(route.stream(chunks)));
};

// Answers of our own container (seed 7), recorded from the wire.
const recorded = readdirSync(path.join(import.meta.dirname, 'recorded')).map((name): [string, UpstreamChunk[]] => {
  const reader = createStreamReader();
  const wire = readFileSync(path.join(import.meta.dirname, 'recorded', name));
  return [name, [...reader.push(wire), ...reader.end()]];
});

describe.each(recorded)('the recorded answer %s', (name, chunks) => {
  test.each(routes)('is the same on the route of %s', (_, route) => {
    expectSame(route, merge(chunks), chunks);
    expectSame(route, merge(chunks, 1), chunks);
  });

  test('has the same usage', () => {
    const usageOf = (answer: UpstreamChunk[]) => answer.map(({ usage }) => usage).filter(Boolean);
    expect(usageOf(merge(chunks))).toEqual(usageOf(chunks));
  });

  test('has only a handful of chunks', () => {
    const choices = name.includes('choices') ? 4 : 1;
    expect(merge(chunks).length).toBeLessThanOrEqual(5 * choices);
    expect(merge(chunks).length).toBeLessThan(chunks.length / 2);
  });
});

describe('a merged answer, however it was split,', () => {
  test.each(routes)('is the same on the route of %s', (_, route) => {
    fc.assert(
      fc.property(randomAnswer, fc.integer({ min: 1, max: 9 }), (chunks, batch) => expectSame(route, merge(chunks, batch), chunks)),
      { numRuns: RUNS },
    );
  });

  test('does not change the chunks', () => {
    fc.assert(
      fc.property(randomAnswer, (chunks) => {
        const before = structuredClone(chunks);
        merge(chunks);
        expect(chunks).toEqual(before);
      }),
    );
  });

  test('is JSON', () => {
    fc.assert(fc.property(randomAnswer, (chunks) => expect(JSON.parse(JSON.stringify(merge(chunks)))).toEqual(merge(chunks))));
  });
});

const chunkOf = (delta: object, more: object = {}): UpstreamChunk => ({ choices: [{ index: 0, delta, ...more }] });

describe('a merged answer', () => {
  test('has one chunk for each part, in order, with its role, finish, usage and measurements', () => {
    const chunks = [
      { prompt_token_ids: [1, 2], ...chunkOf({ role: 'assistant', content: '' }) },
      chunkOf({ reasoning: 'H' }, { token_ids: [3] }),
      chunkOf({ reasoning_content: 'm' }, { token_ids: [4] }),
      chunkOf({ content: 'Ye' }),
      chunkOf({ content: 's' }),
      chunkOf({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] }),
      chunkOf({ tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] }),
      chunkOf({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }),
      chunkOf({}, { finish_reason: 'tool_calls', stop_reason: 5 }),
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 }, metrics: { queue: 1 } },
    ];
    expect(merge(chunks)).toEqual([
      { prompt_token_ids: [1, 2], ...chunkOf({ role: 'assistant', reasoning: 'Hm' }, { token_ids: [3, 4] }) },
      chunkOf({ content: 'Yes' }),
      chunkOf({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":1}' } }] }),
      chunkOf({}, { finish_reason: 'tool_calls', stop_reason: 5 }),
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 }, metrics: { queue: 1 } },
    ]);
  });

  test('has nothing that came after the finish, and is empty if nothing came', () => {
    const ended = chunkOf({ content: 'a' }, { finish_reason: 'stop' });
    expect(merge([ended, chunkOf({ content: 'late' })])).toEqual(merge([ended]));
    expect(merge([])).toEqual([]);
  });

  test('has the token ids of a prompt once, however often a runtime repeats them', () => {
    const ids = Array.from({ length: 500 }, (_, id) => id);
    const chunks = Array.from({ length: 3_000 }, () => ({
      prompt_token_ids: [...ids],
      ...chunkOf({ content: 'a' }, { prompt_token_ids: [...ids] }),
    }));
    expect(merge(chunks)).toEqual([{ prompt_token_ids: ids, ...chunkOf({ content: 'a'.repeat(3_000) }, { prompt_token_ids: ids }) }]);
  });

  test('has chunks that clients can read and mappers can process, however long it is', () => {
    const chunks = Array.from({ length: 150_000 }, (_, id) => chunkOf({ content: 'word ' }, { token_ids: [id] }));
    const merged = merge(chunks, 100);
    expect(Math.max(...merged.map((chunk) => JSON.stringify(chunk).length))).toBeLessThan(100_000);
    expect(merged.length).toBeLessThan(100);
    // These are the routes that pass lists on.
    for (const [name, route] of routes)
      if (name.endsWith('with everything')) expect(route.whole(merged) === route.whole(chunks)).toBe(true);
  });

  test('is not recorded if it has more than 8,000,000 characters', () => {
    const recording = createRecording();
    const chunks = [chunkOf({ content: 'x'.repeat(999_000) })];
    for (let time = 0; time < 8; time++) recording.take(chunks);
    expect(recording.chunks()?.length).toBe(8);
    recording.take(chunks);
    expect(recording.chunks()).toBeUndefined();
    recording.take(chunks);
    expect(recording.chunks()).toBeUndefined();
  });

  test.each([
    ['log probabilities', chunkOf({ content: '' }, { logprobs: { content: [{ token: 'x'.repeat(1_000) }] } })],
    ['token ids', chunkOf({}, { token_ids: Array(1_000).fill(100_000) })],
    ['arguments', chunkOf({ tool_calls: [{ index: 0, function: { name: 'f', arguments: 'x'.repeat(1_000) } }] })],
  ])('counts %s too', (_, chunk) => {
    const recording = createRecording();
    for (let time = 0; time < 8_000; time++) recording.take([chunk]);
    expect(recording.chunks()).toBeUndefined();
  });
});
