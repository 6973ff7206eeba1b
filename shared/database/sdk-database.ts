import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  type DynamoDBClientConfig,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { ConditionFailed, type Database, type QueryInput, readNumber, TransactionCanceled } from './database.ts';
import { orUnavailable } from './outage.ts';

// All of our writes except an admission are idempotent, so the SDK may retry. The number includes the first attempt.
const MAX_CALL_ATTEMPTS = 3;
const CONNECT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 3_000;
const MAX_SOCKETS = 256;

/** The SDK's client, with the calls that no request makes. */
export interface SdkDatabase extends Database {
  scan(input: Omit<QueryInput, 'KeyConditionExpression'>): ReturnType<Database['query']>;
  destroy(): void;
}

type Place = Pick<DynamoDBClientConfig, 'endpoint' | 'region' | 'credentials'>;

interface Attempts {
  maxAttempts?: number;
  /** The most time until a connection is open. */
  connectMs?: number;
  /** How long an attempt can take. */
  requestTimeoutMs?: number;
}

/** Creates a DynamoDB client with the AWS SDK. Region, credentials and endpoint default to the environment's. */
export const createSdkDatabase = ({
  maxAttempts = MAX_CALL_ATTEMPTS,
  connectMs = CONNECT_MS,
  requestTimeoutMs = REQUEST_TIMEOUT_MS,
  ...place
}: Place & Attempts = {}): SdkDatabase => {
  const client = new DynamoDBClient({
    ...place,
    maxAttempts,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: connectMs,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    }),
  });
  // It copies the input and the output of each call for a logger that there is not.
  client.middlewareStack.remove('loggerMiddleware');
  const documents = DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: { wrapNumbers: readNumber },
  });
  const send = <Output>(call: () => Promise<Output>): Promise<Output> => orUnavailable(call, toOurs);
  return {
    get: (input) => send(() => documents.send(new GetCommand(input))),
    batchGet: (input) => send(() => documents.send(new BatchGetCommand(input))),
    query: (input) => send(() => documents.send(new QueryCommand(input))),
    scan: (input) => send(() => documents.send(new ScanCommand(input))),
    put: (input) => send(() => documents.send(new PutCommand({ ...input, Item: { ...input.Item } }))),
    update: (input) => send(() => documents.send(new UpdateCommand(input))),
    delete: (input) => send(() => documents.send(new DeleteCommand(input))),
    transactWrite: async (input) => {
      await send(() => documents.send(new TransactWriteCommand(input as ConstructorParameters<typeof TransactWriteCommand>[0])));
    },
    destroy: () => client.destroy(),
  };
};

type StoredItem = Parameters<typeof unmarshall>[0];

const plain = (item: StoredItem | undefined) => item && unmarshall(item, { wrapNumbers: readNumber });

const toOurs = (error: unknown): unknown => {
  if (error instanceof ConditionalCheckFailedException) return new ConditionFailed(plain(error.Item));
  if (!(error instanceof TransactionCanceledException)) return error;
  return new TransactionCanceled(
    (error.CancellationReasons ?? []).map(({ Code = '', Item }) => ({
      code: Code,
      ...(Item && { item: plain(Item) as object as Record<string, unknown> }),
    })),
  );
};
