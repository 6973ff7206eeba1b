import * as z from 'zod';
import { SECOND_MS } from '../../shared/time/units.ts';
import type { LambdaFunction, Queue, QueueSource } from './local-app.ts';
import { type LocatedResource, readProperties } from './located-resource.ts';

const QueueProperties = z.object({
  FifoQueue: z.boolean().default(false),
  DelaySeconds: z.int().default(0),
  RedrivePolicy: z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.int() }).optional(),
});

const DeliveryProperties = z.object({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  Enabled: z.literal(true).default(true),
  BatchSize: z.int().default(10),
  FunctionResponseTypes: z.tuple([z.literal('ReportBatchItemFailures')]),
});

/** Reads an AWS::SQS::Queue. */
export const interpretQueue = (at: LocatedResource): Queue => {
  const { stack, logicalId, resolve } = at;
  const { FifoQueue: isFifo, DelaySeconds, RedrivePolicy: redrive } = readProperties(at, QueueProperties);
  const attribute = (name: string): string => String(resolve(stack, { 'Fn::GetAtt': [logicalId, name] }));
  return {
    arn: attribute('Arn'),
    name: attribute('QueueName'),
    url: String(resolve(stack, { Ref: logicalId })),
    isFifo,
    delayMs: DelaySeconds * SECOND_MS,
    ...(redrive && { failures: { queueArn: redrive.deadLetterTargetArn, maxDeliveries: redrive.maxReceiveCount } }),
  };
};

/** True if an AWS::Lambda::EventSourceMapping delivers the messages of a queue. */
export const isOfQueue = ({ stack, resource, resolve }: LocatedResource): boolean =>
  String(resolve(stack, resource.properties.EventSourceArn)).startsWith('arn:aws:sqs:');

/** Reads the mapping of a queue to a function. Throws an Error naming a mapping that is not supported. */
export const interpretQueueSource = (at: LocatedResource, queues: readonly Queue[], functions: readonly LambdaFunction[]): QueueSource => {
  const { EventSourceArn, FunctionName, BatchSize } = readProperties(at, DeliveryProperties);
  const where = `${at.logicalId} in stack ${at.stack.name}`;
  const queue = queues.find(({ arn }) => arn === EventSourceArn);
  if (!queue) throw new Error(`The local run delivers queues of the assembly only, not ${EventSourceArn} (${where})`);
  if (!functions.some(({ name, arn }) => name === FunctionName || arn === FunctionName))
    throw new Error(`The event source ${at.logicalId} invokes ${FunctionName}, which is not a function of the assembly`);
  return {
    logicalId: at.logicalId,
    queueArn: queue.arn,
    queueUrl: queue.url,
    isFifo: queue.isFifo,
    delayMs: queue.delayMs,
    functionName: FunctionName,
    batchSize: BatchSize,
    maxDeliveries: queue.failures?.maxDeliveries ?? Number.POSITIVE_INFINITY,
    failureQueueArn: queue.failures?.queueArn,
  };
};
