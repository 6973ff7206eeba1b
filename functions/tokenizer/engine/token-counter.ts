import type { AddedTokens } from './added-tokens.ts';
import type { Words } from './words.ts';

// The tokens of a part of a text: an exact count, or a lower bound.
type PartCount = { count: number } | { moreThan: number };

/** Counts texts that share parts; each part is counted only once. For one request. */
export interface TokenCounter {
  /**
   * The number of tokens of a text, without the special tokens that a tokenizer adds.
   * @param limit stop encoding, from the end of the text, once there are more tokens than this
   * @returns undefined if there are more than `limit`
   * @throws TextRefused for a text that takes too long
   */
  count(text: string, limit?: number): number | undefined;
}

/**
 * Returns a function that creates a counter for a request. All counters of a tokenizer share the cache of encoded
 * words.
 */
export const createTokenCounters = ({ split, splitPlain }: AddedTokens, createWords: () => Words): (() => TokenCounter) => {
  return () => {
    const words = createWords();
    /** Counts plain text between two added tokens; after normalization it can contain more added tokens. */
    const countPlain = (text: string, isFirst: boolean, limit: number): number | undefined => {
      let count = 0;
      for (const [i, section] of splitPlain(text).entries()) {
        if (section === '') continue;
        const more = i % 2 === 1 ? 1 : words.count(section, isFirst, limit - count);
        if (more === undefined || count + more > limit) return undefined;
        count += more;
      }
      return count;
    };

    const memory = [new Map<string, PartCount>(), new Map<string, PartCount>()] as const;

    const countSection = (section: string, isFirst: boolean, limit: number): number | undefined => {
      const memo = memory[isFirst ? 1 : 0];
      const known = memo.get(section);
      if (known && 'count' in known) return known.count > limit ? undefined : known.count;
      if (known && known.moreThan >= limit) return undefined;
      const count = countPlain(section, isFirst, limit);
      memo.set(section, count === undefined ? { moreThan: limit } : { count });
      return count;
    };

    return {
      count: (text, limit = Number.POSITIVE_INFINITY) => {
        const sections = split(text);
        let count = 0;
        // From the end, because messages are evicted from the beginning.
        for (let i = sections.length - 1; i >= 0; i--) {
          const section = sections[i] ?? '';
          if (section === '') continue;
          const more = i % 2 === 1 ? 1 : countSection(section, i === 0, limit - count);
          if (more === undefined || count + more > limit) return undefined;
          count += more;
        }
        return count;
      },
    };
  };
};
