import type { InstancePhase } from '../../../../shared/deployments/deployment.ts';
import type { InstancePrice } from '../../../../shared/prices/instance-price.ts';
import { DAY_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import type { LivedMonth } from './lived-month.ts';

const DAY_CHARACTERS = '2027-03-28'.length;
const dayOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, DAY_CHARACTERS);
const wholeSecond = (ms: number): number => Math.floor(ms / SECOND_MS) * SECOND_MS;

// The nano-dollars of a second of an instance: of the last version that is in force when it begins.
const nanosOf = (versions: readonly InstancePrice[]): ((atMs: number) => bigint) => {
  const newest = versions.toSorted((a, b) => b.effective_at - a.effective_at);
  if (newest.some(({ hour_nanos }) => hour_nanos % 3_600 !== 0)) throw new Error('Each second must cost whole nano-dollars.');
  const ofSecond = newest.map(({ effective_at, hour_nanos }) => ({ effective_at, nanos: BigInt(hour_nanos / 3_600) }));
  return (atMs) => {
    const inForce = ofSecond.find(({ effective_at }) => effective_at <= atMs);
    if (!inForce) throw new Error('There is no price.');
    return inForce.nanos;
  };
};

const noSums = () => ({
  waking: 0n,
  busy: 0n,
  idle: 0n,
  draining: 0n,
  awakeSeconds: 0n,
  costNanos: 0n,
  chargeNanos: 0n,
  soldNanos: 0n,
  requests: 0n,
  promptTokens: 0n,
  completionTokens: 0n,
});
export type DaySums = ReturnType<typeof noSums>;

const kindOf = (phase: InstancePhase, isBusy: boolean): 'waking' | 'draining' | 'busy' | 'idle' => {
  if (phase === 'serving') return isBusy ? 'busy' : 'idle';
  return phase === 'starting' ? 'waking' : 'draining';
};

/** Everything of all days together. */
export const totalOf = (days: Iterable<DaySums>): DaySums => {
  const total = noSums();
  for (const day of days) for (const name of Object.keys(total) as (keyof DaySums)[]) total[name] += day[name];
  return total;
};

/**
 * The cost and the revenue of a deployment on each UTC day, from what its passes saw and from its requests alone:
 * second by second, each as the last pass before it saw the instances.
 */
export const secondBySecond = (
  { looks, answered }: Pick<LivedMonth, 'looks' | 'answered'>,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  { charges, costs }: { charges: readonly InstancePrice[]; costs: readonly InstancePrice[] },
): Map<string, DaySums> => {
  const days = new Map<number, DaySums>();
  const [chargeAt, costAt] = [nanosOf(charges), nanosOf(costs)];
  const sumsAt = (ms: number): DaySums => {
    const day = Math.floor(ms / DAY_MS);
    const sums = days.get(day) ?? noSums();
    days.set(day, sums);
    return sums;
  };
  const busy = new Set<number>();
  for (const { admitted_at, duration_ms, prompt_tokens, completion_tokens, cost_nanos } of answered) {
    for (let ms = wholeSecond(admitted_at); ms < admitted_at + duration_ms; ms += SECOND_MS) busy.add(ms);
    if (admitted_at < fromMs || admitted_at >= toMs) continue;
    const sums = sumsAt(admitted_at);
    sums.requests++;
    sums.promptTokens += BigInt(prompt_tokens);
    sums.completionTokens += BigInt(completion_tokens);
    sums.soldNanos += cost_nanos;
  }
  for (const [i, { atMs, running }] of looks.entries()) {
    if (running.length === 0) continue;
    const untilMs = Math.min(wholeSecond(looks[i + 1]?.atMs ?? atMs), toMs);
    for (let ms = Math.max(wholeSecond(atMs), fromMs); ms < untilMs; ms += SECOND_MS) {
      const sums = sumsAt(ms);
      sums.awakeSeconds++;
      for (const { phase, instances } of running) {
        sums[kindOf(phase, busy.has(ms))] += BigInt(instances);
        sums.costNanos += BigInt(instances) * costAt(ms);
        sums.chargeNanos += BigInt(instances) * chargeAt(ms);
      }
    }
  }
  return new Map([...days].map(([day, sums]) => [dayOf(day), sums]));
};
