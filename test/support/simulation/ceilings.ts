import { type Alignment, toTable } from '../../../infra/tools/table.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import type { SimulatedLoad } from './load.ts';
import type { SimulatedResult } from './simulate-load.ts';
import type { ThrottleCause } from './throughput.ts';

export const START = 29_000_000 * MINUTE_MS;
const DOLLAR = 1_000_000_000n;
const PLENTY_OF_TOKENS = 10_000_000_000;
/** Each puts the ids in other partitions. They are tried in their order, until one is not served. */
export const SEEDS = [20_261_127, 1, 2, 3, 4] as const;

/** Short answers, such as of embeddings or of a small model: the hardest for the tables at a given rate. */
export const SHORT_ANSWERS = {
  seed: SEEDS[0],
  startMs: START,
  answerMs: 150,
  request: { tokens: 500, holdNanos: DOLLAR / 1_000n, usedTokens: 300, costNanos: (6n * DOLLAR) / 10_000n },
} as const;

const REQUESTS_PER_SECOND = 10_000;
// A function gets 1,000 environments in ten seconds, and these are 1,500.
const RAMP_SECONDS = 15;
const AS_LAMBDA_SCALES = { rampSeconds: RAMP_SECONDS, seconds: RAMP_SECONDS + 3 };

const ONE_KEY = { keys: 1, key: { requests_per_minute: 1_000_000, tokens_per_minute: PLENTY_OF_TOKENS, concurrency: 4_000 } };
const TEN_KEYS = { keys: 10, key: { requests_per_minute: 200_000, tokens_per_minute: PLENTY_OF_TOKENS, concurrency: 600 } };
const LIMITED = {
  organization: {
    requestsPerMinute: 1_000_000,
    tokensPerMinute: PLENTY_OF_TOKENS,
    concurrency: 5_000,
    budgets: { month: 1_000n * DOLLAR },
  },
  creditNanos: 1_000n * DOLLAR,
};
const GROWN = { ...LIMITED, organizationShards: 256 };
const WARM = { keys: { writes: 30_000, reads: 40_000 }, usage: { writes: 15_000, reads: 12_000 } };
const AT_QUOTA = { keys: { writes: 40_000, reads: 40_000 }, usage: { writes: 15_000, reads: 12_000 } };
const RAISED = {
  warm: { keys: { writes: 90_000, reads: 40_000 }, usage: { writes: 15_000, reads: 12_000 } },
  quota: { writes: 100_000, reads: 100_000 },
};

interface Ceiling {
  /** The sender of the requests. */
  name: string;
  /** The writes a second that the tables serve at once. */
  tables: string;
  load: SimulatedLoad;
  /** All requests are admitted, and at most one in a hundred is throttled, with each of the seeds. */
  holds: boolean;
}

const NEW = 'new';

// A table that can't serve the load is only overloaded more and more.
const ceiling = (name: string, tables: string, holds: boolean, load: Omit<Partial<SimulatedLoad>, 'seed'> & typeof TEN_KEYS): Ceiling => ({
  name,
  tables,
  holds,
  load: { ...SHORT_ANSWERS, requestsPerSecond: REQUESTS_PER_SECOND, seconds: tables === NEW ? 2.5 : 8, rampSeconds: 1, ...load },
});

const WARMED = '`keys` 30,000, `usage` 15,000';
const WITH_LIMITS = 'ten keys, organization with limits and credit';
// The highest limits of a key that has one limiter item.
const ONE_ITEM = { keys: 1, key: { requests_per_minute: 24_000, tokens_per_minute: PLENTY_OF_TOKENS, concurrency: 12 } };

/** The simulated configurations, each at 10,000 requests a second. */
export const CEILINGS: readonly Ceiling[] = [
  ceiling('one key with the highest limits of one item', WARMED, false, { ...ONE_ITEM, warm: WARM }),
  ceiling('one key', NEW, false, ONE_KEY),
  ceiling('one key', WARMED, false, { ...ONE_KEY, warm: WARM }),
  ceiling('one key', '`keys` 30,000, `usage` 40,000', false, { ...ONE_KEY, warm: { ...WARM, usage: AT_QUOTA.keys } }),
  ceiling('ten keys', NEW, false, TEN_KEYS),
  ceiling('ten keys', WARMED, true, { ...TEN_KEYS, warm: WARM }),
  ceiling(WITH_LIMITS, NEW, false, { ...TEN_KEYS, ...GROWN }),
  ceiling(WITH_LIMITS, '`keys` 40,000 (the quota), `usage` 15,000', false, { ...TEN_KEYS, ...GROWN, warm: AT_QUOTA }),
  ceiling(WITH_LIMITS, '`keys` 90,000, `usage` 15,000', true, { ...TEN_KEYS, ...GROWN, ...RAISED, ...AS_LAMBDA_SCALES }),
  ceiling('the same, never used before', '`keys` 90,000, `usage` 15,000', true, {
    ...TEN_KEYS,
    ...LIMITED,
    ...RAISED,
    ...AS_LAMBDA_SCALES,
  }),
  ceiling('the same, never used before, all within a second', '`keys` 90,000, `usage` 15,000', false, {
    ...TEN_KEYS,
    ...LIMITED,
    ...RAISED,
  }),
];

const WORDS: Readonly<Record<ThrottleCause, string>> = {
  'item writes': 'one item, by writes',
  'item reads': 'one item, by reads',
  'partition writes': 'a partition with several items, by writes',
  'partition reads': 'a partition with several items, by reads',
  'quota writes': "the account's quota, by writes",
  'quota reads': "the account's quota, by reads",
};

const shownThrottle = ({ firstThrottle, rejected }: SimulatedResult): string => {
  if (firstThrottle) return `\`${firstThrottle.where}\`: ${WORDS[firstThrottle.cause]}`;
  return rejected > 0 ? 'its own limits: 429' : 'none';
};

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(2)}%`;

// The seed with the most throttles.
const worstOf = (results: readonly SimulatedResult[]): SimulatedResult =>
  results.reduce((worst, result) => (result.throttled / result.offered > worst.throttled / worst.offered ? result : worst));

const rowOf = ({ name, tables }: Ceiling, result: SimulatedResult): string[] => [
  name,
  tables,
  result.offered.toLocaleString('en-US'),
  percent(result.admitted, result.offered),
  percent(result.throttled, result.offered),
  percent(result.late, result.offered),
  shownThrottle(result),
];

const HEAD = ['Who sends', 'Tables serve (writes a second)', 'Requests', 'Admitted', 'Throttled', 'Late', 'First throttle'];
const ALIGNMENTS: readonly Alignment[] = ['left', 'left', 'right', 'right', 'right', 'right', 'left'];

/** The table of docs/capacity.md. @param results those of each configuration, in their order */
export const ceilingsTable = (results: readonly (readonly SimulatedResult[])[]): string =>
  toTable([HEAD, ...results.map((ofSeeds, i) => rowOf(CEILINGS[i] as Ceiling, worstOf(ofSeeds)))], ALIGNMENTS);
