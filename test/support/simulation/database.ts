import { AwsError, isThrottle } from '../../../shared/aws/errors.ts';
import { withRetries } from '../../../shared/aws/retries.ts';
import {
  ConditionFailed,
  type Database,
  type Item,
  readNumber,
  type TransactItem,
  TransactionCanceled,
  type TransactWriteInput,
  type UpdateInput,
} from '../../../shared/database/database.ts';
import { orUnavailable } from '../../../shared/database/outage.ts';
import type { SimulatedClock } from './clock.ts';
import { readCondition, readUpdate } from './expressions.ts';
import { itemBytes } from './item-size.ts';
import type { Throughput } from './throughput.ts';

const WRITE_UNIT_BYTES = 1_024;
const READ_UNIT_BYTES = 4_096;
// A transaction prepares each of its writes, and then makes it.
const TRANSACTION_UNITS = 2;
// A changed row of an index is deleted and written anew.
const INDEX_CHANGE_UNITS = 2;
const NO_TIME = 0;

/** A table with its indexes, each on one attribute, of which rows have only their keys. */
export interface SimulatedTable {
  partitionKey: string;
  sortKey?: string;
  throughput: Throughput;
  indexes?: readonly { name: string; attribute: string; throughput: Throughput }[];
}

/** A change that was made: the item before and after it. */
export type Watcher = (table: string, before: Item | undefined, after: Item | undefined) => void;

interface Simulated {
  clock: SimulatedClock;
  random: () => number;
  tables: Readonly<Record<string, SimulatedTable>>;
  /** Called for each change, in the order in which they are made. */
  onChange: Watcher;
  /** A call's mean time, in milliseconds; half of it is the way there. */
  latencyMs: { call: number; transaction: number };
}

interface Opened {
  /** Without times and limits, to prepare a simulation. */
  isFree?: boolean;
  /** Called for each attempt that is throttled. */
  onThrottle?: () => void;
}

interface Write {
  table: string;
  key: Item;
  condition: string | undefined;
  names: Record<string, string> | undefined;
  values: Item | undefined;
  /** The item that the write leaves. */
  change: (before: Item | undefined) => Item | undefined;
  returnsOld: boolean;
}

// As a value is read again: a bigint only if a number would not be exact.
const stored = (value: unknown): unknown => {
  if (typeof value === 'bigint') return readNumber(String(value));
  if (Array.isArray(value)) return value.map(stored);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return storedItem(value);
};

const storedItem = (item: object): Item => {
  const copy: Item = {};
  for (const [name, value] of Object.entries(item)) if (value !== undefined) copy[name] = stored(value);
  return copy;
};

const toWrite = ({ Put, Update, Delete, ConditionCheck }: TransactItem, keyOf: (table: string, item: Item) => Item): Write => {
  const input = Put ?? Update ?? Delete ?? ConditionCheck;
  if (!input) throw new Error('A write of a transaction has no kind.');
  const { TableName: table, ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values } = input;
  const key = Put ? keyOf(table, Put.Item as Item) : (input as { Key: Item }).Key;
  const put = Put && storedItem(Put.Item);
  const change = (before: Item | undefined): Item | undefined => {
    if (put) return put;
    if (Delete) return undefined;
    if (!Update) return before;
    return readUpdate(Update.UpdateExpression)({ item: before ?? key, names: names ?? {}, values: storedItem(values ?? {}) });
  };
  return { table, key, condition, names, values, change, returnsOld: input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' };
};

/**
 * DynamoDB in memory, with exact conditions, and with its times and limits in simulated time. Only what limiters and
 * usage events use is there.
 */
export const createSimulatedDatabase = ({ clock, random, tables, onChange, latencyMs }: Simulated) => {
  const items = new Map<string, Map<string, Item>>(Object.keys(tables).map((name) => [name, new Map()]));
  const bytes = new WeakMap<Item, number>();
  // Keys of items that a transaction is writing.
  const locked = new Set<string>();

  const tableOf = (name: string): SimulatedTable => {
    const table = tables[name];
    if (!table) throw new Error(`The simulation has no table '${name}'.`);
    return table;
  };
  const rowsOf = (name: string): Map<string, Item> => items.get(name) as Map<string, Item>;
  const keyOf = (name: string, item: Item): Item => {
    const { partitionKey, sortKey } = tableOf(name);
    return { [partitionKey]: item[partitionKey], ...(sortKey !== undefined && { [sortKey]: item[sortKey] }) };
  };
  const idOf = (name: string, key: Item): string => {
    const { partitionKey, sortKey } = tableOf(name);
    return sortKey === undefined ? String(key[partitionKey]) : `${key[partitionKey]}\n${key[sortKey]}`;
  };
  const sizeOf = (item: Item | undefined): number => {
    if (!item) return 0;
    const known = bytes.get(item);
    if (known !== undefined) return known;
    const size = itemBytes(item);
    bytes.set(item, size);
    return size;
  };

  const holds = ({ condition, names, values }: Write, item: Item | undefined): boolean =>
    condition === undefined || readCondition(condition)({ item, names: names ?? {}, values: values ?? {} });

  const throttle = (): never => {
    throw new AwsError('ProvisionedThroughputExceededException', 400, { message: 'Simulated.' });
  };

  const use = (name: string, key: Item, kind: 'writes' | 'reads', units: number): void => {
    const { partitionKey, throughput } = tableOf(name);
    if (!throughput.use(String(key[partitionKey]), kind, units)) throttle();
  };

  // An index that is throttled throttles the writes of its table.
  const useIndexes = (name: string, before: Item | undefined, after: Item | undefined): void => {
    for (const { attribute, throughput } of tableOf(name).indexes ?? [])
      if (after && after[attribute] !== undefined && before?.[attribute] !== after[attribute])
        if (!throughput.use(String(after[attribute]), 'writes', INDEX_CHANGE_UNITS)) throttle();
  };

  const commit = (name: string, key: Item, before: Item | undefined, after: Item | undefined): void => {
    if (after === before) return;
    if (after) rowsOf(name).set(idOf(name, key), after);
    else rowsOf(name).delete(idOf(name, key));
    onChange(name, before, after);
  };

  const unitsOf = (before: Item | undefined, after: Item | undefined): number =>
    Math.max(1, Math.ceil(Math.max(sizeOf(before), sizeOf(after)) / WRITE_UNIT_BYTES));

  const writeNow = (write: Write, isFree: boolean): { before: Item | undefined; after: Item | undefined } => {
    const { table, key } = write;
    const id = idOf(table, key);
    if (locked.has(`${table} ${id}`)) throw new AwsError('TransactionConflictException', 400, { message: 'Simulated.' });
    const before = rowsOf(table).get(id);
    const isAllowed = holds(write, before);
    const after = isAllowed ? write.change(before) : before;
    if (!isFree) {
      use(table, key, 'writes', unitsOf(before, after));
      if (isAllowed) useIndexes(table, before, after);
    }
    if (!isAllowed) throw new ConditionFailed(write.returnsOld ? before : undefined);
    commit(table, key, before, after);
    return { before, after };
  };

  const lockAll = (writes: readonly Write[]): string[] => {
    const ids = writes.map(({ table, key }) => `${table} ${idOf(table, key)}`);
    if (ids.some((id) => locked.has(id)))
      throw new TransactionCanceled(ids.map((id) => ({ code: locked.has(id) ? 'TransactionConflict' : 'None' })));
    for (const id of ids) locked.add(id);
    return ids;
  };

  const commitAll = (writes: readonly Write[], isFree: boolean): void => {
    const befores = writes.map(({ table, key }) => rowsOf(table).get(idOf(table, key)));
    const reasons = writes.map((write, i) => {
      const before = befores[i];
      const isFailed = !holds(write, before);
      return { code: isFailed ? 'ConditionalCheckFailed' : 'None', ...(isFailed && write.returnsOld && before && { item: before }) };
    });
    const isCancelled = reasons.some(({ code }) => code !== 'None');
    const afters = writes.map(({ change }, i) => (isCancelled ? befores[i] : change(befores[i])));
    if (!isFree)
      for (const [i, { table, key }] of writes.entries()) use(table, key, 'writes', TRANSACTION_UNITS * unitsOf(befores[i], afters[i]));
    if (isCancelled) throw new TransactionCanceled(reasons);
    for (const [i, { table, key }] of writes.entries()) commit(table, key, befores[i], afters[i]);
  };

  const read = (name: string, key: Item, isFree: boolean): Item | undefined => {
    const item = rowsOf(name).get(idOf(name, key));
    if (!isFree) use(name, key, 'reads', Math.max(1, Math.ceil(sizeOf(item) / READ_UNIT_BYTES)));
    return item;
  };

  // Keys of partitions that are throttled are left; a read of none but such keys is throttled.
  const readAll = (name: string, keys: readonly Item[], isFree: boolean): { got: Item[]; left: Item[] } => {
    const got: Item[] = [];
    const left: Item[] = [];
    for (const key of keys)
      try {
        const item = read(name, key, isFree);
        if (item) got.push(item);
      } catch {
        left.push(key);
      }
    if (left.length === keys.length) throttle();
    return { got, left };
  };

  // Exponentially distributed about the mean, as far as it is more than the half that every call takes.
  const timeOf = (meanMs: number): number => meanMs / 4 - (meanMs / 4) * Math.log(1 - random());

  /** @param attempts of a call that is throttled */
  const open = (attempts: number, { isFree = false, onThrottle }: Opened = {}): Database => {
    const call = <Result>(meanMs: number, work: () => Result | Promise<Result>): Promise<Result> =>
      orUnavailable(
        () =>
          withRetries(attempts, undefined, async () => {
            if (isFree) return work();
            await clock.wait(timeOf(meanMs));
            try {
              return await work();
            } catch (error) {
              if (isThrottle(error)) onThrottle?.();
              throw error;
            } finally {
              await clock.wait(timeOf(meanMs));
            }
          }),
        (error) => error,
      );
    const write = (item: TransactItem, returns: UpdateInput['ReturnValues']) =>
      call(latencyMs.call, () => {
        const { before, after } = writeNow(toWrite(item, keyOf), isFree);
        return { Attributes: returns === 'ALL_NEW' ? after : returns === 'ALL_OLD' ? before : undefined };
      });
    return {
      get: ({ TableName, Key }) => call(latencyMs.call, () => ({ Item: read(TableName, Key, isFree) })),
      put: ({ ReturnValues, ...input }) => write({ Put: input }, ReturnValues),
      update: ({ ReturnValues, ...input }) => write({ Update: input }, ReturnValues),
      delete: ({ ReturnValues, ...input }) => write({ Delete: input }, ReturnValues),
      batchGet: ({ RequestItems }) =>
        call(latencyMs.call, () => {
          const found = Object.entries(RequestItems).map(([table, { Keys }]) => ({ table, ...readAll(table, Keys, isFree) }));
          return {
            Responses: Object.fromEntries(found.map(({ table, got }) => [table, got])),
            UnprocessedKeys: Object.fromEntries(found.flatMap(({ table, left }) => (left.length > 0 ? [[table, { Keys: left }]] : []))),
          };
        }),
      // Only to prepare a simulation: all rows are looked at.
      query: async ({ TableName, KeyConditionExpression, ExpressionAttributeValues: values = {} }) => {
        if (!isFree) throw new Error('The simulation has no queries.');
        const matches = readCondition(KeyConditionExpression);
        return { Items: [...rowsOf(TableName).values()].filter((item) => matches({ item, names: {}, values })) };
      },
      transactWrite: ({ TransactItems }: TransactWriteInput) =>
        call(isFree ? NO_TIME : latencyMs.transaction, async () => {
          const writes = TransactItems.map((item) => toWrite(item, keyOf));
          const ids = lockAll(writes);
          try {
            if (!isFree) await clock.wait(timeOf(latencyMs.transaction));
            commitAll(writes, isFree);
          } finally {
            for (const id of ids) locked.delete(id);
          }
        }),
    };
  };

  return {
    open,
    /** All items of a table. */
    items: (name: string): Item[] => [...rowsOf(name).values()],
  };
};
