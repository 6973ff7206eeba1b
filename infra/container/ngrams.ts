/** A trigram looks at two tokens before the next one. */
export const LONGEST_CONTEXT = 2;

/** For contexts of one and of two tokens, every token that followed, as often as it followed. */
export interface Ngrams {
  readonly radix: number;
  readonly followers: readonly Map<number, number[]>[];
}

/** Token ids below `radix` are expected by everything here. */
export const createNgrams = (radix: number): Ngrams => ({
  radix,
  followers: Array.from({ length: LONGEST_CONTEXT }, () => new Map<number, number[]>()),
});

/** Adds a token sequence to the counts; its first token only serves as context. */
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

/**
 * The last tokens of a text in, the followers of its last token and of its last two tokens out, in this order;
 * an empty list where the context was never seen.
 */
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
