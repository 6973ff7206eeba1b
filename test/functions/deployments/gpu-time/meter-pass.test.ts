import { describe, expect, test } from '@jest/globals';
import { MAX_EVENTS, type Metered, meterPass } from '../../../../functions/deployments/gpu-time/meter-pass.ts';
import type { GpuMeter, RunningInstances } from '../../../../shared/deployments/deployment.ts';
import type { Credit } from '../../../../shared/gpu-time/credit.ts';
import { STEP_MS } from '../../../../shared/gpu-time/intervals.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { LARGE, PRICE_CHANGE, PRICES, SMALL, START, small } from '../../../support/fixtures/gpu-time/gpu-time-fixtures.ts';

const NO_CREDIT: Credit = { isPrepaid: false, shards: [] };
const credit = (...nanos: bigint[]): Credit => ({
  isPrepaid: true,
  shards: nanos.map((availableNanos, i) => ({ id: i === 0 ? 'org_1' : `org_1#${i}`, availableNanos })),
});
// One small instance, until the price changes.
const MINUTE_NANOS = 23_520_000n;
const STEP_NANOS = 15n * MINUTE_NANOS;

const look = (
  meter: GpuMeter | undefined,
  nowMs: number,
  seen: RunningInstances[],
  pays: Credit = NO_CREDIT,
  isStarting = false,
): Metered =>
  meterPass({
    isStarting,
    deployment: { id: 'dep_1', organization: 'org_1', name: 'qwen3-8b', ...(meter && { meter }) },
    running: seen,
    nowMs,
    prices: PRICES,
    credit: pays,
  });

const metered = (pays?: Credit): GpuMeter => look(undefined, START, [small(1)], pays).meter as GpuMeter;

describe('meterPass, for an interval', () => {
  test('opens it when instances are first seen, and charges whole seconds when their number changes', () => {
    const first = look(undefined, START + 999, [small(1)]);
    expect(first).toMatchObject({ meter: { until: START, running: [small(1)], held_nanos: 0n }, events: [] });
    const second = look(first.meter, START + 90_999, [small(3)]);
    expect(second.meter).toMatchObject({ until: START + 90_000, running: [small(3)] });
    expect(second.events).toEqual([
      {
        id: expect.stringMatching(/^gpu_\w{18}$/),
        deployment_id: 'dep_1',
        org_id: 'org_1',
        name: 'qwen3-8b',
        generation: 1,
        instance_type: SMALL,
        instances: 1,
        phase: 'serving',
        started_at: START,
        ended_at: START + 90_000,
        seconds: 90,
        cost_nanos: (3n * MINUTE_NANOS) / 2n,
        price_version: 'price_s1',
      },
    ]);
  });

  test('leaves it open while nothing changes, in whatever order AWS lists instances, for up to 15 minutes', () => {
    const both = [small(1), small(1, { instance_type: LARGE })];
    const opened = look(undefined, START, both).meter as GpuMeter;
    for (let minute = 1; minute <= 14; minute++) {
      const same = look(opened, START + minute * MINUTE_MS, both.toReversed());
      expect(same.meter).toBe(opened);
      expect(same.events).toEqual([]);
    }
    const closed = look(opened, START + 15 * MINUTE_MS, both);
    expect(closed.events.map(({ seconds, cost_nanos }) => [seconds, cost_nanos])).toEqual(
      [
        [900, 1_440_000_000n],
        [900, STEP_NANOS],
      ].toReversed(),
    );
  });

  test('charges it as `draining` from the removal of the last copy until the instances are gone', () => {
    const draining = look(metered(), START + MINUTE_MS, [small(1, { phase: 'draining' })]);
    const gone = look(draining.meter, START + 13 * MINUTE_MS, []);
    expect([...draining.events, ...gone.events].map(({ phase, seconds }) => [phase, seconds])).toEqual([
      ['serving', 60],
      ['draining', 720],
    ]);
    expect(gone.meter).toMatchObject({ running: [] });
    expect(look(gone.meter, START + 5 * HOUR_MS, []).meter).toBe(gone.meter);
  });

  test('cuts it at midnight and where the price changes, at the first whole second of the new price', () => {
    const opened = look(undefined, PRICE_CHANGE - 1_345, [small(2)]).meter as GpuMeter;
    const { events } = look(opened, PRICE_CHANGE + 13 * HOUR_MS, []);
    const midnight = Date.UTC(2026, 10, 23);
    expect(events.map(({ started_at, ended_at, price_version }) => [started_at, ended_at, price_version])).toEqual([
      [PRICE_CHANGE - 1_345, PRICE_CHANGE + 655, 'price_s1'],
      [PRICE_CHANGE + 655, midnight, 'price_s2'],
      [midnight, PRICE_CHANGE + 13 * HOUR_MS - 345, 'price_s2'],
    ]);
    expect(events[0]).toMatchObject({ seconds: 2, cost_nanos: 4n * 392_000n });
  });

  test('never charges it twice if a pass has a clock that is behind', () => {
    const ahead = look(metered(), START + MINUTE_MS, [small(2)]).meter as GpuMeter;
    const behind = look(ahead, START + 58 * SECOND_MS, [small(3)]);
    expect(behind).toMatchObject({ events: [], meter: { until: START + MINUTE_MS, running: [small(3)] } });
  });

  test('records it without charge if no price is in force, and logs an error', () => {
    const opened = look(undefined, START, [small(1, { instance_type: 'ml.p5.48xlarge' })]).meter;
    const { events, notices } = look(opened, START + MINUTE_MS, []);
    expect(events).toMatchObject([{ seconds: 60, cost_nanos: 0n, price_version: null }]);
    expect(notices).toMatchObject([{ message: 'gpu_time_unpriced', facts: { deployment: 'dep_1', instance_type: 'ml.p5.48xlarge' } }]);
  });

  test('charges many days in several passes, each of which fits a transaction', () => {
    const seen = [1, 2, 3].map((generation) => small(1, { generation }));
    let meter = look(undefined, START, seen).meter as GpuMeter;
    const days = 40;
    let seconds = 0;
    for (let pass = 0; pass < 8 && meter.until < START + days * 24 * HOUR_MS; pass++) {
      const next = look(meter, START + days * 24 * HOUR_MS, []);
      expect(next.events.length).toBeLessThanOrEqual(MAX_EVENTS);
      seconds += next.events.reduce((sum, event) => sum + event.seconds, 0);
      meter = next.meter as GpuMeter;
    }
    expect(meter).toMatchObject({ until: START + days * 24 * HOUR_MS, running: [] });
    expect(seconds).toBe(3 * days * 86_400);
  });
});

describe('meterPass, for prepaid credit', () => {
  test('takes the next 15 minutes when instances start, from the richest shards first', () => {
    const { meter, draws, stop, warning } = look(undefined, START, [small(1)], credit(STEP_NANOS - 1n, 10n * STEP_NANOS, 5n));
    expect(draws).toEqual([{ id: 'org_1#1', nanos: STEP_NANOS }]);
    expect(meter?.held_nanos).toBe(STEP_NANOS);
    expect([stop, warning]).toEqual([undefined, undefined]);
  });

  test('pays each step from the held credit, and takes the next one before that is used up', () => {
    const held = metered(credit(100n * STEP_NANOS));
    const open = look(held, START + 14 * MINUTE_MS, [small(1)], credit(99n * STEP_NANOS));
    expect(open.meter).toBe(held);
    const { meter, events, draws } = look(held, START + 15 * MINUTE_MS, [small(1)], credit(99n * STEP_NANOS));
    expect(events).toMatchObject([{ seconds: 900, cost_nanos: STEP_NANOS, is_prepaid: true }]);
    expect(draws).toEqual([{ id: 'org_1', nanos: STEP_NANOS }]);
    expect(meter?.held_nanos).toBe(STEP_NANOS);
  });

  test('returns held credit when the deployment shrinks and when it stops', () => {
    const two = look(undefined, START, [small(2)], credit(100n * STEP_NANOS)).meter as GpuMeter;
    const one = look(two, START + MINUTE_MS, [small(1)], credit(98n * STEP_NANOS));
    expect(one).toMatchObject({ draws: [], returnedNanos: STEP_NANOS - 2n * MINUTE_NANOS, meter: { held_nanos: STEP_NANOS } });
    const none = look(one.meter, START + 2 * MINUTE_MS, [], credit(98n * STEP_NANOS));
    expect(none).toMatchObject({ returnedNanos: STEP_NANOS - MINUTE_NANOS, meter: { held_nanos: 0n, running: [] } });
  });

  test('warns the owner below an hour, in the log once a day, until there is more', () => {
    const low = credit(3n * STEP_NANOS - 1n);
    const first = look(undefined, START, [small(1)], credit(4n * STEP_NANOS - 1n));
    expect(first).toMatchObject({ warning: 'credit_low', notices: [{ message: 'credit_low' }], meter: { warned_at: START } });
    const second = look(first.meter, START + MINUTE_MS, [small(1)], low);
    expect(second).toMatchObject({ warning: 'credit_low', notices: [], meter: first.meter });
    expect(look(first.meter, START + MINUTE_MS, [small(1)], credit(100n * STEP_NANOS)).warning).toBeUndefined();
    const nextDay = look({ ...(first.meter as GpuMeter), until: START + 24 * HOUR_MS }, START + 24 * HOUR_MS, [small(1)], low);
    expect(nextDay.notices).toMatchObject([{ message: 'credit_low' }]);
  });

  test('takes the last nano-dollar if it does not pay for a whole step, and then meters every minute', () => {
    const { meter, draws, stop } = look(undefined, START, [small(1)], credit(2n * MINUTE_NANOS, 3n));
    expect(draws).toEqual([
      { id: 'org_1', nanos: 2n * MINUTE_NANOS },
      { id: 'org_1#1', nanos: 3n },
    ]);
    expect(stop).toBeUndefined();
    expect(look(meter, START + MINUTE_MS, [small(1)], credit(0n, 0n))).toMatchObject({ events: [], warning: 'credit_low' });
    const more = look(meter, START + 2 * MINUTE_MS, [small(1)], credit(0n, 50n * STEP_NANOS));
    expect(more).toMatchObject({ draws: [{ id: 'org_1#1', nanos: STEP_NANOS - 3n }], meter: { held_nanos: STEP_NANOS } });
    expect([more.stop, more.warning]).toEqual([undefined, undefined]);
  });

  test('stops the deployment before the credit is exceeded', () => {
    const meter = look(undefined, START, [small(1)], credit(2n * MINUTE_NANOS)).meter as GpuMeter;
    const stopped = look(meter, START + 90 * SECOND_MS, [small(1)], credit(0n));
    expect(stopped).toMatchObject({ stop: 'out_of_credit', meter: { held_nanos: MINUTE_NANOS / 2n } });
    const tail = look(stopped.meter, START + 4 * MINUTE_MS, [], credit(0n));
    expect(tail.events).toMatchObject([{ seconds: 150, cost_nanos: MINUTE_NANOS / 2n, is_prepaid: true, is_capped: true }]);
    expect(tail.notices).toMatchObject([{ message: 'gpu_time_unpaid', facts: { unpaid_nanos: 2n * MINUTE_NANOS } }]);
    expect(tail.meter).toMatchObject({ held_nanos: 0n, running: [] });
  });

  test('takes nothing while a deduction has made its sum negative', () => {
    expect(look(undefined, START, [small(1)], credit(-10n * STEP_NANOS, STEP_NANOS))).toMatchObject({ draws: [], stop: 'out_of_credit' });
  });

  test('returns all held credit if the organization no longer prepays, and only charges GPU time', () => {
    const { meter, events, returnedNanos } = look(metered(credit(100n * STEP_NANOS)), START + MINUTE_MS, [small(2)], {
      ...credit(99n),
      isPrepaid: false,
    });
    expect(returnedNanos).toBe(STEP_NANOS);
    expect(meter?.held_nanos).toBe(0n);
    expect(events).toMatchObject([{ cost_nanos: MINUTE_NANOS }]);
    expect(events[0]).not.toHaveProperty('is_prepaid');
  });

  test('holds the cost of the next step, at the prices that will be in force', () => {
    const { meter } = look(undefined, PRICE_CHANGE - 345 - 5 * MINUTE_MS, [small(1)], credit(100n * STEP_NANOS));
    expect(meter?.held_nanos).toBe(301n * 392_000n + (900n - 301n) * 420_000n);
    expect(STEP_MS).toBe(900_000);
  });
});

describe('meterPass, for the credit held for a start', () => {
  const held: GpuMeter = { until: START, running: [], held_nanos: 2n * STEP_NANOS };

  test('keeps it until the last instance runs, whatever else uses credit, and pays from it', () => {
    const spent = credit(0n);
    expect(look(held, START + 5 * MINUTE_MS, [], spent, true)).toMatchObject({ meter: held, returnedNanos: 0n });
    const first = look(held, START + 10 * MINUTE_MS, [small(1)], spent, true);
    expect(first).toMatchObject({ meter: { held_nanos: 2n * STEP_NANOS }, draws: [], returnedNanos: 0n });
    const second = look(first.meter, START + 11 * MINUTE_MS, [small(2)], spent);
    expect(second).toMatchObject({ meter: { held_nanos: 2n * STEP_NANOS - MINUTE_NANOS }, events: [{ cost_nanos: MINUTE_NANOS }] });
    expect(second.stop).toBeUndefined();
  });

  test('returns it in the first pass after the start has ended without an instance', () => {
    const ended = look(held, START + 5 * MINUTE_MS, [], credit(0n));
    expect(ended).toMatchObject({ meter: { running: [], held_nanos: 0n }, events: [], returnedNanos: 2n * STEP_NANOS });
    expect(look(ended.meter, START + 6 * MINUTE_MS, []).meter).toBe(ended.meter);
  });

  test('returns it when the organization no longer prepays', () => {
    expect(look(held, START + MINUTE_MS, [small(1)], NO_CREDIT, true)).toMatchObject({
      meter: { held_nanos: 0n },
      returnedNanos: 2n * STEP_NANOS,
    });
  });
});
