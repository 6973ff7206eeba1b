import type { AddedTokens } from './added-tokens.ts';
import type { Words } from './words.ts';

/** How many tokens a part of a text has: exactly, or more than so many. */
type Known = { count: number } | { moreThan: number };

/** Counts texts that have much in common: what was counted once is not counted again. For one request. */
export interface TokenCounter {
  /**
   * How many tokens a text is encoded to, without any that a tokenizer adds of its own accord.
   * @param limit from the end of the text no more is encoded than shows that there are more than this
   * @returns undefined when there are more than `limit`
   * @throws TextRefused for a text that takes too long
   */
  count(text: string, limit?: number): number | undefined;
}

/** A function that makes a counter for a request. What is known of words is shared by all counters of a tokenizer. */
export const createTokenCounters = ({ split, splitPlain }: AddedTokens, createWords: () => Words): (() => TokenCounter) => {
  return () => {
    const words = createWords();
    /** Plain text between two added tokens; after normalizing it may have more of them. */
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

    const memory = [new Map<string, Known>(), new Map<string, Known>()] as const;

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
        // From the end, because the beginning is what is cut off where there is too much.
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
