import { BadRequest } from '../errors.ts';
import { isGreedy, PLAIN_SAMPLING, type SamplingParameters } from '../sampling/parameters.ts';
import type { ContainerTokenizer } from '../tokenizer.ts';
import type { ChatRequest } from './request.ts';

const MOST_CHOICES = 128;
const MOST_STOPS = 4;
const MOST_LOGPROBS = 20;
const LARGEST_BIAS = 100;
const DEFAULT_MIROSTAT_RATE = 0.1;

/** As Python writes a float: this is how vLLM tells one. */
const float = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value));

const listOf = (ids: readonly number[]): string => `[${ids.join(', ')}]`;

function check(holds: boolean, message: string): void {
  if (!holds) throw new BadRequest(message);
}

const isWithin = (value: number, from: number, to: number): boolean => value >= from && value <= to;

/** Throws `BadRequest` in the words of vLLM for a value out of range, in the order in which vLLM looks. */
export function checkRanges(body: ChatRequest): void {
  const { n, temperature, top_p: topP, top_k: topK, min_p: minP, min_tokens: minTokens, presence_penalty: presence } = body;
  const { frequency_penalty: frequency, repetition_penalty: repetition, top_logprobs: topLogprobs } = body;
  const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? 1;
  const stops = stopsOf(body);
  check((n ?? 1) >= 1, `n must be at least 1, got ${n}.`);
  check((n ?? 1) <= MOST_CHOICES, `n must be at most ${MOST_CHOICES}, got ${n}.`);
  check(isWithin(presence ?? 0, -2, 2), `presence_penalty must be in [-2, 2], got ${float(presence ?? 0)}.`);
  check(isWithin(frequency ?? 0, -2, 2), `frequency_penalty must be in [-2, 2], got ${float(frequency ?? 0)}.`);
  check((repetition ?? 1) > 0, `repetition_penalty must be greater than zero, got ${float(repetition ?? 1)}.`);
  check((temperature ?? 1) >= 0, `temperature must be non-negative, got ${float(temperature ?? 1)}.`);
  check((temperature ?? 1) <= 2, `temperature must be in [0, 2], got ${float(temperature ?? 1)}.`);
  check((topP ?? 1) > 0 && (topP ?? 1) <= 1, `top_p must be in (0, 1], got ${float(topP ?? 1)}.`);
  check((topK ?? 0) >= -1, `top_k must be 0 (disable), or at least 1, got ${topK}.`);
  check(isWithin(minP ?? 0, 0, 1), `min_p must be in [0, 1], got ${float(minP ?? 0)}.`);
  check(maxTokens >= 1, `max_tokens must be at least 1, got ${maxTokens}.`);
  check((minTokens ?? 0) >= 0, `min_tokens must be greater than or equal to 0, got ${minTokens}.`);
  check(!stops.includes(''), 'stop cannot contain an empty string.');
  check(stops.length <= MOST_STOPS, `stop must have at most ${MOST_STOPS} strings, got ${stops.length}.`);
  check(!body.bad_words?.includes(''), "bad_words cannot contain an empty string. Got bad_words=['']");
  check(!isGreedy(temperature ?? 1) || (n ?? 1) === 1, `n must be 1 when using greedy sampling, got ${n}.`);
  const logprobs = topLogprobs === -1 ? Infinity : (topLogprobs ?? 0);
  check(logprobs <= MOST_LOGPROBS, `Requested sample logprobs of ${topLogprobs}, which is greater than max allowed: ${MOST_LOGPROBS}`);
  checkDialect(body);
}

function checkDialect({ typical_p: typicalP, mirostat_target: target, mirostat_lr: rate, echo_last: last }: ChatRequest): void {
  check(isWithin(typicalP ?? 1, 0, 1), `typical_p must be in [0, 1], got ${float(typicalP ?? 1)}.`);
  check((target ?? 0) >= 0, `mirostat_target must be non-negative, got ${float(target ?? 0)}.`);
  check((rate ?? 0) >= 0, `mirostat_lr must be non-negative, got ${float(rate ?? 0)}.`);
  check((last ?? 0) >= 0, `echo_last must be non-negative, got ${last}.`);
}

/** The stop strings of a body, however it says them. */
export const stopsOf = ({ stop }: ChatRequest): string[] => (typeof stop === 'string' ? [stop] : (stop ?? []));

/** A body whose ranges were checked and how many tokens may be made in, the sampling out; throws `BadRequest` for ids that are no tokens. */
export function toSampling(body: ChatRequest, tokenizer: ContainerTokenizer, maxTokens: number): SamplingParameters {
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
}

function toLogitBias(biases: Record<string, number>, tokenizer: ContainerTokenizer): Map<number, number> {
  const wrong = Object.keys(biases).filter((key) => !/^\s*[+-]?\d+\s*$/.test(key));
  const names = `[${wrong.map((key) => `'${key}'`).join(', ')}]`;
  check(wrong.length === 0, `logit_bias contains key(s) that cannot be converted to integer token IDs: ${names}`);
  const entries = Object.entries(biases).map(
    ([key, bias]) => [Number(key), Math.min(LARGEST_BIAS, Math.max(-LARGEST_BIAS, bias))] as const,
  );
  checkVocabulary(
    entries.map(([id]) => id),
    'logit_bias',
    tokenizer,
  );
  return new Map(entries);
}

const outOfVocabulary = (ids: readonly number[], { vocabularySize }: ContainerTokenizer): number[] =>
  ids.filter((id) => id < 0 || id >= vocabularySize);

function checkVocabulary(ids: readonly number[], field: string, tokenizer: ContainerTokenizer): void {
  const wrong = outOfVocabulary(ids, tokenizer);
  const size = `Vocabulary size: ${tokenizer.vocabularySize}`;
  check(wrong.length === 0, `token_id(s) ${listOf(wrong)} in ${field} contain out-of-vocab token ids. ${size}`);
}

function checkAllowed(ids: readonly number[], tokenizer: ContainerTokenizer): void {
  check(ids.length > 0, 'allowed_token_ids is not None and empty!');
  check(outOfVocabulary(ids, tokenizer).length === 0, 'allowed_token_ids contains out-of-vocab token id!');
}

/** A word at the beginning of a text and, where that makes other tokens as many, after a space: so vLLM does it. */
function toBadTokens(word: string, { encodeText }: ContainerTokenizer): number[][] {
  const plain = encodeText(word.trimStart());
  const spaced = encodeText(` ${word.trimStart()}`);
  check(plain.length > 0, 'bad_words entries must tokenize to at least one token.');
  return spaced[0] !== plain[0] && spaced.length === plain.length ? [plain, spaced] : [plain];
}
