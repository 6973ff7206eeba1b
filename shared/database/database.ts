/**
 * An item with plain values: strings, numbers, bigints, booleans, null, bytes, arrays and objects. Undefined
 * attributes are left out.
 */
export type Item = Record<string, unknown>;

interface Table {
  TableName: string;
}

interface Condition {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
}

interface ConditionalWrite extends Table, Condition {
  /** `ALL_OLD`: a failed condition's error carries the existing item. */
  ReturnValuesOnConditionCheckFailure?: 'ALL_OLD';
}

interface Attributes {
  Attributes?: Item | undefined;
}

export interface GetInput extends Table {
  Key: Item;
  ConsistentRead?: boolean;
}

/** Items of one table, at most 100. */
export interface BatchGetTable {
  Keys: Item[];
  ConsistentRead?: boolean;
  ProjectionExpression?: string;
}

export interface BatchGetInput {
  RequestItems: Record<string, BatchGetTable>;
}

interface BatchGetOutput {
  Responses?: Record<string, Item[]> | undefined;
  UnprocessedKeys?: Record<string, { Keys?: Item[] | undefined }> | undefined;
}

export interface QueryInput extends Table {
  IndexName?: string;
  KeyConditionExpression: string;
  FilterExpression?: string;
  ProjectionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
  ExclusiveStartKey?: Item;
  ConsistentRead?: boolean;
  ScanIndexForward?: boolean;
  Limit?: number;
}

interface QueryOutput {
  Items?: Item[] | undefined;
  LastEvaluatedKey?: Item | undefined;
}

export interface PutInput extends ConditionalWrite {
  Item: object;
  ReturnValues?: 'ALL_OLD';
}

export interface UpdateInput extends ConditionalWrite {
  Key: Item;
  UpdateExpression: string;
  ReturnValues?: 'ALL_OLD' | 'ALL_NEW';
}

export interface DeleteInput extends ConditionalWrite {
  Key: Item;
  ReturnValues?: 'ALL_OLD';
}

/** One write of a transaction; exactly one of the four is given. */
export interface TransactItem {
  Put?: Omit<PutInput, 'ReturnValues'>;
  Update?: Omit<UpdateInput, 'ReturnValues'>;
  Delete?: Omit<DeleteInput, 'ReturnValues'>;
  ConditionCheck?: ConditionalWrite & { Key: Item };
}

/** At most 100 writes, to any tables. */
export interface TransactWriteInput {
  TransactItems: TransactItem[];
}

/**
 * DynamoDB. The inputs and outputs are those of its API
 * (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations_Amazon_DynamoDB.html), with plain
 * values for attributes. Integers that a double can't represent are bigints. There are two clients:
 * `sdk-database.ts`, and `direct-database.ts` for the functions on the request path.
 *
 * Every call can throw DatabaseUnavailable (503). A write whose condition fails throws ConditionFailed; a transaction
 * throws TransactionCanceled.
 */
export interface Database {
  get(input: GetInput): Promise<{ Item?: Item | undefined }>;
  batchGet(input: BatchGetInput): Promise<BatchGetOutput>;
  query(input: QueryInput): Promise<QueryOutput>;
  put(input: PutInput): Promise<Attributes>;
  update(input: UpdateInput): Promise<Attributes>;
  delete(input: DeleteInput): Promise<Attributes>;
  transactWrite(input: TransactWriteInput): Promise<void>;
}

/** The condition of a write was false. */
export class ConditionFailed extends Error {
  /** The existing item, if it exists and the write requested it. */
  readonly item: Item | undefined;

  constructor(item: Item | undefined) {
    super('The condition of a write failed.');
    this.name = 'ConditionFailed';
    this.item = item;
  }
}

/**
 * Why a write of a cancelled transaction was not made: `None` if it was not the cause, or `ConditionalCheckFailed`,
 * `TransactionConflict` …
 */
export interface CancellationReason {
  code: string;
  /** The existing item of a failed condition, if it exists and the write requested it. */
  item?: Item;
}

/** None of a transaction's writes was made. */
export class TransactionCanceled extends Error {
  /** One for each write, in their order. */
  readonly reasons: readonly CancellationReason[];

  constructor(reasons: readonly CancellationReason[]) {
    super(`A transaction was cancelled: ${reasons.map(({ code }) => code).join(', ')}.`);
    this.name = 'TransactionCanceled';
    this.reasons = reasons;
  }
}

/**
 * Reads a number: an integer that a double can't represent exactly, such as a large amount of money, becomes a
 * bigint.
 */
export const readNumber = (text: string): number | bigint => {
  const value = Number(text);
  return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : BigInt(text);
};
