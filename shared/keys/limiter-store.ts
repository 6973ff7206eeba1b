import { GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type Database, isConditionFailed } from '../database/client.ts';
import { queryItems } from '../database/query.ts';
import { minuteOf } from '../limits/window.ts';
import { epochKeyOf, epochPartition } from './epoch.ts';
import type { LimiterItem } from './limiter.ts';

export const EPOCH_INDEX = 'epoch';

/** One reservation to be written, and the bounds that prove that it fits; no bound is ever negative. */
export interface Reservation {
  limiterId: string;
  requestId: string;
  admittedAtMs: number;
  tokens: number;
  /** The configuration version that the decision was made on. */
  cfg: number;
  concurrency: number;
  /** The minute to count in; our own, or the next when our clock is behind. */
  minute: number;
  /** The most that the previous minute may hold for the bounds to be right. */
  previousRequests: number;
  previousTokens: number;
  /** The most that the current minute may hold before this request. */
  maxRequests: number;
  maxTokens: number;
}

/** The clauses of ADMIT. Each must hold at the write, or nothing is written. */
const ADMIT_CLAUSES = [
  'cfg = :cfg', // status, hash, allow-list, expiry and limits are those that were checked
  'attribute_not_exists(fl.#id)', // not admitted already: a retry of this very write
  'size(fl) < :c',
  'attribute_not_exists(#rn)', // nobody's clock has reached the next minute
  '(attribute_not_exists(#rp) OR #rp <= :rp)', // the previous minute was not underrated
  '(attribute_not_exists(#rc) OR #rc <= :rmax)',
  '(attribute_not_exists(#tp) OR #tp <= :tp)',
  '(attribute_not_exists(#tc) OR #tc <= :tmax)',
].join(' AND ');

/** Counters of minutes before this many are done for and removed when a request is released. */
const KEPT_MINUTES = 3;
/** At release, reserved tokens are corrected only while the minute of the admission still counts. */
const CORRECTED_MINUTES = 1;
const MAX_PAGES = 100;

export type AdmitResult = { admitted: LimiterItem } | { refused: LimiterItem | undefined };

/** The `keys` table: limiter items. The only code that knows its attributes, conditions and index. */
export const createLimiterStore = (database: Database, table: string) => ({
  /** Puts a new limiter item; one with the same id is a mistake and refused. */
  create: async (item: LimiterItem): Promise<void> => {
    await database.send(new PutCommand({ TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(id)' }));
  },

  /** The item as of now, or undefined. */
  get: async (id: string): Promise<LimiterItem | undefined> => {
    const { Item } = await database.send(new GetCommand({ TableName: table, Key: { id }, ConsistentRead: true }));
    return Item as LimiterItem | undefined;
  },

  /** ADMIT: takes the reservation iff every clause holds; otherwise gives the item as it stands (undefined: no such key). */
  admit: async (r: Reservation): Promise<AdmitResult> => {
    try {
      const { Attributes } = await database.send(
        new UpdateCommand({
          TableName: table,
          Key: { id: r.limiterId },
          UpdateExpression: 'SET fl.#id = :entry, last_used = :now, ep = :ep ADD #rc :one, #tc :tok',
          ConditionExpression: ADMIT_CLAUSES,
          ExpressionAttributeNames: {
            '#id': r.requestId,
            '#rc': `r${r.minute}`,
            '#tc': `t${r.minute}`,
            '#rp': `r${r.minute - 1}`,
            '#tp': `t${r.minute - 1}`,
            '#rn': `r${r.minute + 1}`,
          },
          ExpressionAttributeValues: {
            ':entry': [r.admittedAtMs, r.tokens],
            ':now': r.admittedAtMs,
            ':ep': epochKeyOf(r.limiterId, r.admittedAtMs),
            ':one': 1,
            ':tok': r.tokens,
            ':cfg': r.cfg,
            ':c': r.concurrency,
            ':rp': r.previousRequests,
            ':tp': r.previousTokens,
            ':rmax': r.maxRequests,
            ':tmax': r.maxTokens,
          },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return { admitted: Attributes as LimiterItem };
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
      return { refused: error.Item && (unmarshall(error.Item) as LimiterItem) };
    }
  },

  /**
   * RELEASE: takes the entry out of flight and corrects the reserved tokens to those used. Done already = success.
   * `known` is any image of the item; minutes in it that no longer count are removed.
   */
  release: async (
    limiterId: string,
    requestId: string,
    entry: [admittedAtMs: number, tokens: number],
    usedTokens: number,
    nowMs: number,
    known?: LimiterItem,
  ): Promise<void> => {
    const [admittedAtMs, reserved] = entry;
    const admittedMinute = minuteOf(admittedAtMs);
    const correct = usedTokens !== reserved && minuteOf(nowMs) - admittedMinute <= CORRECTED_MINUTES;
    const stale = known
      ? Object.keys(known).filter((name) => /^[rt]\d+$/.test(name) && Number(name.slice(1)) < minuteOf(nowMs) - KEPT_MINUTES)
      : [];
    try {
      await database.send(
        new UpdateCommand({
          TableName: table,
          Key: { id: limiterId },
          UpdateExpression: `REMOVE fl.#id${stale.map((_, i) => `, #s${i}`).join('')}${correct ? ' ADD #t :delta' : ''}`,
          ConditionExpression: 'attribute_exists(fl.#id)',
          ExpressionAttributeNames: {
            '#id': requestId,
            ...(correct && { '#t': `t${admittedMinute}` }),
            ...Object.fromEntries(stale.map((name, i) => [`#s${i}`, name])),
          },
          ...(correct && { ExpressionAttributeValues: { ':delta': usedTokens - reserved } }),
        }),
      );
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
    }
  },

  /** The ids of limiters whose last admission lies in one partition of an epoch. */
  listByEpoch: async function* (epoch: number, partition: number): AsyncGenerator<string> {
    const query = {
      TableName: table,
      IndexName: EPOCH_INDEX,
      KeyConditionExpression: 'ep = :ep',
      ExpressionAttributeValues: { ':ep': epochPartition(epoch, partition) },
    };
    for await (const { id } of queryItems(database, query, MAX_PAGES)) yield id as string;
  },

  /** The last epoch that a sweep has gone through whole; undefined before the first. */
  sweptEpoch: async (): Promise<number | undefined> => {
    const { Item } = await database.send(new GetCommand({ TableName: table, Key: { id: SWEEP_MARK } }));
    return Item?.epoch as number | undefined;
  },

  markSwept: async (epoch: number): Promise<void> => {
    await database.send(new PutCommand({ TableName: table, Item: { id: SWEEP_MARK, epoch } }));
  },
});

/** The sweep's own row; no API key has such an id. */
const SWEEP_MARK = 'sweep';

export type LimiterStore = ReturnType<typeof createLimiterStore>;
