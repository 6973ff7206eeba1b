import type { UpstreamChoice, UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { WholeReply } from './inference-route.ts';

// Characters of deltas as JSON. The log keeps 1 MB of text, and a delta is mostly the JSON around its text.
const MAX_CHARACTERS = 6_000_000;

/** Collects a stream as a whole reply, for the payload log. */
export interface CollectedStream {
  /** Never throws. */
  take: (chunks: readonly UpstreamChunk[]) => void;
  /** True if the stream was too long to be kept whole. */
  isCut: () => boolean;
  /** The whole reply. @throws the error that occurred in `take` */
  content: () => Record<string, unknown>;
}

const charactersOf = ({ delta, message, text }: UpstreamChoice): number => JSON.stringify(delta ?? message ?? text ?? '').length;

// Token ids and log probabilities are not logged, and take many times the memory of their text.
const withoutTokens = ({ prompt_token_ids: _prompt, choices, ...chunk }: UpstreamChunk): UpstreamChunk => ({
  ...chunk,
  ...(choices && { choices: choices.map(({ logprobs: _scores, token_ids: _ids, prompt_token_ids: _promptIds, ...choice }) => choice) }),
});

/** @param usage returns the usage so far */
export const collectStream = (whole: WholeReply, usage: () => UpstreamUsage): CollectedStream => {
  let characters = 0;
  let isCut = false;
  let failure: { error: unknown } | undefined;

  const fits = (chunks: readonly UpstreamChunk[]): boolean => {
    for (const { choices } of chunks) for (const choice of choices ?? []) characters += charactersOf(choice);
    return characters <= MAX_CHARACTERS;
  };

  return {
    take: (chunks) => {
      if (isCut || failure) return;
      try {
        isCut = !fits(chunks);
        if (!isCut) whole.take(chunks.map(withoutTokens));
      } catch (error) {
        failure = { error };
      }
    },
    isCut: () => isCut,
    content: () => {
      if (failure) throw failure.error;
      return whole.whole(usage());
    },
  };
};
