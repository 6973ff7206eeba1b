import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createBlockWriter } from '../../../../functions/inference/messages/block-writer.ts';
import { MessageReply } from '../../../../functions/inference/messages/reply-schema.ts';
import type { UpstreamChunk } from '../../../../shared/upstream/chunk.ts';
import { randomAnswer } from '../idempotency/random-answers.ts';
import { assemble, blockEvents, callOf, chunkOf, ended, facts, stream, whole } from './replies.ts';

const blocksOf = (chunks: readonly UpstreamChunk[]) => assemble(blockEvents(chunks)).map(({ type, text }) => [type, text]);

describe('a block writer', () => {
  test('opens a new thinking block for reasoning after a call (bug 24)', () => {
    const chunks = [
      chunkOf({ reasoning: 'H' }),
      chunkOf({ reasoning_content: 'm' }),
      callOf(0, '{"x":1}', { name: 'f' }),
      chunkOf({ reasoning: 'So' }),
      ended('tool_calls'),
    ];
    expect(blocksOf(chunks)).toEqual([
      ['thinking', 'Hm'],
      ['tool_use', '{"x":1}'],
      ['thinking', 'So'],
    ]);
    expect(blockEvents(chunks).map(({ index }) => index)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2]);
  });

  test('ends a thinking block with a signature', () => {
    const events = blockEvents([chunkOf({ reasoning: 'Hm' }), chunkOf({ content: 'Yes' })]);
    expect(events[0]?.content_block).toEqual({ type: 'thinking', thinking: '', signature: '' });
    expect(events[2]?.delta).toEqual({ type: 'signature_delta', signature: expect.stringMatching(/./) });
    expect(events[3]).toEqual({ type: 'content_block_stop', index: 0 });
  });

  test.each([
    ['in the first delta', [callOf(0, '{"x":1}', { id: 'a', name: 'f' })]],
    ['in the last delta', [callOf(0, '', { id: 'a', name: 'f' }), callOf(0, '{"x":1}')]],
    ['in many deltas', [callOf(0, '{"x"', { id: 'a', name: 'f' }), callOf(0, ':'), callOf(0, '1}')]],
    ['as an object', [chunkOf({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }] })]],
    [
      'before the name',
      [chunkOf({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '{"x"' } }] }), callOf(0, ':1}', { name: 'f' })],
    ],
  ])('writes the arguments of a call that come %s (bug 17)', (_, chunks) => {
    const events = blockEvents([...chunks, ended('tool_calls')]);
    expect(events[0]?.content_block).toEqual({ type: 'tool_use', id: 'a', name: 'f', input: {} });
    expect(assemble(events)).toEqual([{ type: 'tool_use', text: '{"x":1}' }]);
    expect(whole(chunks).content).toEqual([{ type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } }]);
  });

  test('writes two interleaved calls one after the other, without losing a character (bug 30)', () => {
    const chunks = [
      callOf(0, '{"x":', { id: 'a', name: 'f' }),
      callOf(1, '{"y":', { id: 'b', name: 'g' }),
      callOf(0, '"}'),
      callOf(1, '2'),
      callOf(0, '"}'),
      callOf(1, '}'),
      chunkOf({ content: 'Done.' }),
      ended('tool_calls'),
    ];
    expect(blocksOf(chunks)).toEqual([
      ['tool_use', '{"x":"}"}'],
      ['tool_use', '{"y":2}'],
      ['text', 'Done.'],
    ]);
  });

  test('holds text that arrives in a call until its arguments are complete', () => {
    const reply = [
      callOf(0, '{"x":', { name: 'f' }),
      chunkOf({ content: 'A' }),
      chunkOf({ content: 'B' }),
      callOf(0, '1}'),
      chunkOf({ content: 'C' }),
    ];
    expect(blocksOf(reply)).toEqual([
      ['tool_use', '{"x":1}'],
      ['text', 'ABC'],
    ]);
  });

  test('writes what waits for incomplete arguments at the end of the answer', () => {
    expect(
      blocksOf([callOf(0, '{"x":', { name: 'f' }), callOf(1, '{}', { name: 'g' }), chunkOf({ content: 'A' }), ended('length')]),
    ).toEqual([
      ['tool_use', '{"x":'],
      ['tool_use', '{}'],
      ['text', 'A'],
    ]);
  });

  test('leaves out text after the last bracket of the arguments', () => {
    expect(blocksOf([callOf(0, '{"x":[1]}}\n', { name: 'f' }), callOf(0, '{"x":[1]}')])).toEqual([['tool_use', '{"x":[1]}']]);
  });

  test('fails if more than 8,000,000 characters wait for a call', () => {
    const writer = createBlockWriter(facts.id);
    writer.take([callOf(0, '{', { name: 'f' })]);
    const text = [chunkOf({ content: 'x'.repeat(4_000_000) })];
    writer.take(text);
    writer.take(text);
    expect(() => writer.take(text)).toThrow(expect.objectContaining({ code: 'upstream_error', status: 503 }));
  });

  test('gives calls without an id ids of the message, and replaces characters that Anthropic rejects', () => {
    const ids = (chunks: UpstreamChunk[]) => whole(chunks).content.map(({ id }) => id);
    expect(ids([callOf(0, '{}', { name: 'f' }), callOf(1, '{}', { name: 'g' })])).toEqual([
      'toolu_0123456789abcdefgh_0',
      'toolu_0123456789abcdefgh_1',
    ]);
    expect(ids([callOf(0, '{}', { id: 'functions.f:0', name: 'f' })])).toEqual(['functions_f_0']);
    const same = ['a', 'a_1', 'a', 'a_3'].map((id, index) => callOf(index, '{}', { id, name: 'f' }));
    expect(new Set(ids(same)).size).toBe(4);
  });

  test('has every delta in an open block, ends each block, and matches the whole reply (bugs 18, 25, 27)', () => {
    fc.assert(
      fc.property(randomAnswer, fc.integer({ min: 1, max: 7 }), (chunks, size) => {
        const batches = Array.from({ length: Math.ceil(chunks.length / size) }, (_, at) => chunks.slice(at * size, (at + 1) * size));
        const blocks = assemble(stream(batches));
        const reply = whole(chunks);
        expect(MessageReply.parse(reply)).toEqual(reply);
        const { content } = reply;
        expect(blocks.map(({ type }) => type)).toEqual(content.map(({ type }) => type));
        for (const [index, { type, text }] of blocks.entries()) if (type !== 'tool_use') expect(content[index]?.[type]).toBe(text);
      }),
    );
  });
});

describe('a whole reply', () => {
  test.each([
    ['{"x": tru', { _raw: '{"x": tru' }],
    ['[1]', { _raw: '[1]' }],
    ['7', { _raw: '7' }],
    [' ', {}],
    ['{"x":1} {"x":2}', { x: 1 }],
  ])('has an input for the arguments %p (bug 6)', (text, input) => {
    const chunks = [callOf(0, text, { id: 'a', name: 'f' }), ended('tool_calls')];
    expect(whole(chunks).content).toEqual([{ type: 'tool_use', id: 'a', name: 'f', input }]);
    expect(stream([chunks]).at(-1)?.type).toBe('message_stop');
  });

  test('keeps the form of numbers in inputs', () => {
    const text = '{"a":1.0,"b":[12345678901234567890]}';
    expect(JSON.stringify(whole([callOf(0, text, { name: 'f' })]).content[0]?.input)).toBe(text);
  });

  test('has a deeply nested input as text', () => {
    const text = `{"x":${'['.repeat(100)}${']'.repeat(100)}}`;
    expect(whole([callOf(0, text, { name: 'f' })]).content[0]?.input).toEqual({ _raw: text });
  });
});
