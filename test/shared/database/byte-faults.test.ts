import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createDirectDatabase } from '../../../shared/database/direct-database.ts';
import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { type ByteFault, type ByteFaultProxy, startByteFaultProxy } from '../../support/faults/byte-fault-proxy.ts';
import { REPLY_PLACES, REQUEST_PLACES } from '../../support/faults/byte-places.ts';
import { callerOf, credentials } from '../aws/caller-fixtures.ts';

const HITS_AT_EACH_PLACE = 4;
const REPLY_TIMEOUT_MS = 400;
const WAIT_MS = 1_000;

let emulator: TestDatabase;
let proxy: ByteFaultProxy;
let TableName: string;
beforeAll(async () => {
  emulator = await startTestDatabase();
  TableName = emulator.tables.Keys as string;
  proxy = await startByteFaultProxy(emulator.url, { random: seededRandom(3), faultOf: () => undefined, credentials });
  for (const id of ['one', 'two']) await emulator.database.put({ TableName, Item: { id, org: 'org_faults', n: 5, text: 'é' } });
});
afterAll(async () => {
  await proxy.close();
  await emulator.close();
});

const open = (attempts: number, { kind }: Case): Database => {
  const waitMs = kind === 'stall' ? REPLY_TIMEOUT_MS : WAIT_MS;
  const caller = callerOf(proxy.url, { silenceMs: waitMs, maxReplyBytes: 100_000 });
  return createDirectDatabase(caller, attempts);
};

const stored = async (id: string) => (await emulator.database.get({ TableName, Key: { id }, ConsistentRead: true })).Item;

const one = { id: 'one', org: 'org_faults', n: 5, text: 'é' };
const query = { KeyConditionExpression: 'id = :id', ExpressionAttributeValues: { ':id': 'one' } };
const reads: [string, (database: Database) => Promise<unknown>, unknown][] = [
  ['GetItem', async (database) => (await database.get({ TableName, Key: { id: 'one' } })).Item, one],
  [
    'BatchGetItem',
    async (database) => (await database.batchGet({ RequestItems: { [TableName]: { Keys: [{ id: 'one' }] } } })).Responses?.[TableName],
    [one],
  ],
  ['Query', async (database) => (await database.query({ ...query, TableName })).Items, [one]],
];
const writesOfDone: [string, (database: Database, id: string) => Promise<unknown>][] = [
  ['PutItem', (database, id) => database.put({ TableName, Item: { id, done: 1 } })],
  [
    'UpdateItem',
    (database, id) =>
      database.update({ TableName, Key: { id }, UpdateExpression: 'SET done = :one', ExpressionAttributeValues: { ':one': 1 } }),
  ],
  [
    // Not idempotent without its token.
    'TransactWriteItems',
    (database, id) =>
      database.transactWrite({
        TransactItems: [
          { Update: { TableName, Key: { id }, UpdateExpression: 'ADD done :one', ExpressionAttributeValues: { ':one': 1 } } },
        ],
      }),
  ],
];

type Case = ByteFault;
const faults: Case[] = [
  ...(['cut', 'corrupt'] as const).flatMap((kind) => [...REQUEST_PLACES, ...REPLY_PLACES].map((place) => ({ kind, place }))),
  { kind: 'stall', place: 'request body' },
  { kind: 'stall', place: 'body' },
];
const isOfReply = ({ place }: Case): boolean => !place.startsWith('request ');
// AWS rejects a request that was corrupted, so its sender must not send it again.
const isRejected = (fault: Case): boolean => fault.kind === 'corrupt' && !isOfReply(fault);

const settled = (call: Promise<unknown>): Promise<{ value?: unknown; error?: Error }> =>
  call.then(
    (value) => ({ value }),
    (error: Error) => ({ error }),
  );

describe.each(faults)('after a fault ($kind, $place)', (fault) => {
  const hits = Array.from({ length: fault.kind === 'stall' ? 1 : HITS_AT_EACH_PLACE }, (_, i) => i);
  /** Makes a call whose first exchange has the fault. */
  const first = (call: () => Promise<unknown>) => {
    const before = proxy.exchanges();
    proxy.setFaults(({ number }) => (number === before + 1 ? fault : undefined));
    return settled(call());
  };

  test.each(reads)('reads the right result at the next attempt, and never another: %s', async (_, call, expected) => {
    const database = open(3, fault);
    for (const _hit of hits) {
      const { value, error } = await first(() => call(database));
      if (error) expect(isRejected(fault)).toBe(true);
      else expect(value).toEqual(expected);
    }
  });

  test.each(writesOfDone)('writes once if the caller is told so, and never twice: %s', async (name, call) => {
    const database = open(3, fault);
    for (const hit of hits) {
      const id = `${name} ${fault.kind} ${fault.place} ${hit}`;
      const { error } = await first(() => call(database, id));
      if (error) expect(isRejected(fault)).toBe(true);
      expect(await stored(id)).toEqual(error ? undefined : { id, done: 1 });
    }
  });

  test.each(writesOfDone)('writes as far as the caller can know if it must be sent once: %s', async (name, call) => {
    const database = open(1, fault);
    for (const hit of hits) {
      const id = `once ${name} ${fault.kind} ${fault.place} ${hit}`;
      const { error } = await first(() => call(database, id));
      // The bytes that the fault hit can be without effect, such as the case of a header's name.
      const isDone = isOfReply(fault) || !error;
      expect(await stored(id)).toEqual(isDone ? { id, done: 1 } : undefined);
      if (error && !isRejected(fault)) expect(error).toBeInstanceOf(DatabaseUnavailable);
      if (fault.kind !== 'corrupt') expect(error).toBeInstanceOf(DatabaseUnavailable);
    }
  });
});
