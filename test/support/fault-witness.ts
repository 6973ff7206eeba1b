import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/**
 * Something that the database has done, whatever the caller was told. `undone`: let go, and no longer counted as a request of its minute.
 * `item` is as it was sent: `unmarshall` makes it plain.
 */
export type Note =
  | { kind: 'took' | 'let_go' | 'undone'; limiterId: string; requestId: string; expression: string }
  | { kind: 'event'; item: Record<string, AttributeValue> };

/** What the witness reads of a write. */
interface Write {
  TableName: string;
  Key: { id: { S: string } };
  UpdateExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, AttributeValue>;
  Item: Record<string, AttributeValue>;
}

const MAX_NOTES = 500_000;

/** Reads from a write what it will do, and keeps it once it is done. Other calls are not even parsed. */
export const createWitness = ({ keysTable, usageTable }: { keysTable?: string; usageTable?: string }) => {
  const notes: Note[] = [];
  const tables = new Map([
    ['UpdateItem', keysTable],
    ['PutItem', usageTable],
  ]);
  return {
    read: (operation: string, body: Buffer): Note[] => {
      const table = tables.get(operation);
      if (table === undefined || !body.includes(`"${table}"`)) return [];
      const write = JSON.parse(body.toString()) as Write;
      if (write.TableName !== table) return [];
      return operation === 'PutItem' ? [{ kind: 'event', item: write.Item }] : flightsOf(write);
    },
    note: (done: Note[]): void => {
      if (notes.length + done.length > MAX_NOTES) throw new Error(`More than ${MAX_NOTES} writes to witness.`);
      notes.push(...done);
    },
    notes: (): readonly Note[] => notes,
  };
};

/** The entries of `fl`, the requests in flight, that an update sets and removes. */
const flightsOf = (write: Write): Note[] => {
  const { Key, UpdateExpression: expression = '', ExpressionAttributeNames: names = {} } = write;
  const nameOf = (token: string): string => names[token] ?? token;
  return readExpression(expression)
    .filter(({ map }) => nameOf(map) === 'fl')
    .map(({ kind, entry }) => ({
      kind: kind === 'let_go' && uncounts(write) ? 'undone' : kind,
      limiterId: Key.id.S,
      requestId: nameOf(entry),
      expression,
    }));
};

/** Whether a write takes a request out of the count of its minute. */
const uncounts = ({ ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} }: Write): boolean =>
  Object.entries(names).some(([token, name]) => /^r\d+$/.test(name) && values[token.replace('#', ':')]?.N === '-1');

/** The keywords that begin a clause of an update expression; an attribute of such a name has to be written as `#set`. */
const CLAUSES = /(?<![\w#:.])(SET|REMOVE|ADD|DELETE)\s/i;
const ENTRIES = {
  SET: { kind: 'took', entry: /(?:^|,)\s*([\w#]+)\.([\w#]+)\s*=/g },
  REMOVE: { kind: 'let_go', entry: /(?:^|,)\s*([\w#]+)\.([\w#]+)\s*(?=,|$)/g },
} as const;

interface Entry {
  kind: 'took' | 'let_go';
  map: string;
  entry: string;
}

/** The entries of maps, in the expression's own words, that it sets and removes. */
const readExpression = (expression: string): Entry[] => {
  const [, ...parts] = expression.split(CLAUSES);
  return parts.flatMap((keyword, at) => {
    const clause = at % 2 === 0 && ENTRIES[keyword.toUpperCase() as keyof typeof ENTRIES];
    if (!clause) return [];
    return [...(parts[at + 1] ?? '').matchAll(clause.entry)].map(([, map = '', entry = '']) => ({ kind: clause.kind, map, entry }));
  });
};
