import { writeFileSync } from 'node:fs';
import { BYTE_CHARACTERS, toByteCharacters } from './byte-level.ts';
import { CORPUS_FOLDER, CORPUS_TOKENS_FILE, readCorpus } from './corpus.ts';
import { loadTokenizer, TOKENIZER_FILE } from './tokenizer.ts';

const MERGES = 2_000;
const SPECIAL_TOKENS = ['<|im_start|>', '<|im_end|>', '<|endoftext|>'];

// Llama 3's pre-tokenization pattern without possessive quantifiers, which JavaScript lacks.
const SPLIT =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

type Merge = [left: string, right: string];
interface Word {
  parts: string[];
  count: number;
}

/**
 * Returns up to `count` byte-pair encoding merges in order (https://arxiv.org/abs/1508.07909): each merges the most
 * frequent pair of adjacent parts. Ties go to the first pair in code unit order, so the result never varies.
 */
export const trainMerges = (texts: readonly string[], count: number): Merge[] => {
  const words = countWords(texts);
  const merges: Merge[] = [];
  while (merges.length < count) {
    const merge = mostFrequentPair(words);
    if (merge === null) break;
    merges.push(merge);
    for (const word of words) join(word, merge);
  }
  return merges;
};

const countWords = (texts: readonly string[]): Word[] => {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const [word] of text.matchAll(new RegExp(SPLIT, 'gu'))) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].map(([word, count]) => ({ parts: toByteCharacters(word), count }));
};

// Training ends when no pair occurs twice.
const mostFrequentPair = (words: readonly Word[]): Merge | null => {
  const counts = new Map<string, number>();
  for (const { parts, count } of words) {
    for (let i = 1; i < parts.length; i++) {
      const pair = `${parts[i - 1]} ${parts[i]}`;
      counts.set(pair, (counts.get(pair) ?? 0) + count);
    }
  }
  let best = '';
  let bestCount = 1;
  for (const [pair, count] of counts) {
    if (count > bestCount || (count === bestCount && best !== '' && pair < best)) [best, bestCount] = [pair, count];
  }
  const [left, right] = best.split(' ');
  return left && right ? [left, right] : null;
};

const join = (word: Word, [left, right]: Merge): void => {
  const { parts } = word;
  for (let i = 0; i + 1 < parts.length; i++) {
    if (parts[i] === left && parts[i + 1] === right) parts.splice(i, 2, left + right);
  }
};

// Hugging Face's format: bytes first, then one entry per merge, then the special tokens.
const toTokenizerJson = (merges: readonly Merge[]): object => {
  const entries = [...new Set([...BYTE_CHARACTERS, ...merges.map(([left, right]) => left + right)])];
  const added = SPECIAL_TOKENS.map((content, i) => ({
    id: entries.length + i,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [{ type: 'Split', pattern: { Regex: SPLIT }, behavior: 'Isolated', invert: false }, byteLevel],
    },
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(entries.map((entry, id) => [entry, id])),
      merges,
    },
  };
};

if (import.meta.main) {
  const paragraphs = readCorpus(CORPUS_FOLDER);
  writeFileSync(TOKENIZER_FILE, `${JSON.stringify(toTokenizerJson(trainMerges(paragraphs, MERGES)))}\n`);
  writeFileSync(CORPUS_TOKENS_FILE, `${JSON.stringify(paragraphs.map(loadTokenizer().encodeText))}\n`);
}
