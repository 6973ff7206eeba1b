import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { EPOCH_INDEX, ORGANIZATION_INDEX } from '../../shared/admission/stores/limiter-store.ts';
import { LIVE_INDEX } from '../../shared/deployments/deployment-store.ts';
import { RETENTION_TAG } from '../../shared/payload-log/payload.ts';
import { RETENTION_DAYS } from '../../shared/payload-log/settings.ts';
import { UNREDACTED } from '../../shared/payload-log/waiting-payloads.ts';
import { SupportPromise } from '../../shared/tickets/clocks.ts';
import { PENDING_FILES } from '../../shared/tickets/ticket-files.ts';
import type { Config } from '../config/config.ts';
import { UNRESERVED_CONCURRENCY } from '../config/shares.ts';
import { Bucket } from '../constructs/tables/bucket.ts';
import { Table } from '../constructs/tables/table.ts';

interface DataStackProps extends StackProps {
  auditCopies?: Config['auditCopies'];
  /** Tables to use instead of the stack's own; default: none. */
  tables?: Config['tables'];
  /** Default: what DynamoDB gives. */
  warmThroughput?: Config['warmThroughput'];
  /** Default: that of the configuration's default. */
  supportPromise?: SupportPromise;
  /**
   * The most requests of an organization in flight, which the operator's commands give a new one. Default: that
   * without reservations.
   */
  organizationConcurrency?: number;
}

/**
 * The data, which must outlive every other stack. Never change construct ids here: a new id creates a new, empty
 * table or bucket.
 */
export class DataStack extends Stack {
  readonly keys: Table;
  readonly models: Table;
  readonly deployments: Table;
  readonly usage: Table;
  readonly responses: Table;
  readonly accounts: Table;
  readonly attempts: Table;
  readonly audit: Table;
  /** Invoices and what they are made of, what organizations set for them, and exports. */
  readonly billing: Table;
  /** Webhooks, and the outbox of notifications with their deliveries. */
  readonly notifications: Table;
  /**
   * Facts about single requests beyond their events: rows to search them by, counts of refusals, settings of payload
   * logs.
   */
  readonly observability: Table;
  readonly tickets: Table;
  readonly tokenizers: Bucket;
  /** Under the id of its organization, what each deployment runs. */
  readonly weights: Bucket;
  /** Rendered invoices with their inputs, and exported events. */
  readonly billingFiles: Bucket;
  /** Only if the configuration has `auditCopies`. */
  readonly auditCopies?: Bucket;
  /** Under the id of its organization, the content of requests whose key has a payload log. */
  readonly payloads: Bucket;
  /** Files of tickets. */
  readonly ticketFiles: Bucket;

  constructor(
    scope: Construct,
    id: string,
    {
      auditCopies,
      tables = {},
      warmThroughput = {},
      supportPromise = SupportPromise.parse({}),
      organizationConcurrency = UNRESERVED_CONCURRENCY,
      ...props
    }: DataStackProps,
  ) {
    super(scope, id, props);
    this.keys = new Table(this, 'Keys', {
      adopted: tables.keys,
      warm: warmThroughput.keys,
      variable: 'KEYS_TABLE',
      partitionKey: 'id',
      keysOnlyIndexes: [
        { name: EPOCH_INDEX, attribute: 'ep' },
        { name: ORGANIZATION_INDEX, attribute: 'org' },
      ],
      // Only limiters of end users expire.
      timeToLive: 'del_at',
    });
    this.models = new Table(this, 'Models', {
      adopted: tables.models,
      variable: 'MODELS_TABLE',
      partitionKey: 'pool',
      sortKey: 'name',
    });
    this.deployments = new Table(this, 'Deployments', {
      adopted: tables.deployments,
      variable: 'DEPLOYMENTS_TABLE',
      partitionKey: 'account',
      sortKey: 'record',
      keysOnlyIndexes: [{ name: LIVE_INDEX, attribute: LIVE_INDEX }],
    });
    this.usage = new Table(this, 'Usage', {
      adopted: tables.usage,
      warm: warmThroughput.usage,
      variable: 'USAGE_TABLE',
      partitionKey: 'usage_bucket',
      sortKey: 'usage_event',
      // Only totals by minute and by ten minutes expire.
      timeToLive: 'expires_at',
      stream: 'new',
    });
    this.responses = new Table(this, 'Responses', {
      adopted: tables.responses,
      warm: warmThroughput.responses,
      variable: 'RESPONSES_TABLE',
      partitionKey: 'id',
      timeToLive: 'expires_at',
    });
    this.accounts = new Table(this, 'Accounts', {
      adopted: tables.accounts,
      variable: 'ACCOUNTS_TABLE',
      partitionKey: 'account',
      sortKey: 'record',
    });
    this.audit = new Table(this, 'Audit', {
      adopted: tables.audit,
      variable: 'AUDIT_TABLE',
      partitionKey: 'account',
      sortKey: 'record',
      ...(auditCopies && { stream: 'new' }),
    });
    if (auditCopies) this.auditCopies = new Bucket(this, 'AuditCopies', { variable: 'AUDIT_COPIES_BUCKET', lock: auditCopies });
    this.attempts = new Table(this, 'Attempts', {
      adopted: tables.attempts,
      warm: warmThroughput.attempts,
      variable: 'ATTEMPTS_TABLE',
      partitionKey: 'id',
      timeToLive: 'expires_at',
    });
    this.billing = new Table(this, 'Billing', {
      adopted: tables.billing,
      variable: 'BILLING_TABLE',
      partitionKey: 'account',
      sortKey: 'record',
    });
    this.notifications = new Table(this, 'Notifications', {
      adopted: tables.notifications,
      variable: 'NOTIFICATIONS_TABLE',
      partitionKey: 'account',
      sortKey: 'record',
      timeToLive: 'expires_at',
      stream: 'new',
    });
    this.observability = new Table(this, 'Observability', {
      adopted: tables.observability,
      variable: 'OBSERVABILITY_TABLE',
      partitionKey: 'account',
      sortKey: 'record',
      timeToLive: 'expires_at',
    });
    this.tickets = new Table(this, 'Tickets', {
      adopted: tables.tickets,
      variable: 'TICKETS_TABLE',
      partitionKey: 'account',
      sortKey: 'record',
    });
    this.tokenizers = new Bucket(this, 'Tokenizers', { variable: 'TOKENIZERS_BUCKET' });
    this.weights = new Bucket(this, 'Weights', { variable: 'WEIGHTS_BUCKET' });
    this.billingFiles = new Bucket(this, 'BillingFiles', { variable: 'BILLING_BUCKET' });
    this.payloads = new Bucket(this, 'Payloads', {
      variable: 'PAYLOADS_BUCKET',
      expiry: { tag: RETENTION_TAG, days: RETENTION_DAYS },
      temporary: { prefix: UNREDACTED, days: 1 },
    });
    this.ticketFiles = new Bucket(this, 'TicketFiles', {
      variable: 'TICKET_FILES_BUCKET',
      temporary: { prefix: PENDING_FILES, days: 1 },
      takesForms: true,
    });
    new CfnOutput(this, 'KeysTable', { value: this.keys.table.tableName });
    new CfnOutput(this, 'ModelsTable', { value: this.models.table.tableName });
    new CfnOutput(this, 'UsageTable', { value: this.usage.table.tableName });
    new CfnOutput(this, 'DeploymentsTable', { value: this.deployments.table.tableName });
    new CfnOutput(this, 'AuditTable', { value: this.audit.table.tableName });
    new CfnOutput(this, 'AccountsTable', { value: this.accounts.table.tableName });
    new CfnOutput(this, 'BillingTable', { value: this.billing.table.tableName });
    new CfnOutput(this, 'NotificationsTable', { value: this.notifications.table.tableName });
    new CfnOutput(this, 'ObservabilityTable', { value: this.observability.table.tableName });
    new CfnOutput(this, 'ResponsesTable', { value: this.responses.table.tableName });
    new CfnOutput(this, 'OrganizationConcurrency', { value: String(organizationConcurrency) });
    // `npm run admin -- tickets` computes the clocks of tickets as the control plane does.
    new CfnOutput(this, 'SupportPromise', { value: JSON.stringify(supportPromise) });
    new CfnOutput(this, 'TicketsTable', { value: this.tickets.table.tableName });
    new CfnOutput(this, 'PayloadsBucket', { value: this.payloads.bucket.bucketName });
    new CfnOutput(this, 'TicketFilesBucket', { value: this.ticketFiles.bucket.bucketName });
    new CfnOutput(this, 'BillingBucket', { value: this.billingFiles.bucket.bucketName });
    new CfnOutput(this, 'TokenizersBucket', { value: this.tokenizers.bucket.bucketName });
    new CfnOutput(this, 'WeightsBucket', { value: this.weights.bucket.bucketName });
    if (this.auditCopies) new CfnOutput(this, 'AuditCopiesBucket', { value: this.auditCopies.bucket.bucketName });
  }
}
