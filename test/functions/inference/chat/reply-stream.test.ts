import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createChatStream } from '../../../../functions/inference/chat/reply-stream.ts';
import type { UpstreamChoice, UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { chunkOf, deltas, type Event, facts, plain, replyUsage, role, stream, text, whole } from './replies.ts';

const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'a "model"' };
const choice = (delta: object, finish_reason: string | null = null): object => ({ index: 0, delta, logprobs: null, finish_reason });

describe('a stream', () => {
  test('sends the role first, then the text, then one finish, and no usage unless requested', () => {
    expect(stream(text)).toEqual([
      { ...base, choices: [choice(role)] },
      { ...base, choices: [choice({ content: 'Hel' })] },
      { ...base, choices: [choice({ content: 'lo\n"' })] },
      { ...base, choices: [choice({}, 'length')] },
    ]);
  });

  test('sends the requested usage last, and null before', () => {
    const all = stream(text, { includeUsage: true });
    expect(all.slice(0, -1).every((event) => event.usage === null)).toBe(true);
    expect(all.at(-1)).toEqual({ ...base, choices: [], usage: replyUsage });
  });

  test('sends the role first even if the runtime never does', () => {
    expect(deltas([chunkOf({ content: 'a' })])[0]).toEqual(role);
  });

  test('interleaves choices as they arrive, each with a role and one finish, and one usage after them', () => {
    const at = (index: number, fields: Partial<UpstreamChoice>): UpstreamChunk => ({ choices: [{ index, ...fields }] });
    const all = stream(
      [
        at(0, { delta: { content: 'a' } }),
        at(1, { delta: { content: 'b' } }),
        at(0, { delta: {}, finish_reason: 'stop' }),
        { choices: [{ index: 1, delta: { content: 'c' } }] },
        at(0, { delta: { content: 'late' } }),
        at(1, { delta: {}, finish_reason: 'length' }),
      ],
      { includeUsage: true },
    );
    const of = (index: number) => all.filter(({ choices }) => choices[0]?.index === index);
    for (const index of [0, 1]) {
      expect(of(index)[0]?.choices[0]?.delta).toEqual(role);
      expect(of(index).filter(({ choices }) => choices[0]?.finish_reason)).toHaveLength(1);
    }
    expect(
      of(1)
        .map(({ choices }) => choices[0]?.delta.content ?? '')
        .join(''),
    ).toBe('bc');
    expect(
      of(0)
        .map(({ choices }) => choices[0]?.delta.content ?? '')
        .join(''),
    ).toBe('a');
    expect(all.filter((event) => event.usage)).toEqual([{ ...base, choices: [], usage: replyUsage }]);
    expect(all.at(-1)?.usage).toEqual(replyUsage);
  });

  test('sends requested measurements with its last finish, in addition to the runtime’s own', () => {
    const all = stream([...text, { metrics: { queue: 1 }, choices: [] }], { includeUsage: true }, () => ({ gateway_time_ms: 3 }));
    expect(all.map((event) => event.perf_metrics)).toEqual([undefined, undefined, undefined, { queue: 1, gateway_time_ms: 3 }, undefined]);
    expect(all[3]?.choices[0]?.finish_reason).toBe('length');
  });
});

describe('a stream and a whole response', () => {
  test('have the same content, however an answer is split into chunks and batches', () => {
    const piece = fc.record({ index: fc.integer({ min: 0, max: 2 }), content: fc.string({ unit: 'grapheme' }), reasoning: fc.string() });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.integer({ min: 1, max: 7 }), (pieces, batch) => {
        const chunks: UpstreamChunk[] = pieces.map(({ index, ...delta }) => ({ choices: [{ index, delta }] }));
        for (const index of [0, 1, 2]) chunks.push({ choices: [{ index, delta: {}, finish_reason: 'stop' }] });
        const reply = createChatStream(facts, plain);
        let events = '';
        for (let from = 0; from < chunks.length; from += batch) events += reply.take(chunks.slice(from, from + batch));
        const heard = events
          .split('\n\n')
          .filter(Boolean)
          .flatMap((event) => (JSON.parse(event.slice('data: '.length)) as Event).choices);
        for (const { index, message } of whole(chunks).choices) {
          const own = heard.filter((one) => one.index === index);
          expect(own.map(({ delta }) => delta.content ?? '').join('')).toBe(message.content);
          expect(own.map(({ delta }) => delta.reasoning ?? '').join('')).toBe(message.reasoning ?? '');
        }
      }),
    );
  });
});
