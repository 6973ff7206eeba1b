import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Metered, meterPass } from '../../../../functions/deployments/gpu-time/meter-pass.ts';
import type { GpuMeter, RunningInstances } from '../../../../shared/deployments/deployment.ts';
import type { InstancePrices } from '../../../../shared/gpu-time/intervals.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import { LARGE, SMALL, START } from '../../../support/fixtures/gpu-time/gpu-time-fixtures.ts';
import { sized } from '../../../support/sized.ts';

const RUNS = sized(200, 1_000);
// Fixed, so that a failure can be repeated.
const SEED = 20_261_122;
const DEPLOYMENT = { id: 'dep_1', organization: 'org_1', name: 'qwen3-8b' };

const Running = fc.uniqueArray(
  fc.record<RunningInstances>({
    generation: fc.integer({ min: 1, max: 2 }),
    instance_type: fc.constantFrom(SMALL, LARGE, 'ml.unpriced.xlarge'),
    instances: fc.integer({ min: 1, max: 4 }),
    phase: fc.constantFrom('starting', 'serving', 'draining'),
  }),
  { maxLength: 3, selector: ({ generation, instance_type, phase }) => `${generation}${instance_type}${phase}` },
);

// Mostly a minute, as by the schedule; sometimes much longer, none, or with a clock that is behind.
const gap = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 10_000, max: 75_000 }) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 3 * HOUR_MS }) },
  { weight: 2, arbitrary: fc.integer({ min: -5_000, max: 0 }) },
  { weight: 1, arbitrary: fc.constant(9 * DAY_MS) },
);

const Step = fc.record({
  gap,
  /** Undefined: the same instances as in the last pass. */
  running: fc.option(Running, { nil: undefined, freq: 2 }),
  /** False if the pass is not stored, because of a crash or because another pass came first. */
  isStored: fc.constantFrom(true, true, true, false),
  /** The amounts that requests take from the credit or return to it, and grants. */
  spent: fc.option(fc.bigInt({ min: 0n, max: 3_000_000_000n }), { nil: undefined, freq: 5 }),
  granted: fc.option(fc.bigInt({ min: 0n, max: 20_000_000_000n }), { nil: undefined, freq: 6 }),
  canDraw: fc.constantFrom(true, true, true, false),
  isPrepaid: fc.constantFrom(true, true, true, true, true, true, true, false),
});

const Prices = fc
  .array(fc.record({ after: fc.integer({ min: 0, max: 2 * DAY_MS }), hour_nanos: fc.integer({ min: 0, max: 9_000_000_000 }) }), {
    maxLength: 3,
  })
  .map((changes): InstancePrices => {
    const versionsOf = (type: string) => [
      { version: `${type} 0`, effective_at: START - DAY_MS, hour_nanos: 1_410_000_007 },
      ...changes.map(({ after, hour_nanos }, i) => ({ version: `${type} ${i + 1}`, effective_at: START + after, hour_nanos })),
    ];
    return new Map([SMALL, LARGE].map((type) => [type, versionsOf(type)]));
  });

const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);
const second = (ms: number): number => Math.floor(ms / SECOND_MS) * SECOND_MS;
const kindOf = ({ generation, instance_type, phase }: RunningInstances | GpuEvent): string => `${generation} ${instance_type} ${phase}`;

const textOf = (running: RunningInstances): string => `${kindOf(running)} ${running.instances}`;

// One interval of whole seconds within a day, at one price, with the cost that follows from them.
const isExact = (event: GpuEvent, prices: InstancePrices): boolean => {
  const { started_at, ended_at, seconds, instances, instance_type, cost_nanos, price_version, is_capped } = event;
  const inForce = (ms: number): bigint => {
    const versions = (prices.get(instance_type) ?? []).filter(({ effective_at }) => effective_at <= ms);
    return BigInt(versions.sort((one, other) => one.effective_at - other.effective_at).at(-1)?.hour_nanos ?? 0);
  };
  // Half up: the distance from the exact cost is at most half a nano-dollar.
  const error = cost_nanos * 3_600n - inForce(started_at) * BigInt(seconds) * BigInt(instances);
  return (
    ended_at - started_at === seconds * SECOND_MS &&
    dayOf(ended_at - 1) === dayOf(started_at) &&
    inForce(started_at) === inForce(ended_at - SECOND_MS) &&
    (price_version === null) === !prices.has(instance_type) &&
    (is_capped ? error < 1_800n : error > -1_800n && error <= 1_800n)
  );
};

test(`meters each second of each instance once, and loses no nano-dollar (${RUNS} runs with faults)`, () => {
  let passes = 0;
  fc.assert(
    fc.property(fc.array(Step, { minLength: 15, maxLength: 40 }), Prices, (steps, prices) => {
      let meter: GpuMeter | undefined;
      let now = START;
      let granted = 0n;
      let available = 0n;
      let paid = 0n;
      let spentByRequests = 0n;
      let seen: RunningInstances[] = [];
      const ids = new Set<string>();
      let events = 0;
      // Metered until then by the stored passes: instance-milliseconds by kind.
      const expected = new Map<string, number>();
      const metered = new Map<string, number>();
      const add = (sums: Map<string, number>, kind: string, ms: number): void =>
        void (ms > 0 && sums.set(kind, (sums.get(kind) ?? 0) + ms));

      for (const step of steps) {
        passes++;
        now += step.gap;
        if (step.granted !== undefined) {
          granted += step.granted;
          available += step.granted;
        }
        if (step.spent !== undefined && step.spent <= available) {
          available -= step.spent;
          spentByRequests += step.spent;
        }
        const running = step.running ?? seen;
        const credit = {
          isPrepaid: step.isPrepaid,
          shards: [0n, 1n].map((i) => ({ id: `org_1#${i}`, availableNanos: (available + i) / 2n })),
        };
        const before = meter;
        const result: Metered = meterPass({
          deployment: { ...DEPLOYMENT, ...(before && { meter: before }) },
          running,
          nowMs: now,
          prices,
          credit,
          canDraw: step.canDraw,
        });
        expect(result.events.filter((event) => !isExact(event, prices))).toEqual([]);
        if (!step.isStored || result.meter === before || !result.meter) {
          // A pass that changes nothing has nothing to store.
          if (result.meter === before) expect([result.events, result.draws, result.returnedNanos]).toEqual([[], [], 0n]);
          continue;
        }
        meter = result.meter;
        seen = meter.running;
        for (const event of result.events) {
          ids.add(event.id);
          events++;
          add(metered, kindOf(event), event.seconds * SECOND_MS * event.instances);
          if (event.is_prepaid) paid += event.cost_nanos;
        }
        // Only credit that has ended, or that was not to be taken, leaves something unpaid.
        if (result.events.some(({ is_capped }) => is_capped))
          expect(meter.held_nanos === 0n && (!step.canDraw || result.draws.length > 0 || available === 0n)).toBe(true);
        if (before) for (const one of before.running) add(expected, kindOf(one), (meter.until - before.until) * one.instances);
        const upToNow = Math.max(second(now), before?.until ?? 0);
        expect(meter.until).toBeLessThanOrEqual(upToNow);
        // After days without metering, a pass may not reach now, and continues with the earlier instances.
        const known = meter.until === upToNow || result.events.length === 0 ? running : (before?.running ?? []);
        expect(meter.running.map(textOf).sort()).toEqual(known.map(textOf).sort());
        for (const { id, nanos } of result.draws) {
          expect(nanos).toBeLessThanOrEqual(credit.shards.find((shard) => shard.id === id)?.availableNanos ?? 0n);
          available -= nanos;
        }
        available += result.returnedNanos;
        expect(granted).toBe(spentByRequests + paid + meter.held_nanos + available);
        expect(available >= 0n && meter.held_nanos >= 0n).toBe(true);
        if (meter.running.length === 0) expect(meter.held_nanos).toBe(0n);
        if (result.stop) expect(available <= 1n || !step.canDraw || result.draws.length > 0).toBe(true);
      }
      expect(metered).toEqual(expected);
      expect(ids.size).toBe(events);
      // Two more passes without instances close everything and return the held credit.
      for (let i = 0; i < 8 && meter && (meter.running.length > 0 || i === 0); i++) {
        const last = meterPass({
          deployment: { ...DEPLOYMENT, meter },
          running: [],
          nowMs: now + MINUTE_MS,
          prices,
          credit: { isPrepaid: true, shards: [] },
        });
        meter = last.meter;
      }
      expect(meter?.held_nanos ?? 0n).toBe(0n);
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
  expect(passes).toBeGreaterThan(10 * RUNS);
});
