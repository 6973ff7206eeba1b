import type { Limits } from '../../../shared/admission/item/limits.ts';
import type { Database } from '../../../shared/database/database.ts';
import type { TestKey } from '../fixtures/create-key.ts';
import type { Units } from './throughput.ts';

/** An organization and what it sends. */
export interface SimulatedLoad {
  seed: number;
  startMs: number;
  requestsPerSecond: number;
  seconds: number;
  /** Until the rate is reached. */
  rampSeconds: number;
  /** The mean time of an answer. */
  answerMs: number;
  keys: number;
  /** Limits of each key. */
  key: Pick<TestKey, 'requests_per_minute' | 'tokens_per_minute' | 'concurrency' | 'total_budget_nanos'>;
  /** Limits of the organization; absent: it has no limiter. */
  organization?: Partial<Limits>;
  creditNanos?: bigint;
  /** Limiter items that the organization has from earlier loads. */
  organizationShards?: number;
  /** The amounts that a request reserves and uses. */
  request: { tokens: number; holdNanos: bigint; usedTokens: number; costNanos: bigint };
  /** The units that the tables serve at once; default: those of new ones. */
  warm?: { keys?: Units; usage?: Units };
  /** The account's quota of each table; default: that of a new account. */
  quota?: Units;
  /** Breaks the database of the functions on purpose. */
  broken?: (database: Database) => Database;
}
