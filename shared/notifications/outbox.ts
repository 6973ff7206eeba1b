import type { AccountTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import type { Notification } from './notification.ts';

/** How long a notification is kept, so that its deliveries can be replayed. */
const KEEP_SECONDS = 45 * 86_400;

/** The records of notifications begin with this. The table's stream delivers them to the function `notifications`. */
export const OUTBOX_PREFIX = 'notification#';

const MS = 1_000;

/** The outbox: notifications in the table `notifications`, written in the transactions of what they tell. */
export const createOutbox = (table: AccountTable) => ({
  /** Adds a notification as one write of a transaction. */
  toEmit: (notification: Notification): Write =>
    table.toCreate(
      { account: notification.organization, record: OUTBOX_PREFIX + notification.id },
      { ...notification, expires_at: Math.floor(notification.at / MS) + KEEP_SECONDS },
      () => new Error(`The notification ${notification.id} already exists.`),
    ),
});

export type Outbox = ReturnType<typeof createOutbox>;
