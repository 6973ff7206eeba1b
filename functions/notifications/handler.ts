import type { DynamoDBStreamEvent, SQSBatchResponse } from 'aws-lambda';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createDelayQueue } from '../../shared/aws/message-queue.ts';
import { createBillingSettingsStore } from '../../shared/billing/billing-settings-store.ts';
import { createOrganizationDirectory } from '../../shared/billing/organization-directory.ts';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { createUserDirectory } from '../../shared/identity/user-directory.ts';
import { deadline } from '../../shared/middleware/deadline.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { queueMessages } from '../../shared/middleware/queue-messages.ts';
import { createNetworks } from '../../shared/network/networks.ts';
import { createResolveHost } from '../../shared/network/resolve-host.ts';
import { createDeliveryStore } from '../../shared/notifications/delivery-store.ts';
import { createOutbox } from '../../shared/notifications/outbox.ts';
import { createWebhookStore } from '../../shared/notifications/webhook-store.ts';
import { createPost } from './deliver/post.ts';
import { announceRecords, deliveries, type NotificationsDependencies } from './handle-event.ts';
import { createMailStore } from './mail/mail-store.ts';
import type { RecipientDependencies } from './mail/recipients.ts';
import { createSendEmail } from './mail/send-email.ts';
import { createOrganizationShares } from './organization-shares.ts';
import { createPutEvent } from './put-event.ts';

const database = createSdkDatabase();
const rows = createRecordTable(database, environmentVariable('NOTIFICATIONS_TABLE'));
const networks = createNetworks(process.env.ALLOWED_NETWORKS ?? '');
const { random } = Math;
const { now } = Date;
const from = process.env.EMAIL_FROM;

const accounts = createRecordTable(database, environmentVariable('ACCOUNTS_TABLE'));

// The function can read billing profiles only if it sends emails.
const createRecipients = (): RecipientDependencies => {
  const profiles = createBillingSettingsStore(createRecordTable(database, environmentVariable('BILLING_TABLE')));
  return {
    users: createUserDirectory(accounts),
    emailsOf: async (organization) => (await profiles.getProfile(organization)).emails,
  };
};

const dependencies: NotificationsDependencies = {
  database,
  audit: createAuditStore(createRecordTable(database, environmentVariable('AUDIT_TABLE'))),
  webhooks: createWebhookStore(rows),
  deliveries: createDeliveryStore(rows),
  mails: createMailStore(rows),
  recipients: from ? createRecipients() : undefined,
  organizations: createOrganizationDirectory(accounts),
  supportDesk: { email: process.env.SUPPORT_EMAIL, replyTo: process.env.SUPPORT_REPLY_TO },
  outbox: createOutbox(rows),
  putEvent: process.env.TICKET_EVENTS === 'true' ? createPutEvent() : undefined,
  sendEmail: from ? createSendEmail(from) : undefined,
  installation: environmentVariable('INSTALLATION'),
  queue: createDelayQueue(environmentVariable('DELIVERIES_QUEUE')),
  post: createPost({ networks, resolveHost: createResolveHost(), random }),
  random,
  now,
  shares: createOrganizationShares(rows, { now, random }),
};

// Work that begins this shortly before the timeout could not be finished.
const RESERVE_MS = 20_000;

/** Handles batches of the table's stream, which has the outbox, and of the queue of deliveries. */
export const handler = middy<DynamoDBStreamEvent, SQSBatchResponse | undefined>()
  .use(originalStacks())
  .use(deadline(RESERVE_MS))
  .use(queueMessages(deliveries(dependencies)))
  .handler(({ Records }, { hasTime }) => announceRecords(dependencies, Records, hasTime));
