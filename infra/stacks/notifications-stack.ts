import { Duration, Stack } from 'aws-cdk-lib';
import { FilterCriteria, FilterRule } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { OUTBOX_PREFIX } from '../../shared/notifications/outbox.ts';
import type { Config } from '../config/config.ts';
import { Deliveries } from '../constructs/deliveries.ts';
import { grantSendEmail } from '../constructs/email-sender.ts';
import { NodeFunction } from '../constructs/node-function.ts';
import { readStream } from '../constructs/stream-reader.ts';
import type { DataStack } from './data-stack.ts';

const TIMEOUT = Duration.seconds(60);
const BATCH_SIZE = 100;
/** Lambda's maximum. The age below ends the retries. */
const RETRIES = 10_000;
/** The stream keeps a record for 24 hours. */
const MAX_AGE = Duration.hours(20);

/** The function that delivers notifications to webhooks and by e-mail, the stream of the outbox and the queue of deliveries. */
export class NotificationsStack extends Stack {
  readonly function: NodeFunction;
  readonly deliveries: Deliveries;
  /** Batches of the outbox for which no delivery was made. */
  readonly failures: Queue;

  constructor(scope: Construct, id: string, { config, data }: { config: Config; data: DataStack }) {
    super(scope, id);
    const { allowedNetworks, emailFrom } = config.notifications;
    this.function = new NodeFunction(this, 'Notifications', { config, name: 'notifications', memoryMb: 256, timeout: TIMEOUT });
    // The source of events.
    this.function.addEnvironment('INSTALLATION', config.name);
    this.function.addEnvironment('ALLOWED_NETWORKS', allowedNetworks.join(','));
    // Webhooks, deliveries and e-mails.
    data.notifications.grant(this.function, 'GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem');
    // The addresses of an organization are in its billing profile.
    data.billing.grant(this.function, 'GetItem');
    // A webhook is disabled when its receiver is gone.
    data.audit.grantAdd(this.function);
    if (emailFrom !== undefined) grantSendEmail(this.function, emailFrom);

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
}
