import type { Reply } from './reply.ts';

/** Facts that the checks need first: the container's greedy answer to BASE. */
export interface Facts {
  /** '' if it returned none. */
  greedy: string;
  /** A whole word of the answer, not the first one. */
  word: string | undefined;
  /** The tokens of the answer and of the prompt; empty if the container does not return them. */
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
