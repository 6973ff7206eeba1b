import { Tokenizer } from '@huggingface/tokenizers';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { loadTokenizer as loadContainerTokenizer } from '../../../../infra/local/model-server/model/tokenizer.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { anyMessages, anyText, load, sentencePiece, texts, withChanges } from '../../../support/emulators/tokenizers.ts';

const gpt2 = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
const around = (first: string, last: string) => ({
  type: 'TemplateProcessing',
  single: [special(first), { Sequence: { id: 'A', type_id: 0 } }, special(last)],
  pair: [],
  special_tokens: {},
});
const fused = {
  type: 'Unigram',
  unk_id: 0,
  vocab: [
    ['<unk>', 0],
    ['\u2581', -2],
    ['a', -1],
    ['b', -1],
    ['ab', -1.5],
  ],
};
const metaspace = { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'always', split: true };
const decoder = {
  type: 'Sequence',
  decoders: [{ type: 'Replace', pattern: { String: '\u2581' }, content: ' ' }, { type: 'ByteFallback' }, { type: 'Fuse' }],
};

const tokenizers: [string, object][] = [
  ['a byte-level tokenizer', withChanges({})],
  ['one that begins and ends a text', withChanges({ post_processor: around('<|im_start|>', '<|endoftext|>') })],
  [
    'one of two processors',
    withChanges({ post_processor: { type: 'Sequence', processors: [{ type: 'ByteLevel' }, around('<|im_start|>', '<|im_end|>')] } }),
  ],
  ['one whose first stage knows the words itself', withChanges({ pre_tokenizer: gpt2 })],
  ['one that normalizes', withChanges({ normalizer: { type: 'NFC' } })],
  ['a SentencePiece tokenizer', sentencePiece({ decoder, post_processor: around('<s>', '</s>') })],
  ['one in which unknown words become one token', sentencePiece({ normalizer: null, pre_tokenizer: metaspace, model: fused })],
];

describe.each(tokenizers)('%s', (_name, json) => {
  const library = new Tokenizer(json, {});
  const tokenizer = load(json);

  test('encodes like the library, with and without special tokens', () => {
    fc.assert(
      fc.property(anyText, fc.boolean(), (text, add_special_tokens) =>
        expect(tokenizer.encode(text, add_special_tokens)).toEqual(library.encode(text, { add_special_tokens }).ids),
      ),
      { numRuns: 150 },
    );
  });

  test('counts as many tokens as it encodes', () => {
    fc.assert(
      fc.property(anyText, (text) => expect(tokenizer.createCounter().count(text)).toBe(tokenizer.encode(text, false).length)),
      { numRuns: 100 },
    );
  });

  test('decodes like the library, in any order', () => {
    const ids = [...library.get_vocab().values()];
    const anyIds = fc.array(fc.constantFrom(...ids, ...ids.slice(-3)), { minLength: 1, maxLength: 20 });
    const options = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
    fc.assert(
      fc.property(anyIds, (tokens) => expect(tokenizer.decode(tokens)).toBe(library.decode(tokens, options))),
      { numRuns: 150 },
    );
  });
});

describe('our own model', () => {
  const tokenizer = load(withChanges({}));
  const container = loadContainerTokenizer();

  test('decodes every text to the original', () => {
    const wellFormed = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 40 }),
      anyText.map((text) => text.toWellFormed()),
    );
    fc.assert(
      fc.property(wellFormed, (text) => expect(tokenizer.decode(tokenizer.encode(text, true))).toBe(text)),
      { numRuns: 300 },
    );
  });

  test.each([
    ['no text', ''],
    ['a byte order mark', '\uFEFFa\uFEFF'],
    ['emoji', '👩🏽‍🚀 🇪🇺🙂'.repeat(10)],
    ['a long text', 'Tell me about rivers.\n\n\t漢字 …  '.repeat(3_000)],
    ['one long word', 'ab'.repeat(50_000)],
  ])('decodes %s', (_, text) => {
    const ids = tokenizer.encode(text, true);
    expect(tokenizer.decode(ids)).toBe(text);
    expect(ids.map((id) => tokenizer.tokenOf(id))).toEqual(text === '' ? [] : new Tokenizer(withChanges({}), {}).encode(text).tokens);
  });

  test('encodes like the container, including special tokens', () => {
    fc.assert(
      fc.property(anyText, (text) => expect(tokenizer.encode(text, true)).toEqual(container.encodePrompt(text))),
      { numRuns: 150 },
    );
    for (let id = 0; id <= container.vocabularySize; id++) expect(tokenizer.tokenOf(id) ?? '').toBe(container.vocabularyEntry(id));
  });

  test('encodes the spelling of a special token as that token', () => {
    const { startOfTurn, endOfTurn, endOfText } = container.specials;
    expect(tokenizer.encode('<|im_start|><|im_end|><|endoftext|>', false)).toEqual([startOfTurn, endOfTurn, endOfText]);
    expect(tokenizer.decode([startOfTurn, endOfTurn, endOfText])).toBe('<|im_start|><|im_end|><|endoftext|>');
  });

  test('has no token for an unknown id', () => {
    expect([-1, 0.5, container.vocabularySize, 1e9].map((id) => tokenizer.tokenOf(id))).toEqual(Array(4).fill(undefined));
  });
});

test('ends a rendered prompt with the start of the answer, or with the messages', () => {
  const { render } = load(withChanges({}));
  fc.assert(
    fc.property(anyMessages, (messages) => {
      const whole = render({ messages });
      const ended = render({ messages }, { addGenerationPrompt: false });
      expect(whole).toBe(`${ended}<|im_start|>assistant\n`);
    }),
  );
  expect(texts.chatTemplate).toContain('add_generation_prompt');
});
