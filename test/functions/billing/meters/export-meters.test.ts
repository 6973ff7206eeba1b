import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { exportMeters, type MeterExportDependencies } from '../../../../functions/billing/meters/export-meters.ts';
import { createMeterStore } from '../../../../functions/billing/meters/meter-store.ts';
import { createStripeMeters } from '../../../../functions/billing/meters/stripe-meters.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { HOUR_MS } from '../../../../shared/time/units.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { noTotals } from '../../../../shared/usage/totals.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash, unreliable } from '../../../support/faults/unreliable-database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { type FakeStripe, startFakeStripe } from './fake-stripe.ts';

const HOUR = Date.parse('2026-11-10T12:00:00Z');

let database: TestDatabase;
let stripe: FakeStripe;
let nowMs: number;
let logged: string[];
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(async () => {
  nowMs = HOUR + 3 * HOUR_MS;
  stripe = await startFakeStripe(() => nowMs);
  logged = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => {
    logged.push(String(line));
    return true;
  });
});
afterEach(async () => {
  await stripe.close();
});

const setUp = (line = database.database) => {
  const organization = newId('organization');
  const hours = new Map<number, Partial<ReturnType<typeof noTotals>>>();
  const deps: MeterExportDependencies = {
    database: line,
    totals: {
      list: async function* ({ fromMs, toMs }) {
        for (const [startMs, totals] of hours)
          if (startMs >= fromMs && startMs < toMs)
            yield { organization, startMs, model: 'm', route: null, deployment: null, totals: { ...noTotals(), ...totals } };
      },
    },
    gpuEvents: createGpuEventStore(line, database.tables.Usage as string),
    meters: createMeterStore(createRecordTable(line, database.tables.Billing as string)),
    meterExport: createStripeMeters({ apiKey: async () => 'sk_test_1', wait: async () => undefined, url: stripe.url }),
    settings: { getProfile: async () => ({ stripe_customer: 'cus_1' }) },
    now: () => nowMs,
    hasTime: () => true,
  };
  return {
    organization,
    hours,
    deps,
    run: (hour = HOUR, with_: Partial<MeterExportDependencies> = {}) => exportMeters({ ...deps, ...with_ }, { organization, hour }),
  };
};

const USED = { requests: 3, prompt_tokens: 1_000n, cached_tokens: 400n, completion_tokens: 70n, cost_nanos: 5_000n, prepaid_nanos: 1_000n };
const SENT = {
  sluice_requests: 3n,
  sluice_prompt_tokens: 600n,
  sluice_cached_prompt_tokens: 400n,
  sluice_completion_tokens: 70n,
  sluice_cost_nanos: 4_000n,
};

test('exports the usage of an hour once, even if the task is repeated', async () => {
  const { organization, hours, run } = setUp();
  hours.set(HOUR, USED);
  await run();
  await run();
  expect(stripe.sums()).toEqual(SENT);
  expect(stripe.requests).toHaveLength(5);
  expect(stripe.counted[0]).toEqual({
    identifier: `${organization}.2026-11-10T12Z.prompt_tokens`,
    name: 'sluice_prompt_tokens',
    customer: 'cus_1',
    value: 600n,
    atMs: HOUR,
  });
});

test('exports GPU time by the hour in which it began, and its cost without the part paid from credit', async () => {
  const { organization, run } = setUp();
  const event = (started_at: number, is_prepaid?: true) => ({
    ...{
      id: newId('gpuTime'),
      deployment_id: `dep_${organization}`,
      org_id: organization,
      name: 'own',
      generation: 1,
      instance_type: 't',
      instances: 2,
    },
    ...{ phase: 'serving' as const, started_at, ended_at: started_at + 900_000, seconds: 900, cost_nanos: 7n, price_version: '1' },
    ...(is_prepaid && { is_prepaid }),
  });
  const gpuEvents = createGpuEventStore(database.database, database.tables.Usage as string);
  await transact(database.database, gpuEvents.toAdd([event(HOUR), event(HOUR + 900_000, true), event(HOUR + HOUR_MS)]));
  await run();
  expect(stripe.sums()).toEqual({ sluice_gpu_seconds: 3_600n, sluice_cost_nanos: 7n });
});

test('exports late usage as a difference with its own identifier', async () => {
  const { organization, hours, run } = setUp();
  hours.set(HOUR, USED);
  await run();
  hours.set(HOUR, { ...USED, requests: 4, completion_tokens: 90n });
  await run(HOUR + HOUR_MS);
  hours.set(HOUR, { ...USED, requests: 5, completion_tokens: 90n });
  await run(HOUR + 2 * HOUR_MS);
  expect(stripe.sums()).toMatchObject({ sluice_requests: 5n, sluice_completion_tokens: 90n, sluice_prompt_tokens: 600n });
  const late = stripe.counted.slice(5).map(({ identifier, value }) => [identifier.replace(organization, 'org'), value]);
  expect(late).toEqual([
    ['org.2026-11-10T12Z.completion_tokens.c1', 20n],
    ['org.2026-11-10T12Z.requests.c1', 1n],
    ['org.2026-11-10T12Z.requests.c2', 1n],
  ]);
});

test('never counts down: a decrease is taken from later usage of the hour', async () => {
  const { hours, run } = setUp();
  hours.set(HOUR, USED);
  await run();
  hours.set(HOUR, { ...USED, cost_nanos: 2_000n });
  await run();
  hours.set(HOUR, { ...USED, cost_nanos: 5_500n });
  await run();
  expect(stripe.sums()).toMatchObject({ sluice_cost_nanos: 4_500n });
});

test('counts usage once if a reply is lost, Stripe fails or limits the rate', async () => {
  const { hours, run } = setUp();
  hours.set(HOUR, USED);
  stripe.plan(['lost', 'answered', 'limited', 'limited', 'answered', 'failed', 'answered', 'lost', 'lost', 'answered']);
  await run();
  expect(stripe.sums()).toEqual(SENT);
});

test('repeats the same identifiers and amounts after an outage of Stripe, despite later usage', async () => {
  const { hours, run } = setUp();
  hours.set(HOUR, USED);
  stripe.plan(['answered', 'lost', ...Array<'failed'>(9).fill('failed')]);
  await expect(run()).rejects.toThrow('did not accept');
  hours.set(HOUR, { ...USED, prompt_tokens: 1_500n });
  stripe.plan([]);
  await run();
  expect(stripe.sums()).toEqual({ ...SENT, sluice_prompt_tokens: 1_100n });
});

test('counts usage once if the function crashes before or after any of its writes', async () => {
  for (let call = 0, crashed = true; crashed; call++) {
    const side = call % 2 === 0 ? 'before' : 'after';
    let writes = Math.floor(call / 2);
    const crash = (operation: string, when: 'before' | 'after'): boolean =>
      operation === 'transactWrite' && when === side && writes-- === 0;
    const line = unreliable(database.database, { random: () => 1, lostRequests: 0, lostReplies: 0, crash });
    const { hours, run, deps } = setUp();
    hours.set(HOUR, USED);
    const dying = createMeterStore(createRecordTable(line, database.tables.Billing as string));
    crashed = await run(HOUR, { database: line, meters: dying }).then(
      () => false,
      (error: unknown) => {
        if (error instanceof Crash) return true;
        throw error;
      },
    );
    const before = stripe.counted.length;
    await run(HOUR, deps);
    expect(stripe.counted.length === before || crashed).toBe(true);
    expect(Object.keys(stripe.sums())).toHaveLength(5);
    expect(stripe.sums()).toEqual(Object.fromEntries(Object.entries(SENT).map(([meter, value]) => [meter, value * BigInt(call + 1)])));
    expect(call).toBeLessThan(10);
  }
});

test('continues after a rejected event, says what to do, and sends the event again later', async () => {
  const { hours, run } = setUp();
  hours.set(HOUR, USED);
  stripe.unknownMeters.add('sluice_requests');
  await run();
  const { sluice_requests: _, ...others } = SENT;
  expect(stripe.sums()).toEqual(others);
  expect(logged.join('')).toContain('No active meter found for event name sluice_requests. Check that the meter exists in Stripe');
  stripe.unknownMeters.clear();
  await run(HOUR + HOUR_MS);
  expect(stripe.sums()).toEqual(SENT);
});

test('does not send an event again after a day, when Stripe would count it twice, and says so', async () => {
  const { hours, run } = setUp();
  hours.set(HOUR, USED);
  stripe.plan(['lost', ...Array<'failed'>(9).fill('failed')]);
  await expect(run()).rejects.toThrow();
  nowMs += 25 * HOUR_MS;
  await run();
  expect(stripe.counted).toHaveLength(1);
  expect(logged.join('')).toContain('It is unknown whether Stripe has counted these events.');
});

test('fails if the API key is rejected, and sends nothing without a customer', async () => {
  const { hours, run } = setUp();
  hours.set(HOUR, USED);
  const meterExport = createStripeMeters({ apiKey: async () => 'sk_wrong', wait: async () => undefined, url: stripe.url });
  await expect(run(HOUR, { meterExport })).rejects.toThrow('Stripe rejects the API key (401)');
  await run(HOUR, { settings: { getProfile: async () => ({ stripe_customer: null }) } });
  expect(stripe.counted).toEqual([]);
});
