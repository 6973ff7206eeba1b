import type { FaultShares } from '../fault-proxy.ts';
import type { FaultyRun, TableFault } from './table-fault.ts';

// A slow reply still comes in time; for a late one the functions don't wait.
const SLOW_MS = 100;
const LATE_MS = 4_000;
// Two waits of a client, each of which is random.
const THROTTLED_MS = 3_000;
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);

/** Any call. */
export const always = (): boolean => true;

/** A fault of some calls to the database. */
export const database = (
  name: string,
  shares: Partial<FaultShares>,
  mayFail: (tables: FaultyRun['run']['tables']) => (operation: string, body: Buffer) => boolean = () => always,
  metered: TableFault['metered'] = 'either',
  holdMs = SLOW_MS,
): TableFault => ({
  name: `DynamoDB ${name}`,
  isOfDatabase: true,
  hosts: 'all',
  metered,
  begin: async ({ run, proxy, failOnly }) => {
    failOnly(mayFail(run.tables));
    proxy.faults = shares;
    proxy.holdMs = holdMs;
  },
});

/** Tells if a call is about a table. */
export const isOf = (table: string | undefined, body: Buffer): boolean => {
  if (table === undefined) throw new Error('The app has no such table.');
  return body.includes(`"${table}"`);
};

// The first write to a limiter is an admission.
const firstWrites = ({ Keys }: FaultyRun['run']['tables']) => {
  const written = new Set<string>();
  return (operation: string, body: Buffer): boolean => {
    if (operation !== 'UpdateItem' || !isOf(Keys, body)) return false;
    const { Key } = JSON.parse(body.toString()) as { Key: { id: { S: string } } };
    const isFirst = !written.has(Key.id.S);
    written.add(Key.id.S);
    return isFirst;
  };
};

/** Faults of DynamoDB, while the functions' environments have cached what they need. */
export const DATABASE_FAULTS: readonly TableFault[] = [
  { ...database('throttles every call', { throttled: 1 }, undefined, 'fails'), failsWithinMs: THROTTLED_MS },
  database('fails every call', { failed: 1 }, undefined, 'fails'),
  database('breaks every connection', { lostRequest: 1 }, undefined, 'fails'),
  database('is slow', { slow: 1 }, undefined, 'succeeds'),
  database('replies too late to every call', { slow: 1 }, undefined, 'fails', LATE_MS),
  database('replies too late to the first write of each limiter', { slow: 1 }, firstWrites, 'either', LATE_MS),
  database('does every call and loses every reply', { lostReply: 1 }, undefined, 'fails'),
  database('does every call and replies with 500', { failedAfter: 1 }, undefined, 'fails'),
  database('fails every write', { failed: 1 }, () => (operation) => WRITES.has(operation), 'fails'),
  database('fails every read', { failed: 1 }, () => (operation) => !WRITES.has(operation)),
  database(
    'fails for the table `usage`',
    { failed: 1 },
    ({ Usage }) =>
      (_, body) =>
        isOf(Usage, body),
    'succeeds',
  ),
  database(
    'loses replies of the table `usage`',
    { lostReply: 1 },
    ({ Usage }) =>
      (_, body) =>
        isOf(Usage, body),
    'succeeds',
  ),
  database(
    'fails for the table `keys`',
    { failed: 1 },
    ({ Keys }) =>
      (_, body) =>
        isOf(Keys, body),
  ),
  database(
    'fails for the table `responses`',
    { failed: 1 },
    ({ Responses }) =>
      (_, body) =>
        isOf(Responses, body),
  ),
];
