import { toBase62 } from '../../../shared/ids/base62.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../shared/time/units.ts';

/** Nano-dollars per 1,000,000 tokens. */
export interface TokenPrice {
  version: string;
  effectiveMs: number;
  prompt: bigint;
  /** Absent: as other prompt tokens. */
  cached?: bigint;
  completion: bigint;
}

/** Nano-dollars per instance-hour. */
export interface HourPrice {
  version: string;
  effectiveMs: number;
  hour: bigint;
}

/** A request that ended. */
export interface Request {
  id: string;
  org: string;
  key: string;
  atMs: number;
  /** Null: its function crashed. */
  model: string | null;
  version: string | null;
  prompt: number;
  cached: number;
  completion: number;
  /** The most that it is charged; absent: any amount. */
  holdNanos?: bigint;
  isPrepaid: boolean;
  user: string | null;
}

/** Instances that ran for some seconds. */
export interface GpuTime {
  org: string;
  deployment: string;
  name: string;
  type: string;
  atMs: number;
  seconds: number;
  instances: number;
  version: string;
  isPrepaid: boolean;
}

export interface RerateStep {
  do: 'rerate';
  /** Distinguishes rerates; not an id. */
  name: string;
  model?: string;
  type?: string;
  from: string;
  to: string;
  fromMs: number;
  toMs: number;
  /** Absent: all. */
  org?: string;
}

/** The steps in their order. `atMs` is the clock. */
export type Step = { atMs: number } & (
  | { do: 'use'; requests: readonly Request[]; gpu: readonly GpuTime[] }
  | { do: 'grant'; org: string; nanos: bigint; expiresMs?: number }
  | { do: 'expire'; org: string }
  | RerateStep
  | { do: 'close'; month: string; orgs: readonly string[] }
  | { do: 'void'; org: string; month: string }
  | { do: 'credit'; org: string; month: string; nanos: bigint }
);

export interface Script {
  orgs: readonly string[];
  keys: readonly { id: string; org: string; shards: number }[];
  /** Prices that exist; the events of a model that is missing here are of one whose prices are lost. */
  models: Readonly<Record<string, readonly TokenPrice[]>>;
  /** Models that are deleted before the first month is closed, so that only their prices are left. */
  deleted: readonly string[];
  types: Readonly<Record<string, readonly HourPrice[]>>;
  steps: readonly Step[];
}

const DOLLAR = 1_000_000_000n;

// A linear congruential generator (Numerical Recipes): the same numbers for the same seed.
const numbers = (seed: number) => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return { below: (limit: number): number => Math.floor(next() * limit), happens: (share: number): boolean => next() < share };
};

const at = (text: string): number => Date.parse(`${text}Z`);

// Odd prices, so that nearly every amount is rounded.
const MODELS: Script['models'] = {
  small: [
    { version: 'small-1', effectiveMs: at('2026-08-01T00:00'), prompt: 150_000_007n, completion: 600_000_011n },
    { version: 'small-2', effectiveMs: at('2026-09-16T12:34:56.789'), prompt: 50_000_003n, cached: 12_500_001n, completion: 200_000_009n },
    { version: 'small-3', effectiveMs: at('2026-11-10T00:00'), prompt: 45_000_013n, cached: 9_999_999n, completion: 199_999_999n },
  ],
  large: [
    { version: 'large-1', effectiveMs: at('2026-08-01T00:00'), prompt: 2_000_000_001n, cached: 500_000_001n, completion: 8_000_000_003n },
    {
      version: 'large-wrong',
      effectiveMs: at('2026-10-05T09:00'),
      prompt: 20_000_000_001n,
      cached: 5_000_000_001n,
      completion: 80_000_000_003n,
    },
    { version: 'large-2', effectiveMs: at('2026-10-20T17:00'), prompt: 1_700_000_007n, cached: 333_333_333n, completion: 6_777_777_777n },
  ],
  retired: [{ version: 'retired-1', effectiveMs: at('2026-08-01T00:00'), prompt: 999_999_999n, completion: 3_000_000_001n }],
};
const TYPES: Script['types'] = {
  'ml.g5.xlarge': [
    { version: 'g5-1', effectiveMs: at('2026-08-01T00:00'), hour: 1_410_000_007n },
    { version: 'g5-2', effectiveMs: at('2026-10-15T06:00'), hour: 1_266_666_667n },
  ],
};

const versionAt = (prices: readonly { version: string; effectiveMs: number }[], atMs: number): string =>
  prices.filter(({ effectiveMs }) => effectiveMs <= atMs).at(-1)?.version ?? '';

interface Size {
  /** Requests of each shard of a key and day. */
  requestsPerShardDay: number;
  /** Makes the ids of a run distinct. */
  run: string;
  seed?: number;
}

/** The quarter from September to November 2026, and the months after it in which late events arrive. */
export const writeScript = ({ requestsPerShardDay, run, seed = 1 }: Size): Script => {
  const random = numbers(seed);
  const [prepaid, postpaid, sparse] = ['a', 'b', 'c'].map((letter) => `org_${run}${letter}`) as [string, string, string];
  const keys = [
    { id: `key_${run}a1`, org: prepaid, shards: 1 },
    { id: `key_${run}a2`, org: prepaid, shards: 2 },
    { id: `key_${run}b1`, org: postpaid, shards: 1 },
    { id: `key_${run}c1`, org: sparse, shards: 1 },
  ];
  let made = 0;

  const requestAt = (key: (typeof keys)[number], atMs: number): Request => {
    const kind = random.below(1_000);
    const model = kind < 4 ? null : kind < 10 ? 'ghost' : kind < 40 ? 'retired' : kind < 850 ? 'small' : 'large';
    const prompt = model === null ? 0 : 1 + random.below(4_000);
    const isFree = model === null || random.happens(0.02);
    const prices = MODELS[model ?? ''];
    return {
      id: `req_${toBase62(atMs, 7)}${toBase62(made++, 18)}`,
      org: key.org,
      key: key.id,
      atMs,
      model,
      version: model === null ? null : prices ? versionAt(prices, atMs) : 'ghost-1',
      prompt: isFree ? 0 : prompt,
      // A runtime that counts more cached tokens than tokens is believed up to the prompt.
      cached: isFree ? 0 : random.happens(0.3) ? random.below(prompt + 3) : 0,
      completion: isFree ? 0 : random.below(900),
      ...(random.happens(0.01) && { holdNanos: BigInt(random.below(2_000_000)) }),
      isPrepaid: key.org === prepaid,
      user: random.happens(0.5) ? 'user-1' : null,
    };
  };

  /**
   * The requests of a key in a day: within a minute, so that totals have few rows, and in the afternoon of a day on
   * which a price changes at noon.
   */
  const requestsOf = (key: (typeof keys)[number], dayMs: number, count: number): Request[] =>
    Array.from({ length: count }, (_, i) => {
      const hour = dayMs === at('2026-09-16T00:00') && i % 2 === 0 ? 15 : 9;
      return requestAt(key, dayMs + hour * HOUR_MS + random.below(MINUTE_MS));
    });

  const gpuOf = (org: string, name: string, dayMs: number): GpuTime[] =>
    [3, 11, 20].map((hour) => {
      const atMs = dayMs + hour * HOUR_MS + random.below(1_000) * 1_000;
      const type = 'ml.g5.xlarge';
      const ran = { type, atMs, seconds: 1 + random.below(1_800), instances: 1 + random.below(3) };
      return {
        org,
        deployment: `dep_${run}${name}`,
        name,
        ...ran,
        version: versionAt(TYPES[type] ?? [], atMs),
        isPrepaid: org === prepaid,
      };
    });

  /** Every fifth day of the month, and the last one. */
  const days = (from: string, to: string): number[] => {
    const found: number[] = [];
    for (let ms = at(`${from}T00:00`); ms < at(`${to}T00:00`); ms += DAY_MS)
      if (new Date(ms).getUTCDate() % 5 === 1 || new Date(ms + DAY_MS).getUTCDate() === 1) found.push(ms);
    return found;
  };

  /** Everything that is used in some days. */
  const use = (from: string, to: string): Step => ({
    do: 'use',
    atMs: at(`${to}T00:30`),
    requests: days(from, to).flatMap((dayMs) =>
      keys.flatMap((key) => {
        // The third organization uses little after September, so that a correction can exceed a month.
        const share = key.org === sparse && dayMs >= at('2026-10-01T00:00') ? 1 / 50 : 1;
        return requestsOf(key, dayMs, Math.ceil(requestsPerShardDay * key.shards * share));
      }),
    ),
    gpu: days(from, to).flatMap((dayMs) => [...gpuOf(prepaid, 'own', dayMs), ...gpuOf(postpaid, 'rented', dayMs)]),
  });

  /** Requests of earlier days that are settled only now. */
  const late = (now: string, day: string, count: number, only: readonly string[] = [prepaid, postpaid, sparse]): Step => ({
    do: 'use',
    atMs: at(now),
    requests: keys.filter(({ org }) => only.includes(org)).flatMap((key) => requestsOf(key, at(`${day}T00:00`), count)),
    gpu: [],
  });

  const grant = (time: string, dollars: bigint, expires?: string): Step => ({
    do: 'grant',
    atMs: at(time),
    org: prepaid,
    nanos: dollars * DOLLAR,
    ...(expires !== undefined && { expiresMs: at(`${expires}T00:00`) }),
  });
  const expire = (day: string, time = '01:00'): Step => ({ do: 'expire', atMs: at(`${day}T${time}`), org: prepaid });
  const close = (month: string, time: string, orgs: readonly string[] = [prepaid, postpaid, sparse]): Step => ({
    do: 'close',
    atMs: at(time),
    month,
    orgs,
  });
  const rerate = (time: string, facts: Omit<RerateStep, 'do' | 'fromMs' | 'toMs'>, from: string, to: string): Step => ({
    do: 'rerate',
    atMs: at(time),
    ...facts,
    fromMs: at(from),
    toMs: at(to),
  });

  const steps: Step[] = [
    grant('2026-09-01T00:00', 60n, '2026-10-01'),
    grant('2026-09-01T00:00:01', 4_000n),
    grant('2026-09-01T00:00:02', 100n, '2026-09-21'),
    use('2026-09-01', '2026-09-11'),
    grant('2026-09-11T08:00', 1_500n, '2026-11-01'),
    grant('2026-09-12T08:00', -3n),
    use('2026-09-11', '2026-09-21'),
    expire('2026-09-21'),
    use('2026-09-21', '2026-10-01'),
    expire('2026-10-01'),
    close('2026-09', '2026-10-01T01:00'),
    late('2026-10-03T10:00', '2026-09-30', 9),
    late('2026-10-03T10:01', '2026-09-02', 3, [postpaid]),
    // Late events had used credit that has expired.
    expire('2026-10-03', '10:02'),
    use('2026-10-01', '2026-10-21'),
    // A price that was ten times too high, corrected within the month.
    rerate(
      '2026-10-21T12:00',
      { name: 'in the open month', model: 'large', from: 'large-wrong', to: 'large-1' },
      '2026-10-05T00:00',
      '2026-10-21T00:00',
    ),
    use('2026-10-21', '2026-11-01'),
    expire('2026-11-01'),
    close('2026-10', '2026-11-01T01:00'),
    { do: 'void', atMs: at('2026-11-02T09:00'), org: postpaid, month: '2026-10' },
    late('2026-11-02T09:30', '2026-10-31', 5, [postpaid]),
    close('2026-10', '2026-11-02T10:00', [postpaid]),
    { do: 'credit', atMs: at('2026-11-03T09:00'), org: sparse, month: '2026-09', nanos: 120_000_000n },
    { do: 'credit', atMs: at('2026-11-03T09:01'), org: sparse, month: '2026-09', nanos: 10_000_000n },
    // Lowers some days of a closed month by more than the third organization uses in November.
    rerate(
      '2026-11-05T12:00',
      { name: 'of a closed month', model: 'large', from: 'large-1', to: 'large-2' },
      '2026-09-01T00:00',
      '2026-09-13T00:00',
    ),
    use('2026-11-01', '2026-11-16'),
    // And partly back, and up.
    rerate('2026-11-16T12:00', { name: 'back', model: 'large', from: 'large-2', to: 'large-1' }, '2026-09-10T00:00', '2026-09-12T12:00'),
    rerate(
      '2026-11-16T12:01',
      { name: 'up', model: 'small', from: 'small-2', to: 'small-1', org: postpaid },
      '2026-10-30T00:00',
      '2026-11-03T00:00',
    ),
    rerate(
      '2026-11-16T12:02',
      { name: 'of GPU time', type: 'ml.g5.xlarge', from: 'g5-1', to: 'g5-2' },
      '2026-09-29T00:00',
      '2026-10-03T00:00',
    ),
    use('2026-11-16', '2026-12-01'),
    close('2026-11', '2026-12-01T01:00'),
    late('2026-12-02T10:00', '2026-11-30', 7),
    use('2026-12-01', '2026-12-04'),
    close('2026-12', '2027-01-01T01:00'),
  ];
  return { orgs: [prepaid, postpaid, sparse], keys, models: MODELS, deleted: ['retired'], types: TYPES, steps };
};
