import type { Period } from '../../../../../functions/control/deployments/advice/history.ts';
import { meterPass } from '../../../../../functions/deployments/gpu-time/meter-pass.ts';
import { seededRandom } from '../../../../../infra/local/sagemaker/seeded-random.ts';
import type { GpuMeter, RunningInstances } from '../../../../../shared/deployments/deployment.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../../shared/time/units.ts';
import type { GpuEvent } from '../../../../../shared/usage/gpu-event.ts';
import { PRICES, small } from '../../../deployments/gpu-time/gpu-time-fixtures.ts';

const LAG_MS = 90 * SECOND_MS;
const BOOT_MS = 95 * SECOND_MS;

/** A request, and for how long a deployment that is awake answers it. */
export interface Request {
  atMs: number;
  serviceMs: number;
}

export interface Life {
  /** The metered GPU time. */
  events: GpuEvent[];
  /** The seconds in which requests were in flight. */
  busy: Period[];
  coldStarts: number;
}

type MeteredDeployment = Pick<Parameters<typeof meterPass>[0]['deployment'], 'id' | 'organization' | 'name'>;
const SOME: MeteredDeployment = { id: 'dep_1', organization: 'org_1', name: 'qwen3-8b' };

interface LifeSettings {
  range: Period;
  idleMs: number;
  /** From a wake until a copy is ready, and from sleep until the instances are gone. */
  startMs?: number;
  releaseMs?: number;
  seed: number;
  /** Whose GPU time it is. */
  deployment?: MeteredDeployment;
}

const busyOf = (periods: readonly Period[]): Period[] => {
  const merged: Period[] = [];
  const whole = periods.map(({ fromMs, toMs }) => ({
    fromMs: Math.floor(fromMs / SECOND_MS) * SECOND_MS,
    toMs: Math.ceil(toMs / SECOND_MS) * SECOND_MS,
  }));
  for (const period of whole.sort((one, other) => one.fromMs - other.fromMs)) {
    const last = merged.at(-1);
    if (last && period.fromMs <= last.toMs) last.toMs = Math.max(last.toMs, period.toMs);
    else merged.push({ ...period });
  }
  return merged;
};

/** A deployment with one copy, polled as the reconciler does, second by second. Requests wait until it is awake. */
export const simulateLife = (
  requests: readonly Request[],
  { range, idleMs, startMs = 8 * MINUTE_MS, releaseMs = 12 * MINUTE_MS, seed, deployment: of = SOME }: LifeSettings,
): Life => {
  const random = seededRandom(seed);
  const events: GpuEvent[] = [];
  const waiting: Request[] = [];
  const flights: Period[] = [];
  // A function changes it.
  let state = 'asleep' as 'asleep' | 'waking' | 'awake' | 'draining';
  let meter: GpuMeter | undefined;
  let wokenMs = 0;
  let drainedMs = 0;
  let hasInstance = false;
  let lastUseMs = 0;
  let coldStarts = 0;
  let pollMs = range.fromMs;
  let next = 0;

  const answer = (request: Request, fromMs: number): void => {
    flights.push({ fromMs: request.atMs, toMs: fromMs + request.serviceMs });
    lastUseMs = Math.max(lastUseMs, fromMs + request.serviceMs);
  };
  const poll = (nowMs: number): void => {
    if (state === 'waking' && nowMs - wokenMs >= startMs) {
      state = 'awake';
      lastUseMs = Math.max(lastUseMs, nowMs);
      for (const request of waiting.splice(0)) answer(request, nowMs);
    }
    if (state === 'awake' && nowMs - lastUseMs >= idleMs + LAG_MS) {
      state = 'draining';
      drainedMs = nowMs;
    }
    if (state === 'waking' && nowMs - wokenMs >= BOOT_MS) hasInstance = true;
    if (state === 'draining' && nowMs - drainedMs >= releaseMs) {
      hasInstance = false;
      state = 'asleep';
    }
    const phase = ({ asleep: 'draining', waking: 'starting', awake: 'serving', draining: 'draining' } as const)[state];
    const running: RunningInstances[] = hasInstance ? [small(1, { phase })] : [];
    const deployment = { ...of, ...(meter && { meter }) };
    const metered = meterPass({ deployment, running, nowMs, prices: PRICES, credit: { isPrepaid: false, shards: [] } });
    meter = metered.meter;
    events.push(...metered.events);
  };

  for (let nowMs = range.fromMs; nowMs < range.toMs; nowMs += SECOND_MS) {
    for (let request = requests[next]; request && request.atMs < nowMs + SECOND_MS; request = requests[++next]) {
      if (state === 'awake') answer(request, request.atMs);
      else {
        if (state !== 'waking') {
          state = 'waking';
          wokenMs = request.atMs;
          coldStarts++;
        }
        waiting.push(request);
      }
    }
    if (nowMs < pollMs) continue;
    poll(nowMs);
    const isTransitional = state === 'waking' || state === 'draining';
    pollMs = nowMs + (isTransitional ? 15_000 : 45_000 + Math.floor(random() * 15) * SECOND_MS);
  }
  poll(range.toMs);
  // Closes the interval that is open.
  if (meter && meter.running.length > 0) {
    const end = meterPass({
      deployment: { ...of, meter },
      running: [],
      nowMs: range.toMs,
      prices: PRICES,
      credit: { isPrepaid: false, shards: [] },
    });
    events.push(...end.events);
  }
  return { events, busy: busyOf(flights), coldStarts };
};
