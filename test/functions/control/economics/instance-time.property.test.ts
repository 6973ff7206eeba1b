import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { instanceTimeOf } from '../../../../functions/control/economics/instance-time.ts';
import type { InstancePrice } from '../../../../shared/prices/instance-price.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import { createBusySeconds } from '../../../../shared/usage/busy-seconds.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import { DAY, Events, LARGE, Requests, SMALL, Versions } from './economics-fixtures.ts';

type Request = { atMs: number; durationMs: number };

// A request is in flight in a second if it has arrived before the second's end and has not ended before its start.
const isBusy = (requests: readonly Request[], secondMs: number): boolean =>
  requests.some(({ atMs, durationMs }) => atMs < secondMs + SECOND_MS && atMs + Math.max(durationMs, 1) > secondMs);

const inForce = (versions: readonly InstancePrice[], secondMs: number): InstancePrice | undefined => {
  let latest: InstancePrice | undefined;
  for (const each of versions)
    if (each.effective_at <= secondMs && (latest === undefined || each.effective_at > latest.effective_at)) latest = each;
  return latest;
};

const secondBySecond = (
  events: readonly GpuEvent[],
  costs: ReadonlyMap<string, readonly InstancePrice[]>,
  requests: readonly Request[],
) => {
  const sums = { waking: 0n, busy: 0n, idle: 0n, draining: 0n };
  const awake = new Set<number>();
  let [costNanos, uncostedSeconds] = [0n, 0n];
  for (const { started_at, ended_at, instances, phase, instance_type, rerate } of events) {
    if (rerate) continue;
    const hourNanos = new Map<string, bigint>();
    for (let ms = started_at; ms < ended_at; ms += SECOND_MS) {
      awake.add(ms);
      const kind = phase === 'serving' ? (isBusy(requests, ms) ? 'busy' : 'idle') : phase === 'starting' ? 'waking' : 'draining';
      sums[kind] += BigInt(instances);
      const cost = inForce(costs.get(instance_type) ?? [], ms);
      if (!cost) uncostedSeconds += BigInt(instances);
      else hourNanos.set(cost.version, (hourNanos.get(cost.version) ?? 0n) + BigInt(cost.hour_nanos) * BigInt(instances));
    }
    for (const nanos of hourNanos.values()) costNanos += (nanos * 2n + 3_600n) / 7_200n;
  }
  return {
    seconds: sums,
    awakeSeconds: BigInt(awake.size),
    costNanos,
    uncostedSeconds,
    chargeNanos: events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n),
  };
};

const busyOf = (requests: readonly Request[]) => {
  const busy = createBusySeconds();
  for (const { atMs, durationMs } of requests) busy.add(atMs, durationMs);
  return busy;
};

test('a day’s instance time equals a computation second by second, to the second and the nano-dollar', () => {
  fc.assert(
    fc.property(Events, Versions, Versions, Requests, (events, small, large, requests) => {
      const costs = new Map([
        [SMALL, small],
        [LARGE, large],
      ]);
      expect(instanceTimeOf(events, costs, busyOf(requests))).toEqual(secondBySecond(events, costs, requests));
    }),
    { numRuns: 300 },
  );
});

test('the order in which requests are added, and adding one again, change no busy second', () => {
  fc.assert(
    fc.property(Requests, (requests) => {
      const [once, again] = [busyOf(requests), busyOf([...requests].reverse().concat(requests))];
      expect([...again.hours()].sort()).toEqual([...once.hours()].sort());
      expect(again.countIn(DAY, DAY + 7_200_000)).toBe(once.countIn(DAY, DAY + 7_200_000));
    }),
  );
});
