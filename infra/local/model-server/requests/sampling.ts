import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { PLAIN_SAMPLING, type SamplingParameters } from '../sampling/parameters.ts';
import type { SharedFields } from './fields.ts';

const LARGEST_BIAS = 100;
const DEFAULT_MIROSTAT_RATE = 0.1;

/** Returns the sampling of a request. The gateway has checked the ranges. */
export const toSampling = (body: SharedFields, tokenizer: ContainerTokenizer): SamplingParameters => {
  const { min_tokens: minTokens = 0, mirostat_target: target, allowed_token_ids: allowed } = body;
  const stopTokens = body.stop_token_ids ?? [];
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
    logitBias: toLogitBias(body.logit_bias ?? {}),
    allowedTokens: allowed ? new Set(allowed) : null,
    badWords: (body.bad_words ?? []).flatMap((word) => toBadTokens(word, tokenizer)),
    minTokens,
    endingTokens: [tokenizer.specials.endOfTurn, ...stopTokens],
  };
};

const toLogitBias = (biases: Record<string, number>): Map<number, number> => {
  const clamp = (bias: number): number => Math.min(LARGEST_BIAS, Math.max(-LARGEST_BIAS, bias));
  return new Map(Object.entries(biases).map(([key, bias]) => [Number(key), clamp(bias)]));
};

// Like vLLM, encodes a word without a space before it and, if that gives as many but different tokens, with one.
const toBadTokens = (word: string, { encodePrompt }: ContainerTokenizer): number[][] => {
  const plain = encodePrompt(word.trimStart());
  const spaced = encodePrompt(` ${word.trimStart()}`);
  return spaced[0] !== plain[0] && spaced.length === plain.length ? [plain, spaced] : [plain];
};
