import { randomUUID } from 'node:crypto';
import type { DynamoDBStreamEvent, SQSEvent } from 'aws-lambda';
import { environmentCredentials } from '../../shared/aws/credentials.ts';
import { createDelayQueue } from '../../shared/aws/message-queue.ts';
import { readSecret } from '../../shared/aws/read-secret.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { DESTINATIONS_VARIABLE, queueVariable, readDestinations } from './destinations.ts';
import { handleEvent, type TelemetryDependencies } from './handle-event.ts';
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

/** See `handle-event.ts`. */
export const handler = (event: DynamoDBStreamEvent | SQSEvent) => handleEvent(dependencies, event);
