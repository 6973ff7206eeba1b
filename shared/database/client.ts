import { ConditionalCheckFailedException, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { orUnavailable } from './outage.ts';

/** Every write of ours but an admission may be sent twice without harm, so the SDK may retry: at most this often in all. */
const MAX_ATTEMPTS = 3;
const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 3_000;
const MAX_SOCKETS = 256;

export type Database = DynamoDBDocumentClient;

type Place = Pick<DynamoDBClientConfig, 'endpoint' | 'region' | 'credentials'>;

/** The DynamoDB client. Region, credentials and endpoint come from the environment unless they are given. An outage is thrown as a 503. */
export const createDatabase = (place: Place = {}): Database => open(place, MAX_ATTEMPTS, createHandler());

/** Two clients over the same connections: one that sends a call again when its reply is lost, and one that sends it once, whatever becomes of it. */
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

/** Money has no bound that a double would hold: what it would not give exactly is a bigint. */
export const wrapNumbers = (text: string): number | bigint => {
  const value = Number(text);
  return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : BigInt(text);
};

/** An item as an error brings it along. */
export const itemOf = (error: ConditionalCheckFailedException): Record<string, unknown> | undefined =>
  error.Item && unmarshall(error.Item, { wrapNumbers });

/** Whether a conditional write was refused by its condition. */
export const isConditionFailed = (error: unknown): error is ConditionalCheckFailedException =>
  error instanceof ConditionalCheckFailedException;
