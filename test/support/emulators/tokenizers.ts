import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import { type LoadedTokenizer, loadTokenizer } from '../../../functions/tokenizer/engine/loaded-tokenizer.ts';
import type { PromptMessage } from '../../../shared/tokens/prompt.ts';
import { anyCharacter } from '../any-character.ts';

const CONTAINER_MODEL = path.join(import.meta.dirname, '../../../infra/local/model-server/model');

/** The tokenizer of the local run's model, and a ChatML template. */
export const texts = {
  tokenizer: readFileSync(path.join(CONTAINER_MODEL, 'tokenizer.json'), 'utf8'),
  chatTemplate: `{%- for message in messages -%}
  {{- '<|im_start|>' + message.role + '\\n' + message.content -}}
  {%- for call in message.tool_calls or [] -%}
    {{- '\\n' + call.function.name + ' ' + (call.function.arguments | tojson) -}}
  {%- endfor -%}
  {{- '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}`,
};

/** The same tokenizer.json with changes. */
export const withChanges = (changes: object): object => ({ ...JSON.parse(texts.tokenizer), ...changes });

/** Loads a tokenizer from a tokenizer.json. */
export const load = (json: object): LoadedTokenizer => loadTokenizer({ ...texts, tokenizer: JSON.stringify(json) });

// By its tokenizer.json: making one takes far longer than a text does.
const encoders = new WeakMap<object, Tokenizer>();

/** The number of tokens of a text, encoded at once by the library. */
export const encodedLength = (json: object, text: string): number => {
  const encoder = encoders.get(json) ?? new Tokenizer(json, {});
  encoders.set(json, encoder);
  return encoder.encode(text, { add_special_tokens: false }).ids.length;
};

const addedToken = (id: number, content: string, rules: object = {}): object => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
  ...rules,
});

const PIECES = ['\u2581', 'a', 'b', '\n', '\u2581a', 'ab', '\u2581ab', '\u2581\u2581', 'ba', 'aa', '<s>', '</s>', '<unk>'];
const BYTES = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
const MERGES = ['\u2581 a', 'a b', '\u2581a b', '\u2581 \u2581', 'b a', 'a a', '\u2581 ab'];

/**
 * A tokenizer in the style of SentencePiece, without a pre-tokenizer: the whole text is one word, and spaces are
 * letters.
 */
export const sentencePiece = (changes: object = {}): object => ({
  version: '1.0',
  added_tokens: [addedToken(10, '<s>'), addedToken(11, '</s>', { rstrip: true }), addedToken(12, '<mark>', { normalized: true })],
  normalizer: {
    type: 'Sequence',
    normalizers: [
      { type: 'Prepend', prepend: '\u2581' },
      { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' },
    ],
  },
  pre_tokenizer: null,
  post_processor: null,
  decoder: null,
  model: {
    type: 'BPE',
    unk_token: '<unk>',
    fuse_unk: true,
    byte_fallback: true,
    vocab: Object.fromEntries([...PIECES, ...BYTES].map((piece, id) => [piece, id])),
    merges: MERGES,
  },
  ...changes,
});

/**
 * Texts with added tokens, words, white space and letters of every kind side by side. Not with a normalized token
 * twice in a row: there the package differs from Hugging Face's tokenizers in Rust, which runtimes use. A test has
 * that case.
 */
export const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom('<|im_start|>', '<|im_end|>', '<|endoftext|>', '<s>', '</s>', '<mark>', '<|im_', '<', ' ', '  ', '\n', '\r\n', '\t'),
      fc.constantFrom('a', 'ab ab', 'aab', ' river', 'The', "don't", '12345', '…', 'é', '\u00a0', '漢字', '🙂🙃', '\ud800'),
      fc.string({ unit: anyCharacter, maxLength: 6 }),
    ),
    { maxLength: 24 },
  )
  .map((parts) => parts.join(''))
  .filter((text) => !text.includes('<mark><mark>'));

/** Conversations, sensible or not: calls and results may not match, system messages can be anywhere. */
export const anyMessages: fc.Arbitrary<PromptMessage[]> = fc.array(
  fc.oneof(
    fc.record({ role: fc.constantFrom('system', 'user', 'user', 'assistant'), content: fc.lorem({ maxCount: 8 }) }),
    fc.record({
      role: fc.constant('assistant' as const),
      content: fc.constantFrom(null, 'Let me see.'),
      tool_calls: fc
        .uniqueArray(fc.constantFrom('c1', 'c2', 'c3'), { minLength: 1, maxLength: 2 })
        .map((ids) => ids.map((id) => ({ id, type: 'function' as const, function: { name: 'look', arguments: '{"far": true}' } }))),
    }),
    fc.record({ role: fc.constant('tool' as const), content: fc.lorem({ maxCount: 5 }), tool_call_id: fc.constantFrom('c1', 'c2', 'c3') }),
  ) as fc.Arbitrary<PromptMessage>,
  { minLength: 1, maxLength: 14 },
);
