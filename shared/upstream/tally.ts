import { estimateTokens } from '../tokens/estimate.ts';
import type { UpstreamChunk, UpstreamUsage } from './chunk.ts';

export interface TokenCount {
  promptTokens: number;
  completionTokens: number;
  source: 'runtime' | 'estimated';
}

/** Watches an answer go by and counts what will be billed. */
export const createTally = (promptBytes: number, now: () => number) => {
  let usage: UpstreamUsage | undefined;
  let outputBytes = 0;
  let firstTokenAtMs: number | undefined;
  let finishReason: string | undefined;
  return {
    take: (chunk: UpstreamChunk): void => {
      if (chunk.usage) usage = chunk.usage;
      for (const choice of chunk.choices ?? []) {
        const text = choice.delta?.content;
        if (text) {
          outputBytes += Buffer.byteLength(text);
          firstTokenAtMs ??= now();
        }
        if (choice.finish_reason) finishReason = choice.finish_reason;
      }
    },
    /** The runtime's own count where it gave one; else an estimate from bytes; nothing at all if nothing was delivered. */
    count: (): TokenCount => {
      if (usage) return { promptTokens: usage.prompt_tokens ?? 0, completionTokens: usage.completion_tokens ?? 0, source: 'runtime' };
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
