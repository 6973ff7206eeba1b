import * as z from 'zod';
import { SECOND_MS } from '../../shared/time/units.ts';
import { compileFilter } from './event-filter.ts';
import type { EventSource, LambdaFunction, Queue, Table } from './local-app.ts';
import { type LocatedResource, readProperties } from './located-resource.ts';

const FOREVER = -1;

const EventSourceProperties = z.object({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  Enabled: z.literal(true).default(true),
  StartingPosition: z.literal('TRIM_HORIZON'),
  BatchSize: z.int().default(100),
  MaximumBatchingWindowInSeconds: z.int().default(0),
  BisectBatchOnFunctionError: z.boolean().default(false),
  MaximumRetryAttempts: z.int().default(FOREVER),
  MaximumRecordAgeInSeconds: z.int().default(FOREVER),
  DestinationConfig: z.object({ OnFailure: z.object({ Destination: z.string() }) }).optional(),
  FilterCriteria: z.object({ Filters: z.array(z.object({ Pattern: z.string() })) }).default({ Filters: [] }),
  ParallelizationFactor: z.literal(1).default(1),
  TumblingWindowInSeconds: z.literal(0).default(0),
  FunctionResponseTypes: z.array(z.string()).max(0).default([]),
});

const orForever = (value: number): number => (value === FOREVER ? Number.POSITIVE_INFINITY : value);

/**
 * Reads an AWS::Lambda::EventSourceMapping of a DynamoDB stream. Throws an Error naming a mapping that is not
 * supported.
 */
export const interpretEventSource = (at: LocatedResource): EventSource => {
  const properties = readProperties(at, EventSourceProperties);
  const [, tableName] = /^arn:aws:dynamodb:.+:table\/([^/]+)\/stream\//.exec(properties.EventSourceArn) ?? [];
  const where = `${at.logicalId} in stack ${at.stack.name}`;
  if (tableName === undefined) throw new Error(`The local run supports DynamoDB streams only, not ${properties.EventSourceArn} (${where})`);
  return {
    logicalId: at.logicalId,
    sourceArn: properties.EventSourceArn,
    tableName,
    functionName: properties.FunctionName,
    batchSize: properties.BatchSize,
    windowMs: properties.MaximumBatchingWindowInSeconds * SECOND_MS,
    filters: properties.FilterCriteria.Filters.map(({ Pattern }) => compileFilter(JSON.parse(Pattern), where)),
    bisects: properties.BisectBatchOnFunctionError,
    maxRetries: orForever(properties.MaximumRetryAttempts),
    maxAgeMs: orForever(properties.MaximumRecordAgeInSeconds) * SECOND_MS,
    failureQueueArn: properties.DestinationConfig?.OnFailure.Destination,
  };
};

/** Throws an Error naming an event source whose function, stream or queue is not in the assembly. */
export const assertConnected = (
  eventSources: readonly EventSource[],
  { functions, tables, queues }: { functions: readonly LambdaFunction[]; tables: readonly Table[]; queues: readonly Queue[] },
): void => {
  for (const { logicalId, functionName, tableName, failureQueueArn } of eventSources) {
    if (!functions.some(({ name, arn }) => name === functionName || arn === functionName))
      throw new Error(`The event source ${logicalId} invokes ${functionName}, which is not a function of the assembly`);
    if (!tables.find(({ name }) => name === tableName)?.properties.streamViewType)
      throw new Error(`The event source ${logicalId} reads the stream of ${tableName}, which is not a table with a stream`);
    if (failureQueueArn !== undefined && !queues.some(({ arn }) => arn === failureQueueArn))
      throw new Error(`The event source ${logicalId} sends failures to ${failureQueueArn}, which is not a queue of the assembly`);
  }
};
