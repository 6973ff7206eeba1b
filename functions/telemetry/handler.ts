import { randomUUID } from 'node:crypto';
import type { DynamoDBStreamEvent, SQSBatchResponse } from 'aws-lambda';
import { environmentCredentials } from '../../shared/aws/credentials.ts';
import { createDelayQueue } from '../../shared/aws/message-queue.ts';
import { readSecret } from '../../shared/aws/read-secret.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { queueMessages } from '../../shared/middleware/queue-messages.ts';
import { DESTINATIONS_VARIABLE, queueVariable, readDestinations } from './destinations.ts';
import { deliveries, enqueue, type TelemetryDependencies } from './handle-event.ts';
import { createHeaders } from './headers.ts';
import { createIntervals } from './intervals.ts';
import { createSend } from './send.ts';

const now = Date.now;

const dependencies: TelemetryDependencies = {
  destinations: readDestinations(environmentVariable(DESTINATIONS_VARIABLE)).map((destination, i) => ({
    destination,
    queue: createDelayQueue(environmentVariable(queueVariable(i))),
  })),
  installation: {
    name: environmentVariable('INSTALLATION'),
    version: environmentVariable('SLUICE_COMMIT'),
    region: environmentVariable('AWS_REGION'),
    process: randomUUID(),
  },
  send: createSend({ headersOf: createHeaders({ readSecret, credentials: environmentCredentials, now }) }),
  nextInterval: createIntervals(now),
};

/** Handles batches of the stream of usage events, and of the queue of each destination. */
export const handler = middy<DynamoDBStreamEvent, SQSBatchResponse | undefined>()
  .use(originalStacks())
  .use(queueMessages(deliveries(dependencies)))
  .handler(({ Records }) => enqueue(dependencies, Records));
