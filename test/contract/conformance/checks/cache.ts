import { type Check, reply } from '../check.ts';
import { accepted, fails, works } from '../verdict.ts';

// Long enough to fill several blocks, since caches store whole blocks of tokens.
const LONG = [{ role: 'user', content: `${'A river is a long way to the sea. '.repeat(40)}Go on.` }];

/** The fields that isolate the prompt cache. */
export const cacheChecks: readonly Check[] = [
  {
    field: 'prompt_cache_isolation_key',
    bodies: () =>
      ['one', 'one', 'other'].map((prompt_cache_isolation_key) => ({ messages: LONG, max_tokens: 1, prompt_cache_isolation_key })),
    judge: (replies) => {
      const [again, other] = [reply(replies, 1), reply(replies, 2)];
      if (again.sent.cache_salt === other.sent.cache_salt) return fails('two keys get the same salt');
      if (!again.cachedTokens) return accepted;
      return (other.cachedTokens ?? 0) < again.cachedTokens ? works : fails('the cached prompt is used for another key');
    },
  },
];
