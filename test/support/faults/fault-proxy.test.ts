import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openLocalDatabase } from '../../../infra/local/dynamodb/open-database.ts';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import { startTestDatabase, type TestDatabase } from '../emulators/database.ts';
import { FAULTS, type Fault, type FaultProxy, type FaultProxyOptions, startFaultProxy } from './fault-proxy.ts';
import { CLIENTS, type Outcome, sendInProcess } from './send-in-process.ts';

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

const isThere = async (id: string): Promise<boolean> => {
  const { Item } = await database.database.get({ TableName: keysTable, Key: { id }, ConsistentRead: true });
  return Item !== undefined;
};

describe.each(CLIENTS)('our client (%s)', (client) => {
  let always: Record<string, Outcome & { seen: number; passed: number }>;
  let once: Record<string, Outcome & { seen: number; passed: number }>;
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
      client,
      url: proxy.url,
      puts: [{ TableName: keysTable, Item: { id: `${client} ${prefix} ${FAULTS[i]}` } }],
      workers: 1,
    });
    const outcomes = await sendInProcess([...forGood.map(toJob('always')), ...forOnce.map(toJob('once'))]);
    const outcomeOf = (kind: FaultProxy[], offset: number) =>
      Object.fromEntries(
        FAULTS.map((fault, i) => {
          const { [fault]: seen = 0, passed = 0 } = kind[i]?.seen ?? {};
          return [fault, { ...(outcomes[offset + i]?.[0] as Outcome), seen, passed }];
        }),
      );
    always = outcomeOf(forGood, 0);
    once = outcomeOf(forOnce, FAULTS.length);
  });

  /** Each client's name for a connection that broke. */
  const BROKEN = client === 'sdk' ? 'TimeoutError' : 'Error';
  const notDone = false;
  const done = true;
  test.each([
    ['throttled', 3, 'ThrottlingException', notDone],
    ['failed', 3, 'InternalServerError', notDone],
    ['failedAfter', 3, 'InternalServerError', done],
    ['lostRequest', 3, BROKEN, notDone],
    ['lostReply', 3, BROKEN, done],
    ['slow', 3, 'TimeoutError', done],
  ] as const)('a write that is always %s is a 503 after %i attempts: %s', async (fault, attempts, cause, wasDone) => {
    expect(always[fault]).toMatchObject({ error: 'DatabaseUnavailable', status: 503, cause, seen: attempts, passed: 0 });
    expect(await isThere(`${client} always ${fault}`)).toBe(wasDone);
  });

  test.each(FAULTS.filter((fault) => fault !== 'conflicted'))('completes a write that is %s once at the second attempt', async (fault) => {
    expect(once[fault]).toMatchObject({ seen: 1, passed: 1 });
    expect(once[fault]?.error).toBeUndefined();
    expect(await isThere(`${client} once ${fault}`)).toBe(true);
  });

  test('retries a conflict three times, although its attempts do not', async () => {
    expect(once.conflicted).toMatchObject({ seen: 1 });
    expect(once.conflicted?.error).toBeUndefined();
    expect(await isThere(`${client} once conflicted`)).toBe(true);
    expect(always.conflicted).toMatchObject({ error: 'DatabaseUnavailable', status: 503, cause: 'TransactionConflictException', seen: 4 });
  });

  test('gives up a slow reply after 3 s', () => {
    expect(once.slow?.ms).toBeGreaterThan(2_900);
    expect(always.slow?.ms).toBeGreaterThan(8_700);
  });
});

describe('the proxy', () => {
  test.each([
    [0, 'ThrottlingException'],
    [0.3, 'ProvisionedThroughputExceededException'],
  ])('throttles with the errors of DynamoDB', async (drawn, name) => {
    const { url } = await startProxy({ random: () => drawn, faults: { throttled: 1 } });
    const response = await fetch(url, { method: 'POST', headers: { 'x-amz-target': 'DynamoDB_20120810.GetItem' }, body: '{}' });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/x-amz-json-1.0');
    expect(response.headers.get('x-amzn-requestid')).toMatch(/./);
    expect(await response.json()).toEqual({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: expect.any(String) });
  });

  test('delivers a slow reply that the client still waits for', async () => {
    const { url, seen } = await startProxy({ faults: { slow: 1 }, holdMs: 200 });
    const client = openLocalDatabase(url);
    const start = performance.now();
    await client.put({ TableName: keysTable, Item: { id: 'held' } });
    expect(performance.now() - start).toBeGreaterThan(195);
    expect(await isThere('held')).toBe(true);
    expect(seen).toMatchObject({ slow: 1, passed: 0 });
    client.destroy();
  });

  test('rejects calls whose time is wrong by more than five minutes, while it checks that', async () => {
    const proxy = await startProxy();
    const replyAt = async (date: string): Promise<string> => {
      const headers = { 'x-amz-date': date, 'x-amz-target': 'DynamoDB_20120810.Nothing' };
      return (await fetch(proxy.url, { method: 'POST', headers, body: '{}' })).text();
    };
    const dateIn = (minutes: number): string =>
      `${new Date(Date.now() + minutes * 60_000).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
    expect(await replyAt(dateIn(10))).not.toContain('InvalidSignatureException');
    proxy.checksTime = true;
    expect(await replyAt(dateIn(10))).toContain('InvalidSignatureException');
    expect(await replyAt(dateIn(-10))).toContain('InvalidSignatureException');
    expect(await replyAt(dateIn(4))).not.toContain('InvalidSignatureException');
  });

  test('injects faults only into operations that may fail, with the current shares', async () => {
    const proxy = await startProxy({ mayFail: (operation) => operation === 'PutItem', faults: { conflicted: 1 } });
    const client = openLocalDatabase(proxy.url);
    const put = () => client.put({ TableName: keysTable, Item: { id: 'filtered' } });
    await client.get({ TableName: keysTable, Key: { id: 'filtered' } });
    await expect(put()).rejects.toMatchObject({ status: 503 });
    proxy.faults = {};
    await put();
    expect(proxy.seen).toMatchObject({ conflicted: 4, passed: 2, unknown: 0 });
    client.destroy();
  });

  test('injects each fault as often as its share says', async () => {
    const shares = { throttled: 0.1, conflicted: 0.2, failed: 0.3 };
    const proxy = await startProxy({ random: seededRandom(7), faults: shares });
    const calls = 400;
    const call = () => fetch(proxy.url, { method: 'POST', headers: { 'x-amz-target': 'DynamoDB_20120810.ListTables' }, body: '{}' });
    for (let sent = 0; sent < calls; sent += 20) await Promise.all(Array.from({ length: 20 }, async () => (await call()).arrayBuffer()));
    for (const [fault, share] of Object.entries(shares)) expect(proxy.seen[fault as Fault] / calls).toBeCloseTo(share, 1);
    expect(proxy.seen.passed / calls).toBeCloseTo(0.4, 1);
  });

  test.each([{ slow: 1.1 }, { slow: -0.1 }, { slow: 0.6, failed: 0.6 }, { slow: Number.NaN }])('rejects the shares %j', async (shares) => {
    const proxy = await startProxy();
    expect(() => {
      proxy.faults = shares;
    }).toThrow(RangeError);
  });
});
