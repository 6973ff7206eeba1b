import type { UpstreamChunk, UpstreamDelta, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import { estimateTokens } from './prompt-size.ts';

/** A runtime's count, if it is valid; anything else must never be billed. */
const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** All output in a choice's delta: text, reasoning, and the names and arguments of calls. */
const writtenText = ({ content, reasoning, reasoning_content, tool_calls }: UpstreamDelta): string => {
  const texts = [reasoning || reasoning_content, content];
  for (const call of Array.isArray(tool_calls) ? tool_calls : []) texts.push(call.function?.name, call.function?.arguments);
  let written = '';
  for (const text of texts) if (typeof text === 'string') written += text;
  return written;
};

const MAX_REASON_CHARACTERS = 40;
/** A text longer than this is estimated rather than counted. */
const MAX_KEPT_CHARACTERS = 1_000_000;

export interface TokenCount {
  promptTokens: number;
  /** The part of the prompt's tokens that the runtime read from its prompt cache. */
  cachedTokens: number;
  completionTokens: number;
  source: 'runtime' | 'estimated';
}

interface TallyFacts {
  promptBytes: number;
  /** Whether to keep the output, so that a tokenizer can count it if the runtime doesn't. */
  keepsText: boolean;
  /** The number of characters at the beginning of a choice that echo its prompt. */
  echoedCharacters: (choice: number) => number;
  /** Whether only the echo is requested: vLLM generates and counts a token that it doesn't send. */
  isEchoOnly?: boolean;
  now: () => number;
}

/** Counts what an answer uses, chunk by chunk, for billing. */
export const createTally = ({ promptBytes, keepsText, echoedCharacters, isEchoOnly, now }: TallyFacts) => {
  let usage: (UpstreamUsage & { prompt_tokens: number; completion_tokens: number }) | undefined;
  /** Whether output followed the runtime's last count. */
  let isStale = false;
  let promptTokens = estimateTokens(promptBytes);
  let completionTokens: number | undefined;
  let outputBytes = 0;
  let firstTokenAtMs: number | undefined;
  let finishReason: string | undefined;
  const texts = new Map<number, string>();
  let keptCharacters = 0;
  const echoes = new Map<number, number>();

  /** A choice's output without its echoed prompt. */
  const withoutEcho = (choice: number, output: string): string => {
    const echoed = echoes.get(choice) ?? echoedCharacters(choice);
    if (echoed === 0) return output;
    echoes.set(choice, Math.max(0, echoed - output.length));
    return output.slice(echoed);
  };

  const keep = (choice: number, written: string): void => {
    keptCharacters += written.length;
    if (keptCharacters > MAX_KEPT_CHARACTERS) texts.clear();
    else texts.set(choice, (texts.get(choice) ?? '') + written);
  };

  const takeUsage = (reported: UpstreamUsage): void => {
    const prompt_tokens = countOf(reported.prompt_tokens);
    const completion_tokens = isEchoOnly ? 0 : countOf(reported.completion_tokens);
    if (prompt_tokens !== undefined) promptTokens = prompt_tokens;
    if (prompt_tokens === undefined || completion_tokens === undefined) return;
    usage = { ...reported, prompt_tokens, completion_tokens };
    isStale = false;
  };
  const finalUsage = () => (isStale ? undefined : usage);

  return {
    take: (chunk: UpstreamChunk): void => {
      for (const { index, delta, finish_reason } of chunk.choices ?? []) {
        const written = delta ? withoutEcho(index ?? 0, writtenText(delta)) : '';
        if (written) {
          outputBytes += Buffer.byteLength(written);
          isStale = true;
          firstTokenAtMs ??= now();
          if (keepsText) keep(index ?? 0, written);
        }
        if (typeof finish_reason === 'string') finishReason = finish_reason.toWellFormed().slice(0, MAX_REASON_CHARACTERS);
      }
      if (chunk.usage) takeUsage(chunk.usage);
    },
    /** The runtime's own count if it sent one; else ours, by tokenizer or from bytes; zero if nothing was delivered. */
    count: (): TokenCount => {
      const counted = finalUsage();
      if (counted) {
        const { prompt_tokens, completion_tokens, prompt_tokens_details } = counted;
        const cachedTokens = Math.min(countOf(prompt_tokens_details?.cached_tokens) ?? 0, prompt_tokens);
        return { promptTokens: prompt_tokens, cachedTokens, completionTokens: completion_tokens, source: 'runtime' };
      }
      const cachedTokens = 0;
      if (outputBytes === 0) return { promptTokens: 0, cachedTokens, completionTokens: 0, source: 'estimated' };
      return { promptTokens, cachedTokens, completionTokens: completionTokens ?? estimateTokens(outputBytes), source: 'estimated' };
    },
    /** Replaces the estimates with a tokenizer's counts. */
    counted: (counts: { promptTokens?: number | undefined; completionTokens?: number | undefined }): void => {
      promptTokens = counts.promptTokens ?? promptTokens;
      completionTokens = counts.completionTokens ?? completionTokens;
    },
    /** The output of each choice, if the runtime has not counted it and all of it was kept. */
    uncounted: (): string[] => (finalUsage() || keptCharacters > MAX_KEPT_CHARACTERS ? [] : [...texts.values()]),
    get usage(): UpstreamUsage | undefined {
      return finalUsage();
    },
    get firstTokenAtMs(): number | undefined {
      return firstTokenAtMs;
    },
    get finishReason(): string | undefined {
      return finishReason;
    },
  };
};
