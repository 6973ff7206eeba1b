import type { Reply } from './reply.ts';

/** What is known of the container before anything else is asked: its likeliest answer to BASE. */
export interface Facts {
  /** '' where it did not give one. */
  greedy: string;
  /** A whole word of it, not the first one. */
  word: string | undefined;
  /** Its tokens, and those of the prompt; none where the container does not tell them. */
  tokenIds: readonly number[];
  promptTokenIds: readonly number[];
}

const A_WORD = /(?<=[\p{L},;:.]\s)\p{L}{4,}(?=[\s,.])/u;

export const factsOf = (plain: Reply | undefined, withIds: Reply | undefined): Facts => {
  const greedy = plain?.text ?? '';
  return {
    greedy,
    word: A_WORD.exec(greedy)?.[0],
    tokenIds: withIds?.tokenIds ?? [],
    promptTokenIds: withIds?.promptTokenIds ?? [],
  };
};
