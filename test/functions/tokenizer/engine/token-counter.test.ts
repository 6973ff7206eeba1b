import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyText, encodedLength, load, sentencePiece, withChanges } from '../../../support/emulators/tokenizers.ts';
import { sized } from '../../../support/sized.ts';

const metaspace = (prepend_scheme: string) => ({ type: 'Metaspace', replacement: '\u2581', prepend_scheme, split: true });
const gpt2 = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
const digits = { type: 'Digits', individual_digits: true };
const spelling = { ...gpt2, use_regex: false };

describe('a token counter', () => {
  test.each([
    ['a byte-level tokenizer', withChanges({})],
    ['one whose first stage knows the words itself', withChanges({ pre_tokenizer: gpt2 })],
    ['one of several stages', withChanges({ pre_tokenizer: { type: 'Sequence', pretokenizers: [digits, spelling] } })],
    ['one that normalizes', withChanges({ normalizer: { type: 'NFKC' } })],
    ['a SentencePiece tokenizer without stages', sentencePiece()],
    ['one that puts a space before the whole text', sentencePiece({ normalizer: null, pre_tokenizer: metaspace('first') })],
    ['one that puts a space before each part', sentencePiece({ normalizer: null, pre_tokenizer: metaspace('always') })],
  ])('counts like an encoding of the whole text: %s', (_name, json) => {
    const createCounter = load(json).createCounter;
    fc.assert(
      fc.property(anyText, (text) => expect(createCounter().count(text)).toBe(encodedLength(json, text))),
      { numRuns: sized(20, 150) },
    );
  });

  test('counts a part in the same way at the beginning of the text and after a special token', () => {
    const json = sentencePiece({ normalizer: null, pre_tokenizer: metaspace('first') });
    const { createCounter } = load(json);
    fc.assert(
      fc.property(anyText, (part) => {
        const text = `${part}<s>${part}`;
        expect(createCounter().count(text)).toBe(encodedLength(json, text));
      }),
      { numRuns: sized(20, 150) },
    );
  });

  test('does as Hugging Face’s tokenizers 0.23.3 in Rust does, where a normalized token follows itself', () => {
    expect(load(sentencePiece()).createCounter().count('<mark><mark>')).toBe(7);
    expect(load(sentencePiece()).createCounter().count('<s><mark><mark>')).toBe(8);
  });

  test('counts exactly even if merges would cross the start of a word', () => {
    const { model } = sentencePiece() as { model: { vocab: object; merges: string[] } };
    const vocab = { ...model.vocab, 'a\u2581': 900 };
    const json = sentencePiece({ model: { ...model, vocab, merges: ['a \u2581', ...model.merges] } });
    expect(load(json).createCounter().count('a a a')).toBe(encodedLength(json, 'a a a'));
  });
});

test('compares a limit with the exact count, in any order of calls', () => {
  const json = withChanges({});
  const createCounter = load(json).createCounter;
  fc.assert(
    fc.property(anyText, fc.array(fc.nat(40), { maxLength: 5 }), (text, limits) => {
      const counter = createCounter();
      const length = encodedLength(json, text);
      for (const limit of [...limits, Math.max(0, length - 1), length, length + 1])
        expect(counter.count(text, limit)).toBe(length > limit ? undefined : length);
    }),
  );
});

test('counts more words than fit into the cache', () => {
  const json = withChanges({});
  const createCounter = load(json).createCounter;
  const letters = (n: number): string => [...n.toString(4)].map((digit) => 'abcd'[Number(digit)]).join('');
  const words = Array.from({ length: 110_000 }, (_, i) => ` ${letters(i)}`);
  const count = (texts: readonly string[]): void => expect(createCounter().count(texts.join(''))).toBe(encodedLength(json, texts.join('')));
  count(words);
  // Some were evicted, and some are still in it.
  count([...words.slice(0, 5_000), ...words.slice(-5_000)]);
});
