import type { UpstreamChoice, UpstreamChunk, UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import type { WholeReply } from './inference-route.ts';

// Characters of deltas as JSON, which is mostly around their text: each delta takes memory besides its text.
const MAX_CHARACTERS = 6_000_000;
// Characters of the text in the deltas. The log keeps 1 MB, and redaction can leave less of it.
const MAX_TEXT_CHARACTERS = 2_000_000;

/** Collects a stream as a whole reply, for the payload log. */
export interface CollectedStream {
  /** Never throws. */
  take: (chunks: readonly UpstreamChunk[]) => void;
  /** True if the stream was too long to be kept whole. */
  isCut: () => boolean;
  /** The whole reply. @throws the error that occurred in `take` */
  content: () => Record<string, unknown>;
}

const contentOf = ({ delta, message, text }: UpstreamChoice): unknown => delta ?? message ?? text ?? '';

const textCharacters = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + textCharacters(part), 0);
};

// Token ids and log probabilities are not logged, and take many times the memory of their text.
const withoutTokens = ({ prompt_token_ids: _prompt, choices, ...chunk }: UpstreamChunk): UpstreamChunk => ({
  ...chunk,
  ...(choices && { choices: choices.map(({ logprobs: _scores, token_ids: _ids, prompt_token_ids: _promptIds, ...choice }) => choice) }),
});

/** @param usage returns the usage so far */
export const collectStream = (whole: WholeReply, usage: () => UpstreamUsage): CollectedStream => {
  let characters = 0;
  let ofText = 0;
  let isCut = false;
  let failure: { error: unknown } | undefined;

  const fits = (chunks: readonly UpstreamChunk[]): boolean => {
    for (const { choices } of chunks)
      for (const choice of choices ?? []) {
        const content = contentOf(choice);
        ofText += textCharacters(content);
        characters += JSON.stringify(content).length;
      }
    return characters <= MAX_CHARACTERS && ofText <= MAX_TEXT_CHARACTERS;
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
