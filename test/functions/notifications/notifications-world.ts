import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { SQSBatchResponse } from 'aws-lambda';
import { createOrganization } from '../../../functions/control/organizations/create-organization.ts';
import { createPost } from '../../../functions/notifications/deliver/post.ts';
import { announceRecords, deliveries, type NotificationsDependencies } from '../../../functions/notifications/handle-event.ts';
import { createMailStore } from '../../../functions/notifications/mail/mail-store.ts';
import { createOrganizationShares } from '../../../functions/notifications/organization-shares.ts';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import { createOrganizationDirectory } from '../../../shared/billing/organization-directory.ts';
import { writeAttributes } from '../../../shared/database/attribute-values.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createUserDirectory } from '../../../shared/identity/user-directory.ts';
import type { TimedContext } from '../../../shared/middleware/deadline.ts';
import { middy } from '../../../shared/middleware/middy.ts';
import { queueMessages } from '../../../shared/middleware/queue-messages.ts';
import { createNetworks } from '../../../shared/network/networks.ts';
import { createResolveHost } from '../../../shared/network/resolve-host.ts';
import { createDeliveryStore } from '../../../shared/notifications/delivery-store.ts';
import { type Notification, newNotification } from '../../../shared/notifications/notification.ts';
import { createOutbox, OUTBOX_PREFIX } from '../../../shared/notifications/outbox.ts';
import { SECRET_PREFIX, type Webhook } from '../../../shared/notifications/webhook.ts';
import { createWebhookStore } from '../../../shared/notifications/webhook-store.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { TestDatabase } from '../../support/emulators/database.ts';
import { accountStores } from '../../support/fixtures/account-stores.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { storeUser } from '../../support/fixtures/stored-users.ts';

const MAX_STEPS = 10_000;

interface Received {
  id: string;
  atMs: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * The function `notifications` on a virtual clock, with a queue in memory, and a receiver whose replies a test sets.
 */
export const createNotificationsWorld = async (test: TestDatabase) => {
  let nowMs = Date.now();
  const stores = accountStores(test);
  const admin = await storeUser(stores, { role: 'admin', organization: null });
  const { id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' });
  const table = createRecordTable(test.database, test.tables.Notifications as string);
  const queue: { body: string; dueAtMs: number }[] = [];
  const received: Received[] = [];
  const mails: { to: string; subject: string; text: string; reply_to?: string | undefined }[] = [];
  const seen = new Set<string>();
  let emails: string[] = [];
  let status = 200;
  let sendEmail = async (mail: (typeof mails)[number]): Promise<void> => void mails.push(mail);
  /** Called while a request is being answered. */
  let meanwhile = async (): Promise<void> => undefined;

  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString();
    const headers = request.headers as Record<string, string>;
    received.push({ id: String(headers['webhook-id']), atMs: nowMs, headers, body });
    await meanwhile();
    response.writeHead(status).end('A response that is never stored.');
  });
  const url = await listen(server, 0);

  const depsOver = (database: Database): NotificationsDependencies => {
    const rows = createRecordTable(database, test.tables.Notifications as string);
    const accounts = createRecordTable(database, test.tables.Accounts as string);
    return {
      database,
      audit: createAuditStore(createRecordTable(database, test.tables.Audit as string)),
      webhooks: createWebhookStore(rows),
      deliveries: createDeliveryStore(rows),
      mails: createMailStore(rows),
      recipients: { users: createUserDirectory(accounts), emailsOf: async () => emails },
      organizations: createOrganizationDirectory(accounts),
      shares: createOrganizationShares(rows, { now: () => nowMs, random: () => 0.5 }),
      sendEmail: (mail) => sendEmail(mail),
      supportDesk: { email: 'desk@example.com', replyTo: 'support@example.com' },
      outbox: createOutbox(rows),
      putEvent: undefined,
      installation: 'sluice',
      queue: {
        send: async ({ body, delaySeconds }) => void queue.push({ body, dueAtMs: nowMs + delaySeconds * SECOND_MS }),
      },
      post: createPost({ networks: createNetworks('127.0.0.0/8'), resolveHost: createResolveHost(), random: () => 0 }),
      random: () => 0.5,
      now: () => nowMs,
    };
  };
  const deps = depsOver(await test.as('notifications'));
  const outbox = createOutbox(table);
  const audit = createAuditStore(createRecordTable(test.database, test.tables.Audit as string));

  /** Delivers these new entries of the outbox, as the stream does. */
  const announceRows = async (rows: readonly Record<string, unknown>[], over = deps): Promise<void> => {
    const Records = rows.map((row) => ({ eventName: 'INSERT', dynamodb: { NewImage: JSON.parse(writeAttributes(row)) } }));
    await announceRecords(over, Records as never, () => true);
  };

  const handleMessages = async (bodies: readonly string[], over = deps, hasTime = () => true): Promise<SQSBatchResponse> => {
    const Records = bodies.map((body, i) => ({ messageId: String(i), body }));
    const handler = middy<unknown, SQSBatchResponse>().use(queueMessages(deliveries(over)));
    return handler({ Records }, { hasTime } as TimedContext);
  };

  const newEntries = async (): Promise<Record<string, unknown>[]> => {
    const rows = await Array.fromAsync(table.all({ account: organization, prefix: OUTBOX_PREFIX }));
    return rows.filter(({ record }) => !seen.has(String(record)) && seen.add(String(record)));
  };

  return {
    organization,
    stores,
    admin,
    deps,
    depsOver,
    audit,
    outbox,
    queue,
    received,
    mails,
    url,
    now: () => nowMs,
    advance: (ms: number): void => {
      nowMs += ms;
    },
    answers: (next: number): void => {
      status = next;
    },
    whileAnswering: (next: () => Promise<void>): void => {
      meanwhile = next;
    },
    setEmails: (next: string[], send = sendEmail): void => {
      emails = next;
      sendEmail = send;
    },
    announceRows,
    handleMessages,
    newEntries,

    createWebhook: async (fields: Partial<Webhook> = {}): Promise<Webhook> => {
      const webhook: Webhook = {
        id: newId('webhook'),
        organization,
        url: `${url}/hook`,
        types: null,
        description: null,
        enabled: true,
        disabled_reason: null,
        secret: SECRET_PREFIX + Buffer.alloc(32, 7).toString('base64'),
        previous_secret: null,
        previous_secret_until: null,
        created_at: nowMs,
        updated_at: nowMs,
        version: 1,
        ...fields,
      };
      await transact(test.database, deps.webhooks.toCreate(webhook));
      return webhook;
    },

    /** Writes a notification as other functions do. */
    emit: async (fields: Partial<Notification> = {}): Promise<Notification> => {
      const facts = {
        type: 'sluice.export.completed.v1' as const,
        organization,
        subject: 'exp_1',
        at: nowMs,
        data: { export: 'exp_1', n: 1 },
      };
      const notification = { ...newNotification(facts), ...fields };
      await transact(test.database, [outbox.toEmit(notification)]);
      return notification;
    },

    /**
     * Lets time pass, with the deliveries of the stream and the queue. A failed message is delivered again a minute
     * later.
     * @param copies how often the stream delivers each record, and so how many messages each delivery has in the queue
     */
    run: async (ms: number, copies = 1): Promise<void> => {
      const endMs = nowMs + ms;
      for (let step = 0; step < MAX_STEPS; step++) {
        const rows = await newEntries();
        for (let copy = 0; copy < copies; copy++) await announceRows(rows);
        const next = queue.toSorted((one, other) => one.dueAtMs - other.dueAtMs)[0];
        if (!next || next.dueAtMs > endMs) {
          nowMs = endMs;
          return;
        }
        queue.splice(queue.indexOf(next), 1);
        nowMs = Math.max(nowMs, next.dueAtMs);
        const { batchItemFailures } = await handleMessages([next.body]);
        for (const _ of batchItemFailures) queue.push({ body: next.body, dueAtMs: nowMs + 60 * SECOND_MS });
      }
      throw new Error(`There are still messages after ${MAX_STEPS} steps.`);
    },

    deliveriesOf: async ({ id }: Webhook) => (await deps.deliveries.list(id, { limit: 100 })).deliveries,
    close: () => closeServer(server),
  };
};

export type NotificationsWorld = Awaited<ReturnType<typeof createNotificationsWorld>>;
