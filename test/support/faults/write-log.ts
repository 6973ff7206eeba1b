import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/**
 * A write that the database has done, whatever reply the caller got. `undone`: released, and no longer counted as a
 * request of its minute. `item` is as it was sent; `unmarshall` converts it.
 */
export type LoggedWrite =
  | { kind: 'admitted' | 'released' | 'undone'; limiterId: string; requestId: string; expression: string }
  | { kind: 'event'; item: Record<string, AttributeValue> };

interface Write {
  TableName: string;
  Key: { id: { S: string } };
  UpdateExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, AttributeValue>;
  Item: Record<string, AttributeValue>;
}

const MAX_WRITES = 500_000;

/** Reads what a write will do, and keeps it once it is done. Other calls are not even parsed. */
export const createWriteLog = ({ keysTable, usageTable }: { keysTable?: string; usageTable?: string }) => {
  const writes: LoggedWrite[] = [];
  const tables = new Map([
    ['UpdateItem', keysTable],
    ['PutItem', usageTable],
  ]);
  return {
    read: (operation: string, body: Buffer): LoggedWrite[] => {
      const table = tables.get(operation);
      if (table === undefined || !body.includes(`"${table}"`)) return [];
      const write = JSON.parse(body.toString()) as Write;
      if (write.TableName !== table) return [];
      return operation === 'PutItem' ? [{ kind: 'event', item: write.Item }] : entriesOf(write);
    },
    add: (done: LoggedWrite[]): void => {
      if (writes.length + done.length > MAX_WRITES) throw new Error(`The log has no room for more than ${MAX_WRITES} writes.`);
      writes.push(...done);
    },
    writes: (): readonly LoggedWrite[] => writes,
  };
};

// The attribute `fl` has the requests in flight.
const entriesOf = (write: Write): LoggedWrite[] => {
  const { Key, UpdateExpression: expression = '', ExpressionAttributeNames: names = {} } = write;
  const nameOf = (token: string): string => names[token] ?? token;
  return readExpression(expression)
    .filter(({ map }) => nameOf(map) === 'fl')
    .map(({ kind, entry }) => ({
      kind: kind === 'released' && uncounts(write) ? 'undone' : kind,
      limiterId: Key.id.S,
      requestId: nameOf(entry),
      expression,
    }));
};

// An admission that is undone takes its request out of the count of its minute.
const uncounts = ({ ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} }: Write): boolean =>
  Object.entries(names).some(([token, name]) => /^r\d+$/.test(name) && values[token.replace('#', ':')]?.N === '-1');

// These keywords begin a clause of an update expression. An attribute with such a name must be written as `#set`.
const CLAUSES = /(?<![\w#:.])(SET|REMOVE|ADD|DELETE)\s/i;
const ENTRIES = {
  SET: { kind: 'admitted', entry: /(?:^|,)\s*([\w#]+)\.([\w#]+)\s*=/g },
  REMOVE: { kind: 'released', entry: /(?:^|,)\s*([\w#]+)\.([\w#]+)\s*(?=,|$)/g },
} as const;

interface Entry {
  kind: 'admitted' | 'released';
  map: string;
  entry: string;
}

const readExpression = (expression: string): Entry[] => {
  const [, ...parts] = expression.split(CLAUSES);
  return parts.flatMap((keyword, at) => {
    const clause = at % 2 === 0 && ENTRIES[keyword.toUpperCase() as keyof typeof ENTRIES];
    if (!clause) return [];
    return [...(parts[at + 1] ?? '').matchAll(clause.entry)].map(([, map = '', entry = '']) => ({ kind: clause.kind, map, entry }));
  });
};
