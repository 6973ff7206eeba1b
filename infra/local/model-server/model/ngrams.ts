/** A trigram predicts a token from the two before it. */
export const LONGEST_CONTEXT = 2;

/** Every token that followed a context, as often as it followed; one map for contexts of one token, one for two. */
export interface Ngrams {
  radix: number;
  followers: readonly Map<number, number[]>[];
}

/** Creates empty n-grams. All token ids must be below `radix`. */
export const createNgrams = (radix: number): Ngrams => ({
  radix,
  followers: Array.from({ length: LONGEST_CONTEXT }, () => new Map<number, number[]>()),
});

/** Counts a token sequence. Its first token serves only as context. */
export const countSequence = (ngrams: Ngrams, tokens: readonly number[]): void => {
  for (let end = 1; end < tokens.length; end++) {
    let key = 0;
    for (let length = 1; length <= LONGEST_CONTEXT && length <= end; length++) {
      key = extendKey(ngrams, key, tokens[end - length] ?? 0, length);
      const table = ngrams.followers[length - 1];
      const known = table?.get(key);
      if (known) known.push(tokens[end] ?? 0);
      else table?.set(key, [tokens[end] ?? 0]);
    }
  }
};

/** Returns the followers of the context's last token, then those of its last two tokens. An unseen context has none. */
export const followersOf = (ngrams: Ngrams, context: readonly number[]): readonly (readonly number[])[] => {
  let key = 0;
  return ngrams.followers.map((table, i) => {
    const token = context.at(-1 - i);
    if (token === undefined) return [];
    key = extendKey(ngrams, key, token, i + 1);
    return table.get(key) ?? [];
  });
};

const extendKey = ({ radix }: Ngrams, key: number, token: number, length: number): number => key + token * radix ** (length - 1);
