import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { Conflict } from '../http/errors.ts';
import { Webhook } from './webhook.ts';

const WEBHOOK = 'webhook#';
// Each notification is sent to each of them.
const MAX_WEBHOOKS = 20;

const recordKeyOf = (organization: string, id: string): RecordKey => ({ account: organization, record: WEBHOOK + id });
const countRecordKey = (organization: string): RecordKey => ({ account: organization, record: 'webhooks' });

const tooMany = (): Conflict =>
  new Conflict({
    code: 'too_many_webhooks',
    message: `An organization can have at most ${MAX_WEBHOOKS} webhooks. Delete one first.`,
  });

/** Webhooks in the table `notifications`: one row each, in the partition of their organization. */
export const createWebhookStore = (table: RecordTable) => ({
  find: async (organization: string, id: string): Promise<Webhook | undefined> => {
    const row = await table.get(recordKeyOf(organization, id));
    return row && Webhook.parse(row);
  },

  /** Lists an organization's webhooks, oldest first. */
  list: async (organization: string): Promise<Webhook[]> => {
    const { rows } = await table.page({ account: organization, prefix: WEBHOOK }, { limit: MAX_WEBHOOKS });
    return rows.map((row) => Webhook.parse(row));
  },

  /** Creates a webhook. Fails with a 409 if the organization has too many. */
  toCreate: (webhook: Webhook): Write[] => [
    table.toCreate(recordKeyOf(webhook.organization, webhook.id), webhook, () => new Error(`${webhook.id} already exists.`)),
    table.toCount(countRecordKey(webhook.organization), 1, MAX_WEBHOOKS, tooMany),
  ],

  /** Replaces the version that was read; 412 if it has changed since. */
  toReplace: (webhook: Webhook): Write => table.toReplace(recordKeyOf(webhook.organization, webhook.id), webhook),

  /** Deletes the version that was read; 412 if it has changed since. */
  toDelete: ({ organization, id, version }: Webhook): Write[] => [
    table.toDelete(recordKeyOf(organization, id), version),
    table.toCount(countRecordKey(organization), -1, MAX_WEBHOOKS, tooMany),
  ],
});

export type WebhookStore = ReturnType<typeof createWebhookStore>;
