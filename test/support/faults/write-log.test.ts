import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openLocalDatabase } from '../../../infra/local/dynamodb/open-database.ts';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import type { UpdateInput } from '../../../shared/database/database.ts';
import { startTestDatabase, type TestDatabase } from '../emulators/database.ts';
import { FAULTS, type FaultProxy, type FaultProxyOptions, startFaultProxy } from './fault-proxy.ts';
import { CLIENTS, sendInProcess } from './send-in-process.ts';

let database: TestDatabase;
let keysTable: string;
let usageTable: string;
let proxies: FaultProxy[] = [];
beforeAll(async () => {
  database = await startTestDatabase();
  keysTable = database.tables.Keys as string;
  usageTable = database.tables.Usage as string;
});
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await database.close();
});

const startProxy = async (options: Partial<FaultProxyOptions> = {}): Promise<FaultProxy> => {
  const proxy = await startFaultProxy(database.url, { random: () => 0, keysTable, usageTable, ...options });
  proxies = [...proxies, proxy];
  return proxy;
};

describe('the log of writes', () => {
  const id = 'key_logged';
  let proxy: FaultProxy;
  beforeEach(async () => {
    proxy = await startProxy();
    await database.database.put({ TableName: keysTable, Item: { id, fl: { old: 1, older: 2, kept: 3 }, set: 0 } });
  });

  const update = async (input: Omit<UpdateInput, 'TableName' | 'Key'>, url = proxy.url): Promise<void> => {
    const client = openLocalDatabase(url);
    await client.update({ TableName: keysTable, Key: { id }, ...input }).finally(() => client.destroy());
  };

  test('has each entry that an update expression sets and removes, in every notation', async () => {
    const UpdateExpression = 'set #set = :x, #f.#a=:x , fl.b = if_not_exists(fl.kept, :x) REMOVE fl.#old, gone, fl.older ADD n :x';
    await update({
      UpdateExpression,
      ExpressionAttributeNames: { '#set': 'set', '#f': 'fl', '#a': 'a', '#old': 'old' },
      ExpressionAttributeValues: { ':x': 1 },
    });
    const logged = (kind: string, requestId: string) => ({ kind, limiterId: id, requestId, expression: UpdateExpression });
    expect(proxy.writes()).toEqual([
      logged('admitted', 'a'),
      logged('admitted', 'b'),
      logged('released', 'old'),
      logged('released', 'older'),
    ]);
    expect(proxy.admitted()).toEqual(new Set(['a', 'b']));
  });

  test('omits writes that were rejected or never reached the database', async () => {
    const take = { UpdateExpression: 'SET fl.a = :x', ExpressionAttributeValues: { ':x': 1 } };
    await expect(update({ ...take, ConditionExpression: 'attribute_exists(fl.a)' })).rejects.toThrow();
    proxy.faults = { conflicted: 1 };
    await expect(update(take)).rejects.toMatchObject({ status: 503 });
    expect(proxy.writes()).toEqual([]);
  });

  test('counts calls whose outcome is unknown', async () => {
    const broken = await startFaultProxy('http://127.0.0.1:1', { random: () => 0 });
    proxies = [...proxies, broken];
    await expect(update({ UpdateExpression: 'REMOVE fl.a' }, broken.url)).rejects.toThrow();
    expect(broken.seen.unknown).toBeGreaterThan(0);
  });

  test.each(CLIENTS)('matches the tables after 300 random writes of the %s client under all faults', async (client) => {
    const random = seededRandom(20);
    const pick = (count: number): number => Math.floor(random() * count);
    const limiters = ['key_a', 'key_b', 'key_c'].map((limiter) => `${limiter}_${client}`);
    for (const limiter of limiters) await database.database.put({ TableName: keysTable, Item: { id: limiter, fl: {} } });
    // Few ids, so that calls in flight contend for the same entries and a write out of order would not replay.
    const updates = Array.from({ length: 240 }, (): UpdateInput => {
      const common = { TableName: keysTable, Key: { id: limiters[pick(3)] }, ExpressionAttributeNames: { '#id': `req_${pick(6)}` } };
      if (random() < 0.5) return { ...common, UpdateExpression: 'REMOVE fl.#id', ConditionExpression: 'attribute_exists(fl.#id)' };
      const take = { UpdateExpression: 'SET fl.#id = :entry', ConditionExpression: 'attribute_not_exists(fl.#id)' };
      return { ...common, ...take, ExpressionAttributeValues: { ':entry': [1, 2] } };
    });
    const puts = Array.from({ length: 60 }, (_, i) => ({
      TableName: usageTable,
      Item: { usage_bucket: client, usage_event: `event ${i % 50}` },
      ConditionExpression: 'attribute_not_exists(usage_bucket)',
    }));
    const shares = { throttled: 0.04, conflicted: 0.04, failed: 0.05, failedAfter: 0.05, lostRequest: 0.05, lostReply: 0.08, slow: 0.01 };
    const bad = await startProxy({ random: seededRandom(21), faults: shares });
    const [outcomes = []] = await sendInProcess([{ client, url: bad.url, updates, puts, workers: 12 }]);

    expect(outcomes).toHaveLength(300);
    const errors = new Set(outcomes.flatMap(({ error }) => error ?? []));
    expect([...errors].sort()).toEqual(['ConditionFailed', 'DatabaseUnavailable']);
    expect(Math.min(...FAULTS.map((fault) => bad.seen[fault]))).toBeGreaterThan(0);
    expect(bad.seen.unknown).toBe(0);

    const inFlight = new Map(limiters.map((limiter) => [limiter, new Set<string>()]));
    for (const write of bad.writes()) {
      if (write.kind === 'event') continue;
      const held = inFlight.get(write.limiterId) as Set<string>;
      expect([write, held.has(write.requestId)]).toEqual([write, write.kind === 'released']);
      if (write.kind === 'admitted') held.add(write.requestId);
      else held.delete(write.requestId);
    }
    for (const limiter of limiters) {
      const { Item } = await database.database.get({ TableName: keysTable, Key: { id: limiter }, ConsistentRead: true });
      expect(Object.keys(Item?.fl as object).sort()).toEqual([...(inFlight.get(limiter) ?? [])].sort());
    }
    const { Items = [] } = await database.sdk.scan({ TableName: usageTable });
    const events = bad.writes().flatMap((write) => (write.kind === 'event' ? [unmarshall(write.item).usage_event] : []));
    const stored = Items.filter(({ usage_bucket }) => usage_bucket === client).map(({ usage_event }) => usage_event);
    expect(events.sort()).toEqual(stored.sort());
  });
});
