import { estimateTokens } from '../tokens/estimate.ts';
import type { UpstreamChunk, UpstreamDelta, UpstreamUsage } from './chunk.ts';

/** A count as a runtime gave it, if it is one; anything else must never reach a bill. */
const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** Everything that a choice's delta makes the model write: text, reasoning and the arguments of calls. */
const writtenBytes = ({ content, reasoning, reasoning_content, tool_calls }: UpstreamDelta): number => {
  const texts = [content, reasoning ?? reasoning_content, ...(tool_calls ?? []).map((call) => call.function?.arguments)];
  return texts.reduce<number>((bytes, text) => bytes + (typeof text === 'string' ? Buffer.byteLength(text) : 0), 0);
};

const MAX_REASON_CHARACTERS = 40;

export interface TokenCount {
  promptTokens: number;
  completionTokens: number;
  source: 'runtime' | 'estimated';
}

/** Watches an answer go by and counts what will be billed. */
export const createTally = (promptBytes: number, now: () => number) => {
  let usage: (UpstreamUsage & { prompt_tokens: number; completion_tokens: number }) | undefined;
  let outputBytes = 0;
  let firstTokenAtMs: number | undefined;
  let finishReason: string | undefined;
  return {
    take: (chunk: UpstreamChunk): void => {
      const prompt_tokens = countOf(chunk.usage?.prompt_tokens);
      const completion_tokens = countOf(chunk.usage?.completion_tokens);
      if (chunk.usage && prompt_tokens !== undefined && completion_tokens !== undefined)
        usage = { ...chunk.usage, prompt_tokens, completion_tokens };
      for (const { delta, finish_reason } of chunk.choices ?? []) {
        const bytes = delta ? writtenBytes(delta) : 0;
        outputBytes += bytes;
        if (bytes > 0) firstTokenAtMs ??= now();
        if (typeof finish_reason === 'string') finishReason = finish_reason.toWellFormed().slice(0, MAX_REASON_CHARACTERS);
      }
    },
    /** The runtime's own count where it gave one; else an estimate from bytes; nothing at all if nothing was delivered. */
    count: (): TokenCount => {
      if (usage) return { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens, source: 'runtime' };
      if (outputBytes === 0) return { promptTokens: 0, completionTokens: 0, source: 'estimated' };
      return { promptTokens: estimateTokens(promptBytes), completionTokens: estimateTokens(outputBytes), source: 'estimated' };
    },
    get usage(): UpstreamUsage | undefined {
      return usage;
    },
    get firstTokenAtMs(): number | undefined {
      return firstTokenAtMs;
    },
    get finishReason(): string | undefined {
      return finishReason;
    },
  };
};

export type Tally = ReturnType<typeof createTally>;
