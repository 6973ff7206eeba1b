import type { Database } from '../../database/database.ts';
import { inBatches } from '../../database/in-batches.ts';
import { DatabaseUnavailable } from '../../database/outage.ts';
import { MAX_WRITES, transact } from '../../database/transaction.ts';
import type { KeyItem } from '../item/key-item.ts';
import {
  type Configuration,
  type LimiterItem,
  limitConfiguration,
  limitsOf,
  nanosOfStored,
  shardsOf,
  WHOLE_ATTRIBUTES,
  wholeRateLimitsOf,
} from '../item/limiter-item.ts';
import type { BudgetPeriod, Limits } from '../item/limits.ts';
import { shardIds } from '../item/shards.ts';
import { epochKeyOf } from '../item/sweep-epoch.ts';
import { ChangedMeanwhile, toCheckVersion, toConfigure } from '../plans/configuration-write.ts';
import { redivide } from '../plans/share-limits.ts';
import { createLimiterReader, type LimiterReader } from './limiter-reader.ts';

/** A change of so many limiter items, with the writes of its resource and its audit entry, is one transaction. */
export const MAX_CHANGED_AT_ONCE = 88;

// Requests of a busy key can make the change fail this often.
const MAX_SPREAD_ATTEMPTS = 8;

const COMMON = [
  'status',
  'scope',
  'h',
  'h2',
  'h2_until',
  'models',
  'expires_at',
  'no_content',
  'no_o',
  'no_v',
  'log_o',
  'log_v',
  'log_k',
  'lim_o',
  'per_user',
  'prj',
  'no_fallback',
  'shards',
  ...WHOLE_ATTRIBUTES,
] as const;

const lower = (one: Limits, other: Limits): Limits => ({
  ...other,
  requestsPerMinute: Math.min(one.requestsPerMinute, other.requestsPerMinute),
  tokensPerMinute: Math.min(one.tokensPerMinute, other.tokensPerMinute),
  concurrency: Math.min(one.concurrency, other.concurrency),
  budgets: Object.fromEntries(
    (Object.entries(other.budgets) as [BudgetPeriod, bigint][]).map(([period, nanos]) => {
      const current = one.budgets[period];
      return [period, current !== undefined && current < nanos ? current : nanos];
    }),
  ),
});

/**
 * The first write of a change of many limiter items: the own item of the key or organization. No limit is raised yet.
 * The others follow with `spreadConfiguration`; if that does not happen, the sweep makes them follow.
 * @param part the own item's new part of the limits @param budgets of the whole
 */
export const beginSpreading = <Item extends LimiterItem>(
  own: Item,
  { set, remove }: Configuration<Item>,
  part: Limits,
  budgets: Limits['budgets'],
  nowMs: number,
): Configuration<Item> => {
  const limits = limitConfiguration(lower(limitsOf(own), part));
  return {
    set: { ...set, ...limits.set, pending: budgets, ep: epochKeyOf(own.id, nowMs) } as Partial<Item>,
    remove: [...remove.filter((name) => !(name in limits.set)), ...limits.remove.filter((name) => !remove.includes(name))],
  };
};

const configurationOf = (own: LimiterItem, limits: Limits): Configuration<KeyItem> => {
  const { set, remove } = limitConfiguration(limits);
  const common = own as KeyItem;
  return {
    set: { ...Object.fromEntries(COMMON.flatMap((name) => (common[name] === undefined ? [] : [[name, common[name]]]))), ...set },
    remove: [...COMMON.filter((name) => common[name] === undefined), ...remove],
  };
};

// First every part of a limit is lowered that must be, then the others are raised, so the parts never add up to more
// than the larger of the old and the new limits. It can be repeated, and runs concurrently with itself and with other
// changes: each of its transactions checks the version of the own item.
const spreadConfiguration = async (
  database: Database,
  table: string,
  { get, getMany }: LimiterReader,
  ownerId: string,
  nowMs: number,
): Promise<void> => {
  for (let attempt = 0; attempt < MAX_SPREAD_ATTEMPTS; attempt++) {
    const own = await get(ownerId);
    if (!own?.pending) return;
    const items = [own, ...(await getMany(shardIds(ownerId, shardsOf(own)).slice(1)))];
    const whole = { ...limitsOf(own), ...wholeRateLimitsOf(own), budgets: nanosOfStored(own.pending) };
    const parts = redivide(whole, items, nowMs);
    const version = Math.max(...items.map(({ cfg }) => cfg)) + 1;
    const changes = items.map((item, i) => ({ item, part: parts[i] as (typeof parts)[number] }));
    try {
      let known = own.cfg;
      for (const batch of inBatches(changes, MAX_WRITES - 1)) {
        const isOwn = batch[0]?.item === own;
        const writes = batch.map(({ item, part: { limits, most, least } }) => {
          const expected = { most, least, atMs: nowMs, ...(item === own && { cfg: known }) };
          return toConfigure(table, item.id, configurationOf(own, lower(limitsOf(item), limits)), expected, version);
        });
        await transact(database, isOwn ? writes : [toCheckVersion(table, ownerId, known), ...writes]);
        if (isOwn) known = version;
      }
      // The own item comes last, because it shows that the change is complete.
      for (const batch of inBatches(changes.toReversed(), MAX_WRITES - 1)) {
        const isOwn = batch.at(-1)?.item === own;
        const writes = batch.map(({ item, part: { limits } }) => {
          const { set, remove } = configurationOf(own, limits);
          const isLast = item === own;
          const configuration = { set, remove: isLast ? [...remove, 'pending' as const] : remove };
          return toConfigure<KeyItem>(table, item.id, configuration, isLast ? { cfg: version } : {}, version + 1);
        });
        await transact(database, isOwn ? writes : [toCheckVersion(table, ownerId, version), ...writes]);
      }
      return;
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
    }
  }
  throw new DatabaseUnavailable(new Error(`The shards of ${ownerId} changed during each of ${MAX_SPREAD_ATTEMPTS} attempts.`));
};

/** The completion of changes, for the functions that make them or find one that was not completed. */
export const createSpread = (database: Database, table: string) => {
  const reader = createLimiterReader(database, table);
  return {
    /** Completes a change that has not reached all shards. @throws 503 if the shards changed during every attempt */
    spread: (ownerId: string, nowMs: number): Promise<void> => spreadConfiguration(database, table, reader, ownerId, nowMs),
  };
};

export type Spread = ReturnType<typeof createSpread>;
