import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createChunkTemplate } from '../../../shared/upstream/chunk-template.ts';
import { anyCharacter } from '../../support/any-character.ts';

// As vLLM writes it, with more or other fields around the text.
const chunkOf = (content: unknown, more: object = {}, choice: object = {}, delta: object = {}): object => ({
  id: 'chatcmpl-1',
  ...more,
  choices: [{ index: 0, delta: { ...delta, content }, logprobs: null, finish_reason: null, ...choice }],
});

const readAll = (texts: readonly string[]) => {
  const template = createChunkTemplate();
  let parsed = 0;
  const chunks = texts.map((text) => {
    const known = template.match(text);
    if (known) return known;
    parsed++;
    const chunk = JSON.parse(text);
    template.learn(text, chunk);
    return chunk;
  });
  return { chunks, parsed };
};

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"content":"', '\\', '"', '\u007f', '', 'content', '","x":"'),
);
const anyValue = fc.oneof(anyText, fc.constant(null), fc.integer(), fc.constant({ content: 'nested' }), fc.constant(['content']));
const anyMore = fc.dictionary(fc.constantFrom('content', 'usage', 'error', 'a', 'message', 'delta'), anyValue, {
  maxKeys: 3,
  noNullPrototype: true,
});
const anyIndent = fc.constantFrom(undefined, 1);

describe('chunks that are not parsed', () => {
  test('equal what JSON.parse gives, whatever they contain', () => {
    const anyChunk = fc
      .tuple(anyValue, anyMore, anyMore, anyMore, anyIndent)
      .map(([content, more, choice, delta, indent]) => JSON.stringify(chunkOf(content, more, choice, delta), null, indent));
    const sameFrame = fc
      .tuple(anyMore, anyMore, anyMore, fc.array(anyText, { minLength: 2, maxLength: 8 }), anyIndent)
      .map(([more, choice, delta, texts, indent]) => texts.map((text) => JSON.stringify(chunkOf(text, more, choice, delta), null, indent)));
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.array(anyChunk, { maxLength: 4 }), sameFrame), { maxLength: 6 }), (groups) => {
        const texts = groups.flat();
        expect(readAll(texts).chunks).toEqual(texts.map((text) => JSON.parse(text)));
      }),
      { numRuns: 2_000 },
    );
  });

  test('are nearly all chunks of a stream', () => {
    const texts = ['Hello', ' world', ' 漢', ' "quoted"', '.', '\n', ' more'].map((text) => JSON.stringify(chunkOf(text)));
    expect(readAll(texts)).toEqual({ chunks: texts.map((text) => JSON.parse(text)), parsed: 3 });
  });

  test('are independent of what a reader does with the others', () => {
    const [first = '', second = '', third = ''] = ['a', 'b', 'c'].map((text) => JSON.stringify(chunkOf(text)));
    const { chunks } = readAll([first, second, third]);
    for (const chunk of chunks.slice(0, 2)) chunk.choices[0].delta.content += '!';
    expect(chunks[2]).toEqual(JSON.parse(third));
  });
});

test('tries only a few times if a runtime’s chunks differ in more than their text', () => {
  const template = createChunkTemplate();
  for (let i = 0; i < 10; i++) {
    const text = JSON.stringify(chunkOf('x', { created: i }));
    expect(template.match(text)).toBeUndefined();
    template.learn(text, JSON.parse(text));
  }
  // The last chunk that was learnt is still recognized.
  expect(template.match(JSON.stringify(chunkOf('y', { created: 3 })))).toEqual(chunkOf('y', { created: 3 }));
  expect(template.match(JSON.stringify(chunkOf('y', { created: 9 })))).toBeUndefined();
});
