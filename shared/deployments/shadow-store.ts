import { ConditionFailed, type Database, type Item } from '../database/database.ts';
import { isWritten } from '../database/is-written.ts';
import { createRecordTable, type RecordKey } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { MAX_SHADOWS, type ShadowSettings } from './shadow.ts';
import type { ShadowCounts } from './shadow-counts.ts';

/** The most requests of a deployment that are also sent at the same time, each in an environment of its own. */
export const MAX_PARALLEL_SHADOWS = 2;

/** The budget of a comparison. */
export type ShadowBudget = Pick<ShadowSettings, 'max_requests' | 'max_tokens'> & { number: number };

/** A request to be sent to the next generation. */
export interface ShadowReservation {
  /** Decides its place among those that are sent at the same time. */
  id: string;
  /** The most tokens that it can use. */
  tokens: number;
  nowMs: number;
  /** When its place is free again although nothing was recorded. */
  expiresAtMs: number;
}

/** A comparison's counts, and what it has used of its budget. */
export interface ShadowRow {
  requests: number;
  tokens: number;
  isUsedUp: boolean;
  counts: ShadowCounts;
}

/** A place that is taken until then, unless it is given back before. */
export interface ShadowPlace {
  name: string;
  holder: string;
}

const SHADOW = 'shadow#';
/** The key of a comparison, which takes the place of the oldest one. */
export const shadowRecordKey = (deployment: string, number: number): RecordKey => ({
  account: deployment,
  record: SHADOW + (number % MAX_SHADOWS),
});

// The time has 13 digits, so that texts compare like numbers.
const holderOf = ({ id, expiresAtMs }: ShadowReservation): string => `${expiresAtMs}#${id}`;

const placeOf = (reservation: ShadowReservation): ShadowPlace => {
  let sum = 0;
  for (const character of reservation.id) sum += character.charCodeAt(0);
  return { name: `place_${sum % MAX_PARALLEL_SHADOWS}`, holder: holderOf(reservation) };
};

const fits = ({ number, max_requests, max_tokens }: ShadowBudget, tokens: number, row: Item | undefined): boolean =>
  row?.number === number && Number(row.requests) < max_requests && Number(row.tokens) + tokens <= max_tokens;

const KEYS: ReadonlySet<string> = new Set(['account', 'record', 'number', 'requests', 'tokens', 'used_up']);
const rowOf = (item: Item): ShadowRow => ({
  requests: Number(item.requests),
  tokens: Number(item.tokens),
  isUsedUp: item.used_up === true,
  counts: Object.fromEntries(Object.entries(item).filter(([name, value]) => !KEYS.has(name) && typeof value === 'number')) as ShadowCounts,
});

/** The comparisons of deployments in the table `deployments`. The only code that knows their rows. */
export const createShadowStore = (database: Database, table: string) => {
  const records = createRecordTable(database, table);
  return {
    /** Begins a comparison; it takes the place of the oldest one. */
    toCreate: (deployment: string, number: number): Write =>
      records.toPut(shadowRecordKey(deployment, number), { number, requests: 0, tokens: 0 }),

    /** A comparison; undefined if it isn't kept. */
    read: async (deployment: string, number: number): Promise<ShadowRow | undefined> => {
      const item = await records.get(shadowRecordKey(deployment, number));
      return item?.number === number ? rowOf(item) : undefined;
    },

    /**
     * Takes a request and its tokens from the budget, and a place, in one write. A function that crashes afterwards
     * loses them.
     * @returns its place; `busy` if it is taken; `used_up` if the budget has no room for it: then nothing more is sent
     */
    reserve: async (
      deployment: string,
      budget: ShadowBudget,
      reservation: ShadowReservation,
    ): Promise<ShadowPlace | 'busy' | 'used_up'> => {
      const key = { TableName: table, Key: { ...shadowRecordKey(deployment, budget.number) } };
      const place = placeOf(reservation);
      try {
        await database.update({
          ...key,
          UpdateExpression: 'SET #place = :holder ADD requests :one, #tokens :tokens',
          ConditionExpression:
            '#number = :number AND attribute_not_exists(used_up) AND requests < :requests AND #tokens <= :most AND (attribute_not_exists(#place) OR #place < :now)',
          ExpressionAttributeNames: { '#place': place.name, '#number': 'number', '#tokens': 'tokens' },
          ExpressionAttributeValues: {
            ...{ ':holder': place.holder, ':one': 1, ':tokens': reservation.tokens, ':number': budget.number },
            ...{ ':requests': budget.max_requests, ':most': budget.max_tokens - reservation.tokens, ':now': String(reservation.nowMs) },
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        });
        return place;
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
        if (error.item?.used_up !== true && fits(budget, reservation.tokens, error.item)) return 'busy';
      }
      await records.set(shadowRecordKey(deployment, budget.number), 'used_up', true, ['number', budget.number]);
      return 'used_up';
    },

    /**
     * Adds the counts of a request, and gives back its place and the tokens that it did not use, in one write. Counts
     * nothing a second time, or once the place was free again.
     */
    record: async (
      deployment: string,
      number: number,
      { name, holder }: ShadowPlace,
      { unusedTokens, counts }: { unusedTokens: number; counts: ShadowCounts },
    ): Promise<void> => {
      const added = Object.entries({ ...counts, tokens: 0 - unusedTokens });
      await isWritten(
        database.update({
          TableName: table,
          Key: { ...shadowRecordKey(deployment, number) },
          UpdateExpression: `REMOVE #place ADD ${added.map((_, i) => `#a${i} :a${i}`).join(', ')}`,
          ConditionExpression: '#number = :number AND #place = :holder',
          ExpressionAttributeNames: {
            '#number': 'number',
            '#place': name,
            ...Object.fromEntries(added.map(([each], i) => [`#a${i}`, each])),
          },
          ExpressionAttributeValues: {
            ...{ ':number': number, ':holder': holder },
            ...Object.fromEntries(added.map(([, value], i) => [`:a${i}`, value])),
          },
        }),
      );
    },
  };
};

export type ShadowStore = ReturnType<typeof createShadowStore>;
