import { Duration, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { KEPT_FILES } from '../../shared/tickets/ticket-files.ts';
import type { Config } from '../config/config.ts';
import { NodeFunction } from '../constructs/functions/node-function.ts';
import { runEvery } from '../constructs/functions/schedule.ts';
import type { DataStack } from './data-stack.ts';

const TIMEOUT = Duration.minutes(2);
// How often due tickets are closed or deleted, and tickets are counted.
const LOOK_EVERY = Duration.minutes(5);

/** The function that closes resolved tickets, deletes old ones and counts them, and its schedule. */
export class SupportStack extends Stack {
  readonly function: NodeFunction;

  constructor(scope: Construct, id: string, { config, data }: { config: Config; data: DataStack }) {
    super(scope, id);
    this.function = new NodeFunction(this, 'Support', { config, name: 'support', timeout: TIMEOUT });
    this.function.addEnvironment('TICKET_RETENTION_DAYS', String(config.support.retentionDays));
    data.tickets.grant(this.function, 'GetItem', 'Query', 'PutItem', 'DeleteItem');
    data.ticketFiles.grantList(this.function, KEPT_FILES);
    data.ticketFiles.grantUnder(this.function, KEPT_FILES, 's3:DeleteObject');
    data.audit.grantAdd(this.function);
    data.notifications.grantAdd(this.function);
    runEvery(this, 'Schedule', this.function, LOOK_EVERY);
  }
}
