import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, type EventSourceMappingProps, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledgeUnexercised } from '../functions/acknowledge-unexercised.ts';
import type { NodeFunction } from '../functions/node-function.ts';
import type { Table } from '../tables/table.ts';
import { failureQueue } from './dead-letter-queue.ts';

type Reading = Pick<EventSourceMappingProps, 'batchSize' | 'maxBatchingWindow' | 'retryAttempts' | 'maxRecordAge' | 'filters'>;

/**
 * Delivers a table's stream to a function, from its oldest record on. Returns the queue with the batches that failed
 * to the end.
 */
export const readStream = (scope: Construct, table: Table, reader: NodeFunction, reading: Reading): Queue => {
  const failures = failureQueue(scope);
  table.grantStream(reader);
  reader.addToRolePolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [failures.queueArn] }));
  acknowledgeUnexercised(
    reader.role,
    { actions: ['sqs:SendMessage'], resource: failures.queueArn },
    'Lambda sends the batches that failed with the role of the function.',
  );
  new EventSourceMapping(scope, 'Stream', {
    ...reading,
    target: reader,
    eventSourceArn: table.streamArn,
    startingPosition: StartingPosition.TRIM_HORIZON,
    bisectBatchOnError: true,
    onFailure: { bind: () => ({ destination: failures.queueArn }) },
  });
  return failures;
};
