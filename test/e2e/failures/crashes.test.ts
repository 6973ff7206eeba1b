import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { killProcess, settleCrashes } from '../../support/faults/settle-crashes.ts';
import { type Caller, createEveryKindOfKey } from '../../support/fixtures/every-kind-of-key.ts';
import { sized } from '../../support/sized.ts';

const KILLS = sized(20, 300);
// Kills go on until so many of them have met a stream. The faster a container, the more rarely they do.
const LEAST_CUTS = sized(2, 20);
const TOKEN_DELAY_MS = 30;
const LEAST_ANSWERED = sized(25, 200);
const CALLERS = 14;
const ENVIRONMENTS = '6';
const MAX_MS = 240_000;
const GRANTED = 1_000_000_000n;
// A process that dies while it starts is restarted after ever longer delays.
const MIN_UPTIME_MS = 300;

// Shares of all calls, together about a tenth. Many more would use up the SDK's retry budget.
const FAULTS = { throttled: 0.01, conflicted: 0.02, failed: 0.01, failedAfter: 0.02, lostRequest: 0.015, lostReply: 0.03, slow: 0.000_5 };

const FREQUENT_FAULTS = ['throttled', 'conflicted', 'failed', 'failedAfter', 'lostRequest', 'lostReply'] as const;

// They take several calls of the model.
const EMBEDDINGS = { model: 'sluice-tiny-embed', input: Array(200).fill('Hello') };
const EMBEDDING_EVERY = 7;

let database: TestDatabase;
let proxy: FaultProxy;
let run: TestRun;
const random = seededRandom(20_261_121);
beforeAll(async () => {
  database = await startTestDatabase();
  proxy = await startFaultProxy(database.url, {
    random,
    keysTable: database.tables.Keys as string,
    usageTable: database.tables.Usage as string,
  });
  process.env.DYNAMODB_ENDPOINT = proxy.url;
  try {
    run = await startTestRun('--environments', ENVIRONMENTS);
  } finally {
    delete process.env.DYNAMODB_ENDPOINT;
  }
});
afterAll(async () => {
  await run.close();
  await proxy.close();
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const ending = async (caller: Caller, number: number): Promise<number | 'cut'> => {
  const headers = {
    authorization: `Bearer ${caller.secret}`,
    'content-type': 'application/json',
    ...(number % 5 === 0 && { 'idempotency-key': `${number}` }),
  };
  const messages = [{ role: 'user', content: 'Hello' }];
  const chat = { model: run.model, messages, stream: number % 2 === 0, max_tokens: 6, temperature: 1, seed: number };
  const isEmbedding = number % EMBEDDING_EVERY === 0;
  const [path, request] = isEmbedding ? ['embeddings', EMBEDDINGS] : ['chat/completions', chat];
  try {
    const response = await fetch(`${run.base_url}/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(request) });
    const text = await response.text();
    return response.status === 200 && number % 2 === 0 && !isEmbedding && !text.includes('[DONE]') ? 'cut' : response.status;
  } catch {
    return 'cut';
  }
};

const runUnderLoad = async (callers: readonly Caller[]): Promise<{ endings: (number | 'cut')[]; kills: number }> => {
  const endings: (number | 'cut')[] = [];
  const until = performance.now() + MAX_MS;
  let kills = 0;
  let cuts = 0;
  let answered = 0;
  let number = 0;
  const isTooLate = (): boolean => performance.now() > until;
  const isKilled = (): boolean => (kills >= KILLS && cuts > LEAST_CUTS) || isTooLate();
  // By chance, a kind of fault can take some time to come.
  const isTried = (): boolean => answered > LEAST_ANSWERED && FREQUENT_FAULTS.every((fault) => proxy.seen[fault] > 0);
  const isOver = (): boolean => (isKilled() && isTried()) || isTooLate();
  const call = async (): Promise<void> => {
    while (!isOver()) {
      const end = await ending(callers[Math.floor(random() * callers.length)] as Caller, number++);
      endings.push(end);
      if (end === 'cut') cuts++;
      if (end === 200) answered++;
      // No process was up. An immediate retry would only delay the start of the next one.
      if (end === 503) await delay(50);
    }
  };
  const killer = async (): Promise<void> => {
    const seenAt = new Map<number, number>();
    while (!isKilled()) {
      await delay(random() * 400);
      const pids = (await run.facts()).pids.functions.inference ?? [];
      for (const pid of pids) if (!seenAt.has(pid)) seenAt.set(pid, performance.now());
      const grown = pids.filter((pid) => performance.now() - (seenAt.get(pid) ?? 0) > MIN_UPTIME_MS);
      const pid = grown[Math.floor(random() * grown.length)];
      if (pid !== undefined && killProcess(pid)) kills++;
    }
  };
  await Promise.all([killer(), ...Array.from({ length: CALLERS }, call)]);
  return { endings, kills };
};

test(
  `the sweep leaves one event per request and exact balances after ${KILLS} kills and database faults`,
  async () => {
    const { database: stored, limiters, tables } = database;
    const callers = await createEveryKindOfKey({ database: stored, limiters, accountsTable: tables.Accounts as string }, GRANTED);
    await run.control('container', { token_delay_ms: TOKEN_DELAY_MS });
    proxy.faults = FAULTS;
    const { endings, kills } = await runUnderLoad(callers);
    proxy.faults = {};
    expect(kills).toBeGreaterThanOrEqual(KILLS);
    expect(proxy.seen).toMatchObject({ unknown: 0 });
    for (const fault of FREQUENT_FAULTS) expect(proxy.seen[fault]).toBeGreaterThan(0);

    // Each caller got its whole reply, an error, or a broken connection.
    expect(endings.filter((end) => ![200, 409, 429, 503, 'cut'].includes(end))).toEqual([]);
    expect(endings.filter((end) => end === 200).length).toBeGreaterThan(LEAST_ANSWERED);
    expect(endings.filter((end) => end === 'cut').length).toBeGreaterThan(LEAST_CUTS);

    const events = await settleCrashes({ database, proxy, callers, granted: GRANTED });
    expect(events.filter(({ outcome }) => outcome === 'orphaned').length).toBeGreaterThan(sized(1, 10));
    expect(events.filter(({ outcome }) => outcome === 'completed').length).toBeGreaterThanOrEqual(
      endings.filter((end) => end === 200).length,
    );
  },
  MAX_MS + 60_000,
);
