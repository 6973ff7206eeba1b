import fc from 'fast-check';
import type { InstancePrice } from '../../../../shared/prices/instance-price.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import { type GpuEvent, gpuEventId } from '../../../../shared/usage/gpu-event.ts';

export const DAY = Date.UTC(2026, 10, 20);
export const SMALL = 'ml.g5.xlarge';
export const LARGE = 'ml.g5.12xlarge';

/** GPU time of a deployment, as an event. */
export const gpuEvent = (fields: Pick<GpuEvent, 'started_at' | 'ended_at'> & Partial<GpuEvent>): GpuEvent => {
  const event = {
    deployment_id: 'dep_1',
    org_id: 'org_1',
    name: 'chat',
    generation: 1,
    instance_type: SMALL,
    instances: 1,
    phase: 'serving' as const,
    seconds: (fields.ended_at - fields.started_at) / SECOND_MS,
    cost_nanos: 0n,
    price_version: null,
    ...fields,
  };
  return { id: gpuEventId(event), ...event };
};

export const version = (effective_at: number, hour_nanos: number): InstancePrice => ({
  version: `${effective_at}`,
  effective_at,
  hour_nanos,
});

/** Versions with times that are not whole seconds, some of them before the day. */
export const Versions = fc
  .uniqueArray(fc.tuple(fc.integer({ min: -5_000, max: 4_000_000 }), fc.integer({ min: 0, max: 40_000_000_000 })), {
    maxLength: 4,
    selector: ([atMs]) => atMs,
  })
  .map((all) => all.map(([atMs, nanos]) => version(DAY + atMs, nanos)));

const SECONDS = 3_600;

/** Events within the first hour of the day, of generations that can run at the same time, and corrections of prices. */
export const Events = fc.array(
  fc
    .record({
      generation: fc.integer({ min: 1, max: 3 }),
      instance_type: fc.constantFrom(SMALL, LARGE),
      instances: fc.integer({ min: 1, max: 4 }),
      phase: fc.constantFrom('starting', 'serving', 'serving', 'draining'),
      start: fc.integer({ min: 0, max: SECONDS - 1 }),
      length: fc.integer({ min: 1, max: 900 }),
      cost_nanos: fc.bigInt(-1_000n, 10_000_000_000n),
      isCorrection: fc.boolean(),
    })
    .map(({ start, length, isCorrection, ...fields }) => {
      const started_at = DAY + start * SECOND_MS;
      const ended_at = isCorrection ? started_at : started_at + length * SECOND_MS;
      return gpuEvent({ ...fields, started_at, ended_at, ...(isCorrection && { rerate: { id: 'rr_1', from: 'price_1' } }) } as never);
    }),
  { maxLength: 8 },
);

/** Requests of the hour, and of the seconds before the day. */
export const Requests = fc.array(
  fc.record({
    atMs: fc.integer({ min: -20_000, max: SECONDS * SECOND_MS }).map((ms) => DAY + ms),
    durationMs: fc.integer({ min: 0, max: 400_000 }),
  }),
  { maxLength: 12 },
);
