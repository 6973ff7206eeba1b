import { Duration } from 'aws-cdk-lib';
import { FilterCriteria, FilterRule } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { prefixes } from '../../../shared/ids/id.ts';
import type { Config } from '../../config/config.ts';
import { NodeFunction } from '../functions/node-function.ts';
import type { Table } from '../tables/table.ts';
import { readStream } from './stream-reader.ts';

const TIMEOUT = Duration.minutes(5);
// The longest delay of totals. A longer window reads the same events less often.
const BATCH_WINDOW = Duration.seconds(60);
/**
 * How long after the end of a request its event is counted at the latest: the window, and time for the stream and the
 * function.
 */
export const USAGE_LAG = BATCH_WINDOW.plus(Duration.seconds(30));
// Lambda's maximum, so that the ten minutes of a busy key are read once per window and not once per thousand events.
const BATCH_SIZE = 10_000;
// Enough for an outage of the database. After that, an alarm tells an operator to rebuild the totals of the day.
const RETRIES = 100;
const MAX_AGE = Duration.hours(6);

interface RollupsProps {
  config: Config;
  usage: Table;
  deployments: Table;
  observability: Table;
  models: Table;
  audit: Table;
  notifications: Table;
}

/**
 * Maintains totals of usage events, and when each deployment was last used: a function that reads the table's stream,
 * and a queue for the batches that failed.
 */
export class Rollups extends Construct {
  readonly function: NodeFunction;
  readonly failures: Queue;

  constructor(scope: Construct, id: string, { config, usage, deployments, observability, ...stopped }: RollupsProps) {
    super(scope, id);
    this.function = new NodeFunction(this, 'Function', { config, name: 'rollup', timeout: TIMEOUT });
    usage.grant(this.function, 'Query', 'PutItem');
    // When each deployment was last used, from which it follows that it is idle.
    deployments.grant(this.function, 'UpdateItem');
    observability.grant(this.function, 'GetItem', 'PutItem');
    // Splits of aliases that stop because of errors.
    stopped.models.grant(this.function, 'GetItem', 'UpdateItem');
    stopped.audit.grantAdd(this.function);
    stopped.notifications.grantAdd(this.function);
    this.failures = readStream(this, usage, this.function, {
      batchSize: BATCH_SIZE,
      maxBatchingWindow: BATCH_WINDOW,
      retryAttempts: RETRIES,
      maxRecordAge: MAX_AGE,
      // Only new events, not the totals in the same table.
      filters: [
        FilterCriteria.filter({
          eventName: FilterRule.isEqual('INSERT'),
          dynamodb: { Keys: { usage_event: { S: FilterRule.beginsWith(prefixes.request) } } },
        }),
      ],
    });
  }
}
