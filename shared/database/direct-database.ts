import { randomUUID } from 'node:crypto';
import { type AwsCall, type AwsCaller, type AwsReply, createCaller } from '../aws/caller.ts';
import type { AwsCredentials } from '../aws/credentials.ts';
import { AwsError, DamagedReply } from '../aws/errors.ts';
import { readAttributes, writeAttributes } from './attribute-values.ts';
import { ConditionFailed, type Database, type Item, type TransactItem, TransactionCanceled } from './database.ts';
import type { createItemReader } from './item-reader.ts';
import { orUnavailable } from './outage.ts';

// All of our writes except an admission are idempotent, so calls may be retried. The number includes the first attempt.
const MAX_CALL_ATTEMPTS = 3;
const CONNECT_MS = 1_000;
const SILENCE_MS = 3_000;
// DynamoDB's largest reply: 16 MB of a BatchGetItem, in JSON.
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const MAX_SOCKETS = 256;

const API = 'DynamoDB_20120810';

const headers = new Map<string, AwsCall['headers']>();

// Always the same list for an operation, which is signed faster.
const headersOf = (operation: string): AwsCall['headers'] => {
  const known = headers.get(operation);
  if (known) return known;
  const made = Object.freeze([
    ['content-type', 'application/x-amz-json-1.0'],
    ['x-amz-target', `${API}.${operation}`],
  ] as const);
  headers.set(operation, made);
  return made;
};

interface Place {
  endpoint?: string;
  region?: string;
  credentials?: AwsCredentials;
  /** The most time until a connection is open. */
  connectMs?: number;
  /** The most time without a byte of a reply. */
  silenceMs?: number;
}

interface Reading {
  /** Reads the items that updates return. Default: they are parsed as any other reply. */
  readItem?: ReturnType<typeof createItemReader>;
}

/**
 * Two DynamoDB clients with shared connections, without the SDK: `database` retries calls, `once` never does. Region,
 * credentials and endpoint default to the environment's.
 */
export const createDirectDatabases = ({ readItem, ...place }: Place & Reading = {}): { database: Database; once: Database } => {
  const caller = createCaller({
    connectMs: CONNECT_MS,
    silenceMs: SILENCE_MS,
    ...place,
    service: 'dynamodb',
    maxReplyBytes: MAX_REPLY_BYTES,
    maxSockets: MAX_SOCKETS,
  });
  return { database: createDirectDatabase(caller, MAX_CALL_ATTEMPTS, readItem), once: createDirectDatabase(caller, 1, readItem) };
};

type Attributes = Parameters<typeof readAttributes>[0];
type StoredItem = Attributes | undefined;

interface OutputAttributes {
  Item?: Attributes;
  Items?: Attributes[];
  Attributes?: Attributes;
  LastEvaluatedKey?: Attributes;
  Responses?: Record<string, Attributes[]>;
  UnprocessedKeys?: Record<string, { Keys?: Attributes[] }>;
}

/** A DynamoDB client over a caller of DynamoDB. `attempts` includes the first one. */
export const createDirectDatabase = (caller: AwsCaller, attempts: number, readItem?: Reading['readItem']): Database => {
  /** @param body is called for each attempt after a conflict; what it throws rejects the call */
  const call = <Result>(operation: string, body: () => string, convert: (reply: AwsReply) => Result): Promise<Result> =>
    orUnavailable(() => caller.call({ path: '/', headers: headersOf(operation), body: body() }, attempts, convert), toOurs);
  const toUpdated = readUpdated(readItem);
  return {
    get: (input) => call('GetItem', () => write(input), toGot),
    put: (input) => call('PutItem', () => write(input), toAttributes),
    update: (input) => call('UpdateItem', () => write(input), toUpdated),
    delete: (input) => call('DeleteItem', () => write(input), toAttributes),
    query: (input) => call('Query', () => write(input), toQueried),
    batchGet: ({ RequestItems }) => call('BatchGetItem', () => `{"RequestItems":${mapJson(RequestItems, write)}}`, toBatch),
    transactWrite: ({ TransactItems }) => {
      // If a reply is lost, the token keeps the next attempt from making the writes again.
      const token = JSON.stringify(randomUUID());
      const body = () => `{"TransactItems":[${TransactItems.map(writeTransactItem)}],"ClientRequestToken":${token}}`;
      return call('TransactWriteItems', body, toNothing);
    },
  };
};

const mapValues = <Value, Result>(values: Record<string, Value>, convert: (value: Value) => Result): Record<string, Result> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value)]));

const mapJson = <Value>(values: Record<string, Value>, toJson: (value: Value) => string): string =>
  `{${Object.entries(values).map(([name, value]) => `${JSON.stringify(name)}:${toJson(value)}`)}}`;

const FIELDS_WITH_ATTRIBUTES = new Set(['Item', 'Key', 'ExclusiveStartKey', 'ExpressionAttributeValues']);

const writeField = (name: string, value: unknown): string => {
  if (FIELDS_WITH_ATTRIBUTES.has(name)) return writeAttributes(value as object);
  return name === 'Keys' ? `[${(value as Item[]).map(writeAttributes)}]` : JSON.stringify(value);
};

const write = (input: object): string => {
  let text = '{';
  for (const [name, value] of Object.entries(input)) {
    if (value !== undefined) text += `${text === '{' ? '' : ','}"${name}":${writeField(name, value)}`;
  }
  return `${text}}`;
};

const writeTransactItem = (item: TransactItem): string => mapJson(item as Record<string, object>, write);

const parse = (text: string): OutputAttributes => {
  try {
    return JSON.parse(text) as OutputAttributes;
  } catch {
    throw new DamagedReply('A reply of DynamoDB is not JSON.');
  }
};

const readOutput = ({ body }: AwsReply): OutputAttributes => parse(body.toString());

const toGot = (reply: AwsReply) => ({ Item: read(readOutput(reply).Item) });

const toAttributes = (reply: AwsReply) => ({ Attributes: read(readOutput(reply).Attributes) });

const toQueried = (reply: AwsReply) => {
  const { Items, LastEvaluatedKey } = readOutput(reply);
  return { Items: Items?.map(readAttributes), LastEvaluatedKey: read(LastEvaluatedKey) };
};

const toBatch = (reply: AwsReply) => {
  const { Responses, UnprocessedKeys } = readOutput(reply);
  return {
    Responses: Responses && mapValues(Responses, (items) => items.map(readAttributes)),
    UnprocessedKeys: UnprocessedKeys && mapValues(UnprocessedKeys, ({ Keys }) => ({ Keys: Keys?.map(readAttributes) })),
  };
};

const toNothing = (reply: AwsReply): void => void readOutput(reply);

const readUpdated =
  (readItem: Reading['readItem']) =>
  ({ body }: AwsReply): { Attributes: Item | undefined } => {
    const text = body.toString();
    return { Attributes: readItem?.(text) ?? read(parse(text).Attributes) };
  };

const read = (attributes: StoredItem): Item | undefined => attributes && readAttributes(attributes);

interface ConditionFacts {
  Item?: Attributes;
  CancellationReasons?: { Code?: string; Item?: Attributes }[];
}

const toOurs = (error: unknown): unknown => {
  if (!(error instanceof AwsError)) return error;
  const { Item, CancellationReasons = [] } = error.facts as ConditionFacts;
  if (error.name === 'ConditionalCheckFailedException') return new ConditionFailed(read(Item));
  if (error.name !== 'TransactionCanceledException') return error;
  return new TransactionCanceled(
    CancellationReasons.map(({ Code = '', Item }) => ({ code: Code, ...(Item && { item: readAttributes(Item) }) })),
  );
};
