import * as z from 'zod';
import type { RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { DAY_SECONDS, unixSeconds } from '../time/units.ts';
import { Notification } from './notification.ts';

// How long a notification and its deliveries are kept, so that they can be replayed.
const KEEP_SECONDS = 45 * DAY_SECONDS;

/** Prefix of the outbox's records. The table's stream delivers them to the function `notifications`. */
export const OUTBOX_PREFIX = 'notification#';

/** When a notification expires: Unix time in seconds. */
export const expiryOf = ({ at }: Pick<Notification, 'at'>): number => unixSeconds(at) + KEEP_SECONDS;

// `at` is the time of the request, in ms since the epoch.
const Replay = z.object({ event: z.string(), webhook: z.string(), delivery: z.string(), at: z.int() });
export type Replay = z.infer<typeof Replay>;

// Something new, or an old delivery to make again.
const OutboxEntry = z.union([
  z.object({ replay: Replay }).transform(({ replay }) => ({ kind: 'replay', replay }) as const),
  Notification.transform((notification) => ({ kind: 'notification', notification }) as const),
]);
export type OutboxEntry = z.output<typeof OutboxEntry>;

/** Parses an item of the outbox. @throws ZodError for any other item */
export const readOutboxEntry = (item: unknown): OutboxEntry => OutboxEntry.parse(item);

/**
 * The outbox: notifications in the table `notifications`, written in the transactions of the changes that they report.
 */
export const createOutbox = (table: RecordTable) => ({
  /** Adds a notification as one write of a transaction. */
  toEmit: (notification: Notification): Write =>
    table.toCreate(
      { account: notification.organization, record: OUTBOX_PREFIX + notification.id },
      { ...notification, expires_at: expiryOf(notification) },
      () => new Error(`The notification ${notification.id} already exists.`),
    ),

  /** Returns a notification; undefined if it has expired. */
  find: async (organization: string, id: string): Promise<Notification | undefined> => {
    const row = await table.get({ account: organization, record: OUTBOX_PREFIX + id });
    return row && Notification.parse(row);
  },

  /** Sends a delivery again, in the transaction that makes it pending. @param organization the webhook's */
  toReplay: (organization: string, replay: Replay): Write =>
    table.toCreate(
      { account: organization, record: `${OUTBOX_PREFIX}${replay.event}#replay#${replay.delivery}#${replay.at}` },
      { replay, expires_at: expiryOf(replay) },
      () => new Error(`The delivery ${replay.delivery} is already being replayed.`),
    ),
});

export type Outbox = ReturnType<typeof createOutbox>;
