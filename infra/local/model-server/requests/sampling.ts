import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { PLAIN_SAMPLING, type SamplingParameters } from '../sampling/parameters.ts';
import type { SharedFields } from './fields.ts';
import { check } from './ranges.ts';

const LARGEST_BIAS = 100;
const DEFAULT_MIROSTAT_RATE = 0.1;

/** Returns the sampling of a request whose ranges were checked. Throws `BadRequest` for unknown token ids. */
export const toSampling = (body: SharedFields, tokenizer: ContainerTokenizer, maxTokens: number): SamplingParameters => {
  const { min_tokens: minTokens = 0, mirostat_target: target, allowed_token_ids: allowed } = body;
  check(minTokens <= maxTokens, `min_tokens must be less than or equal to max_tokens=${maxTokens}, got ${minTokens}.`);
  const stopTokens = body.stop_token_ids ?? [];
  checkVocabulary(stopTokens, 'stop_token_ids', tokenizer);
  if (allowed) checkAllowed(allowed, tokenizer);
  return {
    temperature: body.temperature ?? PLAIN_SAMPLING.temperature,
    topK: Math.max(0, body.top_k ?? 0),
    topP: body.top_p ?? PLAIN_SAMPLING.topP,
    minP: body.min_p ?? PLAIN_SAMPLING.minP,
    typicalP: body.typical_p ?? PLAIN_SAMPLING.typicalP,
    mirostat: target ? { targetBits: target, learningRate: body.mirostat_lr ?? DEFAULT_MIROSTAT_RATE } : null,
    repetitionPenalty: body.repetition_penalty ?? PLAIN_SAMPLING.repetitionPenalty,
    presencePenalty: body.presence_penalty ?? PLAIN_SAMPLING.presencePenalty,
    frequencyPenalty: body.frequency_penalty ?? PLAIN_SAMPLING.frequencyPenalty,
    logitBias: toLogitBias(body.logit_bias ?? {}, tokenizer),
    allowedTokens: allowed ? new Set(allowed) : null,
    badWords: (body.bad_words ?? []).flatMap((word) => toBadTokens(word, tokenizer)),
    minTokens,
    endingTokens: [tokenizer.specials.endOfTurn, ...stopTokens],
  };
};

const toLogitBias = (biases: Record<string, number>, tokenizer: ContainerTokenizer): Map<number, number> => {
  const wrong = Object.keys(biases).filter((key) => !/^\s*[+-]?\d+\s*$/.test(key));
  const names = `[${wrong.map((key) => `'${key}'`).join(', ')}]`;
  check(wrong.length === 0, `logit_bias contains key(s) that cannot be converted to integer token IDs: ${names}`);
  checkVocabulary(Object.keys(biases).map(Number), 'logit_bias', tokenizer);
  const clamp = (bias: number): number => Math.min(LARGEST_BIAS, Math.max(-LARGEST_BIAS, bias));
  return new Map(Object.entries(biases).map(([key, bias]) => [Number(key), clamp(bias)]));
};

const listOf = (ids: readonly number[]): string => `[${ids.join(', ')}]`;

const outOfVocabulary = (ids: readonly number[], { vocabularySize }: ContainerTokenizer): number[] =>
  ids.filter((id) => id < 0 || id >= vocabularySize);

const checkVocabulary = (ids: readonly number[], field: string, tokenizer: ContainerTokenizer): void => {
  const wrong = outOfVocabulary(ids, tokenizer);
  const size = `Vocabulary size: ${tokenizer.vocabularySize}`;
  check(wrong.length === 0, `token_id(s) ${listOf(wrong)} in ${field} contain out-of-vocab token ids. ${size}`);
};

const checkAllowed = (ids: readonly number[], tokenizer: ContainerTokenizer): void => {
  check(ids.length > 0, 'allowed_token_ids is not None and empty!');
  check(outOfVocabulary(ids, tokenizer).length === 0, 'allowed_token_ids contains out-of-vocab token id!');
};

/** Like vLLM, encodes a word without a space before it and, if that gives as many but different tokens, with one. */
const toBadTokens = (word: string, { encodePrompt }: ContainerTokenizer): number[][] => {
  const plain = encodePrompt(word.trimStart());
  const spaced = encodePrompt(` ${word.trimStart()}`);
  check(plain.length > 0, 'bad_words entries must tokenize to at least one token.');
  return spaced[0] !== plain[0] && spaced.length === plain.length ? [plain, spaced] : [plain];
};
