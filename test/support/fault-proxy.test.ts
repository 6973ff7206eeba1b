import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { GetCommand, PutCommand, type PutCommandInput, ScanCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { seededRandom } from '../../infra/local/sagemaker/seeded-random.ts';
import { openLocalDatabase } from '../../infra/local/seed.ts';
import { startTestDatabase, type TestDatabase } from './database.ts';
import { FAULTS, type Fault, type FaultProxy, type FaultProxyOptions, startFaultProxy } from './fault-proxy.ts';

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

interface Job {
  url: string;
  puts?: PutCommandInput[];
  updates?: UpdateCommandInput[];
  workers: number;
}
interface Outcome {
  error?: string;
  status?: number;
  cause?: string;
  attempts?: number | undefined;
  ms: number;
}

/**
 * Sends writes by our client, each worker one after another; how each ended. It runs in a process of its own: in a test's realm the
 * SDK does not know errors of the network for errors, and so neither retries nor tells them. Nothing but its argument is there.
 */
const send = async (root: string, jobs: Job[]): Promise<Outcome[][]> => {
  const library: typeof import('@aws-sdk/lib-dynamodb') = await import('@aws-sdk/lib-dynamodb');
  const seed: typeof import('../../infra/local/seed.ts') = await import(`${root}/infra/local/seed.ts`);
  return Promise.all(
    jobs.map(async ({ url, puts = [], updates = [], workers }) => {
      const client = seed.openLocalDatabase(url);
      const calls = [
        ...puts.map((input) => () => client.send(new library.PutCommand(input))),
        ...updates.map((input) => () => client.send(new library.UpdateCommand(input))),
      ];
      const outcomes: Outcome[] = [];
      const work = async (): Promise<void> => {
        for (let call = calls.pop(); call; call = calls.pop()) {
          const start = performance.now();
          const ended = await call().then(
            ({ $metadata }) => ({ attempts: $metadata.attempts }),
            (error) => ({
              error: error.constructor.name,
              status: error.status,
              cause: error.cause?.name,
              attempts: error.cause?.$metadata?.attempts,
            }),
          );
          outcomes.push({ ...ended, ms: performance.now() - start });
        }
      };
      await Promise.all(Array.from({ length: workers }, work));
      client.destroy();
      return outcomes;
    }),
  );
};

const sendElsewhere = async (jobs: Job[]): Promise<Outcome[][]> => {
  const root = path.join(import.meta.dirname, '../..');
  const program = `console.log(JSON.stringify(await (${send})(${JSON.stringify(root)}, ${JSON.stringify(jobs)})))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
  return JSON.parse(stdout);
};

const isThere = async (id: string): Promise<boolean> => {
  const { Item } = await database.database.send(new GetCommand({ TableName: keysTable, Key: { id }, ConsistentRead: true }));
  return Item !== undefined;
};

describe('through our client', () => {
  let always: Record<string, Outcome & { seen: number }>;
  let once: Record<string, Outcome & { seen: number }>;
  beforeAll(async () => {
    const startFor = (fault: Fault, random: () => number) => startProxy({ random, faults: { [fault]: 0.5 } });
    const forGood = await Promise.all(FAULTS.map((fault) => startFor(fault, () => 0)));
    const forOnce = await Promise.all(
      FAULTS.map((fault) => {
        let drawn = 0;
        return startFor(fault, () => (drawn++ === 0 ? 0 : 0.9));
      }),
    );
    const toJob = (prefix: string) => (proxy: FaultProxy, i: number) => ({
      url: proxy.url,
      puts: [{ TableName: keysTable, Item: { id: `${prefix} ${FAULTS[i]}` } }],
      workers: 1,
    });
    const outcomes = await sendElsewhere([...forGood.map(toJob('always')), ...forOnce.map(toJob('once'))]);
    const outcomeOf = (kind: FaultProxy[], offset: number) =>
      Object.fromEntries(FAULTS.map((fault, i) => [fault, { ...(outcomes[offset + i]?.[0] as Outcome), seen: kind[i]?.seen[fault] ?? 0 }]));
    always = outcomeOf(forGood, 0);
    once = outcomeOf(forOnce, FAULTS.length);
  });

  const notDone = false;
  const done = true;
  test.each([
    ['throttled', 3, 'ThrottlingException', notDone],
    ['failed', 3, 'InternalServerError', notDone],
    ['failedAfter', 3, 'InternalServerError', done],
    ['lostRequest', 3, 'TimeoutError', notDone],
    ['lostReply', 3, 'TimeoutError', done],
    ['slow', 3, 'TimeoutError', done],
  ] as const)('a write that is always %s is a 503 after %i attempts: %s', async (fault, attempts, cause, wasDone) => {
    expect(always[fault]).toMatchObject({ error: 'DatabaseUnavailable', status: 503, cause, attempts, seen: attempts });
    expect(await isThere(`always ${fault}`)).toBe(wasDone);
  });

  test.each(FAULTS.filter((fault) => fault !== 'conflicted'))('a write that is %s once is done at the second attempt', async (fault) => {
    expect(once[fault]).toMatchObject({ attempts: 2, seen: 1 });
    expect(once[fault]?.error).toBeUndefined();
    expect(await isThere(`once ${fault}`)).toBe(true);
  });

  test('a conflict, which the SDK holds for the caller’s own mistake, is tried again by the client of ours, three times', async () => {
    expect(once.conflicted).toMatchObject({ seen: 1 });
    expect(once.conflicted?.error).toBeUndefined();
    expect(await isThere('once conflicted')).toBe(true);
    expect(always.conflicted).toMatchObject({ error: 'DatabaseUnavailable', status: 503, cause: 'TransactionConflictException', seen: 4 });
  });

  test('the client gives up a slow answer after 3 s', () => {
    expect(once.slow?.ms).toBeGreaterThan(2_900);
    expect(always.slow?.ms).toBeGreaterThan(8_700);
  });
});

describe('the proxy', () => {
  test.each([
    [0, 'ThrottlingException'],
    [0.3, 'ProvisionedThroughputExceededException'],
  ])('throttles in the words of DynamoDB', async (drawn, name) => {
    const { url } = await startProxy({ random: () => drawn, faults: { throttled: 1 } });
    const response = await fetch(url, { method: 'POST', headers: { 'x-amz-target': 'DynamoDB_20120810.GetItem' }, body: '{}' });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/x-amz-json-1.0');
    expect(response.headers.get('x-amzn-requestid')).toMatch(/./);
    expect(await response.json()).toEqual({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: expect.any(String) });
  });

  test('delivers an answer that it has held for less than the client waits', async () => {
    const { url, seen } = await startProxy({ faults: { slow: 1 }, holdMs: 200 });
    const client = openLocalDatabase(url);
    const start = performance.now();
    await client.send(new PutCommand({ TableName: keysTable, Item: { id: 'held' } }));
    expect(performance.now() - start).toBeGreaterThan(195);
    expect(await isThere('held')).toBe(true);
    expect(seen).toMatchObject({ slow: 1, passed: 0 });
    client.destroy();
  });

  test('befalls only what may fail, with the shares of the moment', async () => {
    const proxy = await startProxy({ mayFail: (operation) => operation === 'PutItem', faults: { conflicted: 1 } });
    const client = openLocalDatabase(proxy.url);
    const put = () => client.send(new PutCommand({ TableName: keysTable, Item: { id: 'filtered' } }));
    await client.send(new GetCommand({ TableName: keysTable, Key: { id: 'filtered' } }));
    await expect(put()).rejects.toMatchObject({ status: 503 });
    proxy.faults = {};
    await put();
    expect(proxy.seen).toMatchObject({ conflicted: 4, passed: 2, unknown: 0 });
    client.destroy();
  });

  test('draws each fault as often as its share says', async () => {
    const shares = { throttled: 0.1, conflicted: 0.2, failed: 0.3 };
    const proxy = await startProxy({ random: seededRandom(7), faults: shares });
    const calls = 400;
    const call = () => fetch(proxy.url, { method: 'POST', headers: { 'x-amz-target': 'DynamoDB_20120810.ListTables' }, body: '{}' });
    for (let sent = 0; sent < calls; sent += 20) await Promise.all(Array.from({ length: 20 }, async () => (await call()).arrayBuffer()));
    for (const [fault, share] of Object.entries(shares)) expect(proxy.seen[fault as Fault] / calls).toBeCloseTo(share, 1);
    expect(proxy.seen.passed / calls).toBeCloseTo(0.4, 1);
  });

  test.each([{ slow: 1.1 }, { slow: -0.1 }, { slow: 0.6, failed: 0.6 }, { slow: Number.NaN }])('refuses %j for shares', async (shares) => {
    const proxy = await startProxy();
    expect(() => {
      proxy.faults = shares;
    }).toThrow(RangeError);
  });
});

describe('the witness', () => {
  const id = 'key_witnessed';
  let proxy: FaultProxy;
  beforeEach(async () => {
    proxy = await startProxy();
    await database.database.send(new PutCommand({ TableName: keysTable, Item: { id, fl: { old: 1, older: 2, kept: 3 }, set: 0 } }));
  });

  const update = async (input: Omit<UpdateCommandInput, 'TableName' | 'Key'>, url = proxy.url): Promise<void> => {
    const client = openLocalDatabase(url);
    await client.send(new UpdateCommand({ TableName: keysTable, Key: { id }, ...input })).finally(() => client.destroy());
  };

  test('notes each entry that one expression sets and removes, however it is written', async () => {
    const UpdateExpression = 'set #set = :x, #f.#a=:x , fl.b = if_not_exists(fl.kept, :x) REMOVE fl.#old, gone, fl.older ADD n :x';
    await update({
      UpdateExpression,
      ExpressionAttributeNames: { '#set': 'set', '#f': 'fl', '#a': 'a', '#old': 'old' },
      ExpressionAttributeValues: { ':x': 1 },
    });
    const note = (kind: string, requestId: string) => ({ kind, limiterId: id, requestId, expression: UpdateExpression });
    expect(proxy.notes()).toEqual([note('took', 'a'), note('took', 'b'), note('let_go', 'old'), note('let_go', 'older')]);
    expect(proxy.admitted()).toEqual(new Set(['a', 'b']));
  });

  test('notes nothing that was refused, or that never reached the database', async () => {
    const take = { UpdateExpression: 'SET fl.a = :x', ExpressionAttributeValues: { ':x': 1 } };
    await expect(update({ ...take, ConditionExpression: 'attribute_exists(fl.a)' })).rejects.toThrow();
    proxy.faults = { conflicted: 1 };
    await expect(update(take)).rejects.toMatchObject({ status: 503 });
    expect(proxy.notes()).toEqual([]);
  });

  test('tells when it does not know what was done', async () => {
    const broken = await startFaultProxy('http://127.0.0.1:1', { random: () => 0 });
    proxies = [...proxies, broken];
    await expect(update({ UpdateExpression: 'REMOVE fl.a' }, broken.url)).rejects.toThrow();
    expect(broken.seen.unknown).toBeGreaterThan(0);
  });

  test('agrees with the tables after 300 random writes under all faults', async () => {
    const random = seededRandom(20);
    const pick = (count: number): number => Math.floor(random() * count);
    const limiters = ['key_a', 'key_b', 'key_c'];
    for (const limiter of limiters) await database.database.send(new PutCommand({ TableName: keysTable, Item: { id: limiter, fl: {} } }));
    // Few ids, so that calls in flight contend for the same entries and a note out of order would not replay.
    const updates = Array.from({ length: 240 }, (): UpdateCommandInput => {
      const common = { TableName: keysTable, Key: { id: limiters[pick(3)] }, ExpressionAttributeNames: { '#id': `req_${pick(6)}` } };
      if (random() < 0.5) return { ...common, UpdateExpression: 'REMOVE fl.#id', ConditionExpression: 'attribute_exists(fl.#id)' };
      const take = { UpdateExpression: 'SET fl.#id = :entry', ConditionExpression: 'attribute_not_exists(fl.#id)' };
      return { ...common, ...take, ExpressionAttributeValues: { ':entry': [1, 2] } };
    });
    const puts = Array.from({ length: 60 }, (_, i) => ({
      TableName: usageTable,
      Item: { usage_bucket: 'bucket', usage_event: `event ${i % 50}` },
      ConditionExpression: 'attribute_not_exists(usage_bucket)',
    }));
    const shares = { throttled: 0.04, conflicted: 0.04, failed: 0.05, failedAfter: 0.05, lostRequest: 0.05, lostReply: 0.08, slow: 0.01 };
    const bad = await startProxy({ random: seededRandom(21), faults: shares });
    const [outcomes = []] = await sendElsewhere([{ url: bad.url, updates, puts, workers: 12 }]);

    expect(outcomes).toHaveLength(300);
    const errors = new Set(outcomes.flatMap(({ error }) => error ?? []));
    expect([...errors].sort()).toEqual(['ConditionalCheckFailedException', 'DatabaseUnavailable']);
    expect(Math.min(...FAULTS.map((fault) => bad.seen[fault]))).toBeGreaterThan(0);
    expect(bad.seen.unknown).toBe(0);

    const inFlight = new Map(limiters.map((limiter) => [limiter, new Set<string>()]));
    for (const note of bad.notes()) {
      if (note.kind === 'event') continue;
      const held = inFlight.get(note.limiterId) as Set<string>;
      expect([note, held.has(note.requestId)]).toEqual([note, note.kind === 'let_go']);
      if (note.kind === 'took') held.add(note.requestId);
      else held.delete(note.requestId);
    }
    for (const limiter of limiters) {
      const { Item } = await database.database.send(new GetCommand({ TableName: keysTable, Key: { id: limiter }, ConsistentRead: true }));
      expect(Object.keys(Item?.fl).sort()).toEqual([...(inFlight.get(limiter) ?? [])].sort());
    }
    const { Items = [] } = await database.database.send(new ScanCommand({ TableName: usageTable }));
    const events = bad.notes().flatMap((note) => (note.kind === 'event' ? [unmarshall(note.item).usage_event] : []));
    expect(events.sort()).toEqual(Items.map(({ usage_event }) => usage_event).sort());
  });
});
