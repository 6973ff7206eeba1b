import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import type { PageRequest } from '../http/page.ts';
import { timeOfId } from '../ids/id.ts';
import { DAY_SECONDS, unixSeconds } from '../time/units.ts';
import { Delivery, type DeliveryState } from './delivery.ts';

const DELIVERY = 'delivery#';
// Bounds the search for deliveries in one state; the caller continues after it.
const MAX_SEARCHED_PAGES = 10;
const ROWS_PER_PAGE = 100;

const recordKeyOf = ({ webhook, id }: Pick<Delivery, 'webhook' | 'id'>): RecordKey => ({ account: webhook, record: DELIVERY + id });

// In the partition of the organization, by the time at which the delivery was given up, as long as a summary counts it.
const GIVEN_UP = 'given-up#';
const GIVEN_UP_KEPT_SECONDS = 2 * DAY_SECONDS;
const givenUpAtMs = ({ attempts, created_at }: Pick<Delivery, 'attempts' | 'created_at'>): number => attempts.at(-1)?.at ?? created_at;
const givenUpRecordKey = (delivery: Delivery): RecordKey => ({
  account: delivery.organization,
  record: GIVEN_UP + timeOfId(givenUpAtMs(delivery)) + delivery.id,
});

/** The delivery exists already. */
export class DeliveryExists extends Error {}

/** Deliveries in the table `notifications`: one row each, in the partition of their webhook. */
export const createDeliveryStore = (table: RecordTable) => ({
  find: async (webhook: string, id: string): Promise<Delivery | undefined> => {
    const row = await table.get(recordKeyOf({ webhook, id }));
    return row && Delivery.parse(row);
  },

  /** Returns a page, newest first, which can be short or empty if a state is given. `next` is null on the last page. */
  list: async (
    webhook: string,
    { state, limit, after }: PageRequest & { state?: DeliveryState | undefined },
  ): Promise<{ deliveries: Delivery[]; next: string | null }> => {
    const deliveries: Delivery[] = [];
    let last = after;
    for (let page = 1; ; page++) {
      const size = state === undefined ? limit : ROWS_PER_PAGE;
      const { rows, hasMore } = await table.page({ account: webhook, prefix: DELIVERY, newestFirst: true }, { limit: size, after: last });
      last = rows.at(-1)?.id as string | undefined;
      deliveries.push(...rows.filter((row) => state === undefined || row.state === state).map((row) => Delivery.parse(row)));
      if (deliveries.length > limit) return { deliveries: deliveries.slice(0, limit), next: deliveries[limit - 1]?.id ?? null };
      if (!hasMore) return { deliveries, next: null };
      if (deliveries.length === limit || page === MAX_SEARCHED_PAGES) return { deliveries, next: last ?? null };
    }
  },

  /** Creates a delivery. Fails with DeliveryExists. */
  toCreate: (delivery: Delivery): Write => table.toCreate(recordKeyOf(delivery), delivery, () => new DeliveryExists()),

  /** Replaces the version that was read; 412 if it has changed since. */
  toReplace: (delivery: Delivery): Write => table.toReplace(recordKeyOf(delivery), delivery),

  /**
   * Changes attributes of the version that was read. @returns the delivery afterwards; undefined if another change
   * came first
   */
  change: async (delivery: Delivery, fields: Partial<Delivery>): Promise<Delivery | undefined> => {
    const after = { ...delivery, ...fields, version: delivery.version + 1 };
    const expires_at = unixSeconds(givenUpAtMs(after)) + GIVEN_UP_KEPT_SECONDS;
    const others = fields.state === 'dead' ? [table.toPut(givenUpRecordKey(after), { webhook: after.webhook, expires_at })] : [];
    const isChanged = await table.change(recordKeyOf(delivery), delivery.version, { set: fields, remove: [] }, others);
    return isChanged ? after : undefined;
  },

  /**
   * Returns the webhook of each delivery of an organization that was given up since a time within the last day, `limit`
   * at most, also of webhooks that were deleted since; undefined for a row of an earlier release.
   */
  listGivenUp: async (organization: string, { sinceMs, limit }: { sinceMs: number; limit: number }): Promise<(string | undefined)[]> => {
    const { rows } = await table.page({ account: organization, prefix: GIVEN_UP, newestFirst: true }, { limit });
    const since = GIVEN_UP + timeOfId(sinceMs);
    return rows.filter(({ record }) => String(record) >= since).map(({ webhook }) => webhook as string | undefined);
  },

  /** Ends the count of a delivery that was given up, because it is replayed. */
  toForgetGivenUp: (delivery: Delivery): Write => table.toDelete(givenUpRecordKey(delivery)),
});

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
