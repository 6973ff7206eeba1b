import { readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { seededRandom } from '../../../../infra/local/sagemaker/seeded-random.ts';
import { AWS_LIMITS } from '../../../../infra/tools/capacity/aws-limits.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { HOUR_MS } from '../../../../shared/time/units.ts';
import { CAPACITY_PAGE, withTables } from '../../../infra/tools/cost/document.ts';
import { CEILINGS, ceilingsTable, SEEDS, SHORT_ANSWERS, START } from '../../../support/simulation/ceilings.ts';
import type { SimulatedLoad } from '../../../support/simulation/load.ts';
import { type SimulatedResult, simulateLoad } from '../../../support/simulation/simulate-load.ts';
import { createThroughput, NEW_TABLE } from '../../../support/simulation/throughput.ts';
import { isFull, sized } from '../../../support/sized.ts';

const DOLLAR = 1_000_000_000n;
const MOST_THROTTLED = 0.01;

beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  jest.spyOn(Math, 'random').mockImplementation(seededRandom(SHORT_ANSWERS.seed));
});

const WIDE = { requests_per_minute: 100_000, tokens_per_minute: 1_000_000_000, concurrency: 200 };

const load = (changes: Partial<SimulatedLoad>): SimulatedLoad => ({
  ...SHORT_ANSWERS,
  requestsPerSecond: 600,
  seconds: 0.6,
  rampSeconds: 0,
  keys: 2,
  key: WIDE,
  ...changes,
});

const KINDS = ['requests', 'tokens', 'concurrency', 'money'] as const;
type Kind = (typeof KINDS)[number];
type Amounts = Record<Kind, number | undefined>;

const limitsOf = ({ organization, creditNanos, key }: SimulatedLoad, isOrganization: boolean): Amounts =>
  isOrganization
    ? {
        requests: organization?.requestsPerMinute,
        tokens: organization?.tokensPerMinute,
        concurrency: organization?.concurrency,
        money: creditNanos === undefined ? undefined : Number(creditNanos),
      }
    : {
        requests: key.requests_per_minute,
        tokens: key.tokens_per_minute,
        concurrency: key.concurrency,
        money: key.total_budget_nanos === undefined ? undefined : Number(key.total_budget_nanos),
      };

const mostOf = ({ most }: SimulatedResult, id: string): Amounts => {
  const { requests = 0, tokens = 0, inFlight = 0, nanos = 0n } = most.get(id) ?? {};
  return { requests, tokens, concurrency: inFlight, money: Number(nanos) };
};

// The limits of the organization and of each key that were exceeded at any time.
const exceeded = (result: SimulatedResult, sent: SimulatedLoad): Kind[] =>
  [...result.most.keys()].flatMap((id) => {
    const limits = limitsOf(sent, id === result.organizationId);
    const most = mostOf(result, id);
    return KINDS.filter((kind) => (most[kind] ?? 0) > (limits[kind] ?? Number.POSITIVE_INFINITY));
  });

const isServed = ({ offered, admitted, throttled }: SimulatedResult): boolean =>
  admitted === offered && throttled <= MOST_THROTTLED * offered;

// A clause that each admission's condition lacks.
const without = (clause: string) => (database: Database) => ({
  ...database,
  update: ({ ConditionExpression, ...input }: Parameters<Database['update']>[0]) =>
    database.update({
      ...input,
      ...(ConditionExpression && { ConditionExpression: ConditionExpression.replace(` AND ${clause}`, '') }),
    }),
});

// A shard that gives a part of its limit to another one, and keeps it, too.
const forgetfulOf = (limit: string) => (database: Database) => ({
  ...database,
  transactWrite: ({ TransactItems }: Parameters<Database['transactWrite']>[0]) =>
    database.transactWrite({
      TransactItems: TransactItems.map(({ Update, ...item }) => ({
        ...item,
        ...(Update && { Update: { ...Update, UpdateExpression: Update.UpdateExpression.replace(`#${limit} = :${limit}, `, '') } }),
      })),
    }),
});

const TIGHT = {
  requests: { organization: { concurrency: 1_000, requestsPerMinute: 150 } },
  tokens: { organization: { concurrency: 1_000, tokensPerMinute: 50_000 } },
  concurrency: { organization: { concurrency: 60 } },
  money: { organization: { concurrency: 1_000 }, creditNanos: DOLLAR / 10n },
} as const satisfies Record<Kind, Partial<SimulatedLoad>>;
const TIGHT_KEYS = {
  requests: { ...WIDE, requests_per_minute: 90 },
  tokens: { ...WIDE, tokens_per_minute: 30_000 },
  concurrency: { ...WIDE, concurrency: 24 },
  money: { ...WIDE, total_budget_nanos: DOLLAR / 20n },
} as const satisfies Record<Kind, SimulatedLoad['key']>;

const NEARLY_ALL = 0.9;

describe('an organization or a key whose requests come faster than its limits allow', () => {
  test.each(KINDS)('has never more than its limit of %s, and nearly all of it', async (kind) => {
    for (const changes of [TIGHT[kind], { key: TIGHT_KEYS[kind] }]) {
      const sent = load(changes);
      const result = await simulateLoad(sent);
      expect(exceeded(result, sent)).toEqual([]);
      const isOrganization = 'organization' in changes;
      const [, first = ''] = result.most.keys();
      const most = mostOf(result, isOrganization ? result.organizationId : first);
      expect((most[kind] ?? 0) / (limitsOf(sent, isOrganization)[kind] ?? 0)).toBeGreaterThan(NEARLY_ALL);
      expect(result.rejected).toBeGreaterThan(0);
      expect(result.events).toBe(result.admitted);
    }
  });

  test.each([
    ['concurrency', 'a missing condition', without('size(fl) < :c')],
    ['requests', 'a missing condition', without('(attribute_not_exists(#rc) OR #rc <= :rmost)')],
    ['tokens', 'a missing condition', without('(attribute_not_exists(#tc) OR #tc <= :tmost)')],
    ['money', 'a missing condition', without('avail >= :hold')],
    ['requests', 'a shard that keeps what it gives', forgetfulOf('lim_r')],
  ] as const)('would have more than its limit of %s with %s, and the simulation finds it', async (kind, _, broken) => {
    const sent = load({ ...TIGHT[kind], broken });
    expect(exceeded(await simulateLoad(sent), sent)).toContain(kind);
  });

  test('gets all credit back that its requests held and did not use', async () => {
    const creditNanos = 100n * DOLLAR;
    const result = await simulateLoad(load({ organization: { concurrency: 1_000 }, creditNanos }));
    const left = result.items.reduce((sum, { avail = 0 }) => sum + BigInt(avail as bigint), 0n);
    expect(left).toBe(creditNanos - BigInt(result.admitted) * SHORT_ANSWERS.request.costNanos);
    expect(result.organizationShards).toBeGreaterThan(1);
  });
});

describe('the simulation', () => {
  test('names the first limit of a limiter in one item: two writes of that item for each request', async () => {
    const key = { ...WIDE, tokens_per_minute: 100_000, concurrency: 4_000 };
    const request = { ...SHORT_ANSWERS.request, tokens: 0, usedTokens: 0 };
    const sent = load({ keys: 1, key, request, requestsPerSecond: 1_000, seconds: sized(0.5, 1.5) });
    const result = await simulateLoad(sent);
    expect(result.firstThrottle).toMatchObject({ where: 'keys', cause: 'item writes' });
    expect(exceeded(result, sent)).toEqual([]);
  });

  test('gives the same each time, because it depends on its seed alone', async () => {
    const again = () => {
      jest.spyOn(Math, 'random').mockImplementation(seededRandom(SHORT_ANSWERS.seed));
      return simulateLoad(load({ ...TIGHT.requests, seconds: 0.3 }));
    };
    const [one, other] = [await again(), await again()];
    expect(one.rejected).toBeGreaterThan(0);
    // The items have secrets.
    expect({ ...one, items: [] }).toEqual({ ...other, items: [] });
  });

  test('has each of its configurations on the page', () => {
    const [, table = ''] = readFileSync(CAPACITY_PAGE, 'utf8').split(/<!-- \/?table: ceilings -->/);
    const [, , ...rows] = table.trim().split('\n');
    const shown = rows.map((row) => row.split('|').map((cell) => cell.trim()));
    expect(shown.map(([, name, tables]) => [name, tables])).toEqual(CEILINGS.map(({ name, tables }) => [name, tables]));
  });
});

// Minutes of CPU time, so only the run of all tests in their full sizes has it.
(isFull ? describe : describe.skip)('10,000 requests a second', () => {
  const results: SimulatedResult[][] = [];

  test.each(CEILINGS)(
    'of $name, with tables that serve $tables, exceed no limit, and are all admitted if the page says so',
    async ({ load: sent, holds }) => {
      const ofSeeds: SimulatedResult[] = [];
      results.push(ofSeeds);
      for (const seed of SEEDS) {
        jest.spyOn(Math, 'random').mockImplementation(seededRandom(seed));
        const result = await simulateLoad({ ...sent, seed });
        ofSeeds.push(result);
        expect(exceeded(result, sent)).toEqual([]);
        if (holds) expect(result).toMatchObject({ inFlightAtEnd: 0, events: result.admitted });
        if (!ofSeeds.every(isServed)) break;
      }
      expect(ofSeeds.every(isServed)).toBe(holds);
    },
    HOUR_MS,
  );

  test('give the figures of docs/capacity.md', () => {
    const page = readFileSync(CAPACITY_PAGE, 'utf8');
    const written = withTables(page, { ceilings: ceilingsTable(results) });
    if (process.env.WRITE_CEILINGS) writeFileSync(CAPACITY_PAGE, written);
    expect(readFileSync(CAPACITY_PAGE, 'utf8')).toBe(written);
  });

  test(
    'exceed none of several tight limits in more than a minute',
    async () => {
      const sent = load({
        requestsPerSecond: 3_000,
        seconds: 75,
        keys: 10,
        key: { requests_per_minute: 12_000, tokens_per_minute: 1_000_000_000, concurrency: 60 },
        organization: { requestsPerMinute: 80_000, tokensPerMinute: 30_000_000, concurrency: 350, budgets: { month: 100n * DOLLAR } },
        creditNanos: 60n * DOLLAR,
        organizationShards: 64,
        warm: { keys: { writes: 70_000, reads: 40_000 }, usage: { writes: 15_000, reads: 12_000 } },
        quota: { writes: 100_000, reads: 100_000 },
      });
      const result = await simulateLoad(sent);
      expect(exceeded(result, sent)).toEqual([]);
      expect(result.rejected).toBeGreaterThan(result.admitted);
    },
    HOUR_MS,
  );
});

describe('the model of DynamoDB', () => {
  const WRITES = AWS_LIMITS.partitionWrites.value;

  test('serves what a new table serves, and throttles the rest', () => {
    const table = createThroughput(() => START);
    expect(table.partitions()).toBe(NEW_TABLE.writes / WRITES);
    let served = 0;
    for (let write = 0; write < 20_000; write++) if (table.use(`key_${write % 997}`, 'writes', 1)) served++;
    expect(served).toBe(NEW_TABLE.writes);
  });

  test('splits a partition that stays hot between its items, and never an item', () => {
    let nowMs = START;
    const one = createThroughput(() => nowMs, { writes: WRITES, reads: 0 });
    const several = createThroughput(() => nowMs, { writes: WRITES, reads: 0 });
    const minutes = AWS_LIMITS.splitMinutes.value + 1;
    for (let second = 0; second < 60 * minutes; second++, nowMs += 1_000)
      for (let write = 0; write < 20; write++) {
        one.use('key_1', 'writes', 100);
        several.use(`key_${write % 4}`, 'writes', 100);
      }
    expect(one.partitions()).toBe(1);
    expect(several.partitions()).toBe(2);
    expect(one.firstThrottle()?.cause).toBe('item writes');
    expect(several.firstThrottle()?.cause).toBe('partition writes');
  });

  test('throttles above the quota of the account, whatever the table has been prepared for', () => {
    const table = createThroughput(() => START, { writes: 10 * WRITES, reads: 0 }, { writes: WRITES, reads: WRITES });
    for (let write = 0; write < 2 * WRITES; write++) table.use(`key_${write}`, 'writes', 1);
    expect(table.firstThrottle()?.cause).toBe('quota writes');
    expect(table.used().writes).toBe(WRITES);
  });
});
