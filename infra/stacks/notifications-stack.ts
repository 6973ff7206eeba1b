import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { FilterCriteria, FilterRule } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { TICKET_SOURCE } from '../../functions/notifications/put-event.ts';
import { OUTBOX_PREFIX } from '../../shared/notifications/outbox.ts';
import type { Config } from '../config/config.ts';
import { grantSendEmail } from '../constructs/functions/email-sender.ts';
import { NodeFunction } from '../constructs/functions/node-function.ts';
import { Deliveries } from '../constructs/queues/deliveries.ts';
import { readStream } from '../constructs/queues/stream-reader.ts';
import type { DataStack } from './data-stack.ts';

const TIMEOUT = Duration.seconds(60);
const BATCH_SIZE = 100;
// Lambda's maximum. The age below ends the retries.
const RETRIES = 10_000;
// The stream keeps a record for 24 hours.
const MAX_AGE = Duration.hours(20);

/**
 * The function that delivers notifications to webhooks and by email, the stream of the outbox and the queue of
 * deliveries.
 */
export class NotificationsStack extends Stack {
  readonly function: NodeFunction;
  readonly deliveries: Deliveries;
  /** Batches of the outbox for which no delivery was made. */
  readonly failures: Queue;

  constructor(scope: Construct, id: string, { config, data }: { config: Config; data: DataStack }) {
    super(scope, id);
    const { allowedNetworks, emailFrom } = config.notifications;
    this.function = new NodeFunction(this, 'Notifications', {
      config,
      name: 'notifications',
      timeout: TIMEOUT,
      continuesItself: true,
    });
    // The source of events.
    this.function.addEnvironment('INSTALLATION', config.name);
    this.function.addEnvironment('ALLOWED_NETWORKS', allowedNetworks.join(','));
    // Webhooks, deliveries and emails, and the places that an organization's work takes.
    data.notifications.grant(this.function, 'GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem');
    // Nothing is sent of a suspended organization, nor emailed to users who have left.
    data.accounts.grant(this.function, 'GetItem', 'BatchGetItem', 'Query');
    // A webhook is disabled when its receiver is gone.
    data.audit.grantAdd(this.function);
    if (emailFrom !== undefined) {
      grantSendEmail(this.function, emailFrom);
      // The addresses of an organization are in its billing profile.
      data.billing.grant(this.function, 'GetItem');
    }

    this.#reachSupport(config.support);

    this.deliveries = new Deliveries(this, 'Deliveries');
    this.deliveries.grantSend(this.function);
    this.deliveries.deliverTo(this.function);
    this.failures = readStream(new Construct(this, 'Outbox'), data.notifications, this.function, {
      batchSize: BATCH_SIZE,
      retryAttempts: RETRIES,
      maxRecordAge: MAX_AGE,
      // Only new notifications, not webhooks and deliveries in the same table.
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.isEqual('INSERT'),
          dynamodb: { Keys: { record: { S: FilterRule.beginsWith(OUTBOX_PREFIX) } } },
        }),
      ],
    });
  }

  // Tickets reach support by email, as events, or both.
  #reachSupport({ email, replyTo, events }: Config['support']): void {
    if (email !== undefined) this.function.addEnvironment('SUPPORT_EMAIL', email);
    if (replyTo !== undefined) this.function.addEnvironment('SUPPORT_REPLY_TO', replyTo);
    if (!events) return;
    this.function.addEnvironment('TICKET_EVENTS', 'true');
    const bus = this.formatArn({ service: 'events', resource: 'event-bus', resourceName: 'default' });
    this.function.addToRolePolicy(
      new PolicyStatement({
        actions: ['events:PutEvents'],
        resources: [bus],
        conditions: { StringEquals: { 'events:source': TICKET_SOURCE } },
      }),
    );
  }
}
