import { seededRandom } from '../../../../infra/local/sagemaker/seeded-random.ts';
import type { InstancePrice } from '../../../../shared/prices/instance-price.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import { gpuEvent, LARGE, SMALL, version } from './economics-fixtures.ts';

export const MONTH = Date.UTC(2026, 10, 1);
export const MONTH_END = Date.UTC(2026, 11, 1);

// Nano-dollars that a second can be charged without a fraction, so that rounding plays no part here.
const perSecond = (nanos: number): number => nanos * 3_600;

/** Prices for customers and costs of the platform change at different times, neither of them at midnight. */
export const CHARGES: readonly InstancePrice[] = [
  version(MONTH - DAY_MS, perSecond(391_111)),
  version(Date.UTC(2026, 10, 10, 0, 0, 30), perSecond(420_007)),
];
export const COSTS: readonly InstancePrice[] = [
  version(MONTH - DAY_MS, perSecond(281_003)),
  version(Date.UTC(2026, 10, 15, 12, 34, 56), perSecond(299_999)),
];

/** Instances of one type that run in one phase for a while. */
export interface Stretch {
  fromMs: number;
  toMs: number;
  phase: GpuEvent['phase'];
  instances: number;
  type: string;
}

const stretch = (fromMs: number, lengthMs: number, phase: GpuEvent['phase'], instances = 1, type = SMALL): Stretch => ({
  fromMs,
  toMs: fromMs + lengthMs,
  phase,
  instances,
  type,
});

// Wakes each morning and sleeps each evening.
const sleeper = (): Stretch[] =>
  Array.from({ length: 30 }, (_, day) => MONTH + day * DAY_MS + 8 * HOUR_MS).flatMap((atMs) => [
    stretch(atMs, 9 * MINUTE_MS + 24_000, 'starting'),
    stretch(atMs + 9 * MINUTE_MS + 24_000, 10 * HOUR_MS, 'serving'),
    stretch(atMs + 9 * MINUTE_MS + 24_000 + 10 * HOUR_MS, 12 * MINUTE_MS, 'draining'),
  ]);

// Runs through midnights, with a second instance for two days.
const steady = (): Stretch[] => [
  stretch(MONTH + 8 * DAY_MS + 7 * HOUR_MS, 3 * DAY_MS, 'serving'),
  stretch(MONTH + 9 * DAY_MS, 2 * DAY_MS, 'serving', 1, SMALL),
];

// Never comes into service, on a type without a cost.
const failure = (): Stretch[] => [
  stretch(MONTH + 4 * DAY_MS + 10 * HOUR_MS, 31 * MINUTE_MS, 'starting', 1, LARGE),
  stretch(MONTH + 4 * DAY_MS + 10 * HOUR_MS + 31 * MINUTE_MS, 5 * MINUTE_MS, 'draining', 1, LARGE),
];

export const TIMELINES = { sleeper: sleeper(), steady: steady(), failure: failure() };

/** The nano-dollars of a second of an instance. */
export const nanosAt = (versions: readonly InstancePrice[], atMs: number): bigint => {
  const [first, second] = versions as [InstancePrice, InstancePrice];
  return BigInt((atMs < second.effective_at ? first : second).hour_nanos / 3_600);
};

const STEP_MS = 15 * MINUTE_MS;

/** The events of a deployment: of at most 15 minutes, cut at midnight and where a price for customers takes effect. */
export const eventsOf = (of: { deployment_id: string; org_id: string; name: string }, stretches: readonly Stretch[]): GpuEvent[] =>
  stretches.flatMap(({ fromMs, toMs, phase, instances, type }, i) => {
    const cuts = new Set<number>([...CHARGES.map(({ effective_at }) => effective_at), toMs]);
    for (let ms = fromMs; ms < toMs; ms += STEP_MS) cuts.add(ms);
    for (let ms = Math.ceil(fromMs / DAY_MS) * DAY_MS; ms < toMs; ms += DAY_MS) cuts.add(ms);
    const times = [...cuts].filter((ms) => ms >= fromMs && ms <= toMs).sort((a, b) => a - b);
    return times.slice(1).map((ended_at, at) => {
      const started_at = times[at] as number;
      const cost_nanos = nanosAt(CHARGES, started_at) * BigInt((ended_at - started_at) / SECOND_MS) * BigInt(instances);
      return gpuEvent({ ...of, generation: i + 1, instance_type: type, instances, phase, started_at, ended_at, cost_nanos });
    });
  });

/** A request of the month. */
export interface Call {
  deployment: 'sleeper' | 'steady';
  caller: 'owner' | 'other';
  atMs: number;
  durationMs: number;
  promptTokens: number;
  completionTokens: number;
  costNanos: bigint;
}

/** Requests at random times, the last one in flight at midnight. The last day of `steady` has none. */
export const callsOf = (seed: number, count: number): Call[] => {
  const random = seededRandom(seed);
  const upTo = (max: number): number => Math.floor(random() * max);
  const at = (deployment: Call['deployment']): number =>
    deployment === 'sleeper'
      ? MONTH + upTo(20) * DAY_MS + 8 * HOUR_MS + upTo(10 * HOUR_MS)
      : MONTH + 8 * DAY_MS + 12 * HOUR_MS + upTo(36 * HOUR_MS);
  const calls = Array.from({ length: count }, (): Call => {
    const deployment = random() < 0.7 ? 'sleeper' : 'steady';
    const caller = deployment === 'sleeper' && random() < 0.4 ? 'other' : 'owner';
    return {
      deployment,
      caller,
      atMs: at(deployment),
      durationMs: upTo(90_000),
      promptTokens: upTo(4_000),
      completionTokens: 1 + upTo(900),
      costNanos: caller === 'other' ? BigInt(upTo(1_000_000)) : 0n,
    };
  });
  const midnight = MONTH + 9 * DAY_MS;
  return [
    ...calls,
    { ...(calls[0] as Call), deployment: 'steady', caller: 'owner', costNanos: 0n, atMs: midnight - 2_500, durationMs: 61_000 },
  ];
};
