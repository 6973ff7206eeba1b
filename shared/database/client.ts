import { ConditionalCheckFailedException, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { orUnavailable } from './outage.ts';

/** The SDK may retry, because all of our writes except an admission are idempotent. The number includes the first attempt. */
const MAX_ATTEMPTS = 3;
const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 3_000;
const MAX_SOCKETS = 256;

export type Database = DynamoDBDocumentClient;

type Place = Pick<DynamoDBClientConfig, 'endpoint' | 'region' | 'credentials'>;

/** Creates a DynamoDB client. Region, credentials and endpoint default to the environment's. An outage is thrown as a 503. */
export const createDatabase = (place: Place = {}): Database => open(place, MAX_ATTEMPTS, createHandler());

/** Two clients with shared connections: `database` retries calls, `once` never does. */
export const createDatabases = (place: Place = {}): { database: Database; once: Database } => {
  const handler = createHandler();
  return { database: open(place, MAX_ATTEMPTS, handler), once: open(place, 1, handler) };
};

const createHandler = (): NodeHttpHandler =>
  new NodeHttpHandler({
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    throwOnRequestTimeout: true,
    httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
  });

const open = (place: Place, maxAttempts: number, requestHandler: NodeHttpHandler): Database => {
  const client = new DynamoDBClient({ ...place, maxAttempts, requestHandler });
  client.middlewareStack.add((next) => (args) => orUnavailable(() => next(args)), {
    step: 'initialize',
    priority: 'high',
    name: 'orUnavailable',
  });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true }, unmarshallOptions: { wrapNumbers } });
};

/** Integers that a double can't represent exactly, such as large amounts of money, become bigints. */
export const wrapNumbers = (text: string): number | bigint => {
  const value = Number(text);
  return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : BigInt(text);
};

/** The existing item that a failed condition's error carries. */
export const itemOf = (error: ConditionalCheckFailedException): Record<string, unknown> | undefined =>
  error.Item && unmarshall(error.Item, { wrapNumbers });

/** Whether a conditional write failed because of its condition. */
export const isConditionFailed = (error: unknown): error is ConditionalCheckFailedException =>
  error instanceof ConditionalCheckFailedException;
