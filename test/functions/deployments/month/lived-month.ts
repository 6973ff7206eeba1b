import { createMeterPass } from '../../../../functions/deployments/gpu-time/gpu-time.ts';
import { lastEventAt } from '../../../../functions/deployments/idle/last-event.ts';
import { reconcile } from '../../../../functions/deployments/reconcile/reconcile.ts';
import { recompute } from '../../../../functions/rollup/rollup.ts';
import { createActivityStore } from '../../../../shared/deployments/activity-store.ts';
import { type Deployment, leastCopies, type RunningInstances } from '../../../../shared/deployments/deployment.ts';
import { awsNameOf } from '../../../../shared/deployments/names.ts';
import { windowTimes } from '../../../../shared/deployments/schedule.ts';
import { predictStart, windowLeadMs } from '../../../../shared/deployments/start-times.ts';
import { ASLEEP, SERVING } from '../../../../shared/deployments/state.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import type { InstancePrice } from '../../../../shared/prices/instance-price.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { BUCKET_MS } from '../../../../shared/usage/usage-store.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { rollupStores } from '../../../support/fixtures/rollups.ts';
import { createWorld, INSTALLATION, type World } from '../world.ts';

/** A request, and for how long a deployment that is awake answers it. */
export interface Arrival {
  atMs: number;
  serviceMs: number;
  promptTokens: number;
  completionTokens: number;
  costNanos: bigint;
}

/** Something that happens to a deployment, once. */
export interface Incident {
  atMs: number;
  happen: (world: World) => Promise<void>;
}

// Instances as a pass of the reconciler saw them.
interface Look {
  atMs: number;
  running: readonly RunningInstances[];
}

export interface LivedMonth {
  world: World;
  looks: readonly Look[];
  /** The requests that were answered. */
  answered: readonly UsageEvent[];
  /** The time for which each answered request waited for a start. */
  waitsMs: readonly number[];
  /** Starts that a request caused. */
  coldStarts: number;
}

interface Life {
  range: { fromMs: number; toMs: number };
  fields: Partial<Deployment>;
  arrivals: readonly Arrival[];
  incidents?: readonly Incident[];
  prices: readonly InstancePrice[];
}

// An instance, its image and weights, the load; then its release. Each pass of a start or a release takes time here.
const TIMES = { instance_ms: 30 * SECOND_MS, download_ms: 50 * SECOND_MS, load_ms: 40 * SECOND_MS, release_ms: 90 * SECOND_MS };
const USAGE_LAG_MS = 90 * SECOND_MS;
// From the end of a request until the rollup has its event.
const ROLLUP_MS = 50 * SECOND_MS;
const SETTLING_MS = 2 * HOUR_MS;

// The passes of every minute near the edges of windows decide when it starts and sleeps.
const edgesOf = ({ schedule = [], starts }: Deployment, nowMs: number): { fromMs: number; toMs: number }[] => {
  const leadMs = windowLeadMs(predictStart(starts, []));
  return windowTimes(schedule, nowMs - HOUR_MS, nowMs + 2 * DAY_MS).flatMap(({ startMs, endMs }) => [
    { fromMs: startMs - leadMs - 3 * MINUTE_MS, toMs: startMs + 3 * MINUTE_MS },
    { fromMs: endMs - 2 * MINUTE_MS, toMs: endMs + 12 * MINUTE_MS },
  ]);
};

// When the next pass can change something that the last one could not; `nowMs`: at once. `lastUseMs` is the end of the
// last request, also in the future.
const quietUntil = (row: Deployment, lastUseMs: number, nowMs: number): number => {
  const edges = edgesOf(row, nowMs);
  if (edges.some(({ fromMs, toMs }) => fromMs <= nowMs && nowMs < toMs)) return nowMs;
  const nextEdgeMs = Math.min(...edges.flatMap(({ fromMs }) => (fromMs > nowMs ? [fromMs] : [])), Number.POSITIVE_INFINITY);
  if (row.state === 'scaled_to_zero' || row.state === 'failed') return nextEdgeMs;
  if (row.state !== 'in_service' || row.progress.ready < leastCopies(row)) return nowMs;
  const { scale_to_zero_after_seconds: idleSeconds, last_used_at = 0, scheduled } = row;
  if (scheduled || idleSeconds === null) return nextEdgeMs;
  const idleAtMs = Math.max(last_used_at, lastUseMs) + idleSeconds * SECOND_MS + USAGE_LAG_MS;
  return Math.min(nextEdgeMs, Math.max(nowMs, idleAtMs - MINUTE_MS));
};

const minuteAfter = (ms: number): number => (Math.floor(ms / MINUTE_MS) + 1) * MINUTE_MS;

/**
 * Lets a deployment live through a range of time with the passes, the meter and the rollup of production, on emulated
 * AWS and a virtual clock. Passes that can't change anything are left out. Requests wake it and wait until it serves.
 * It is created, and sleeps, before the range begins.
 * @param isSparse false: no pass is left out
 */
export const liveThrough = async (
  test: TestDatabase,
  { range, fields, arrivals, incidents = [], prices }: Life,
  isSparse = true,
): Promise<LivedMonth> => {
  const world = await createWorld(test, fields, { settings: { times: TIMES } });
  const { plane, dependencies, store, id, organization, messages } = world;
  const usageTable = test.tables.Usage as string;
  const activity = createActivityStore(test.database, test.tables.Deployments as string);
  const rollups = { ...rollupStores(test.database, usageTable), activity };
  const meterPass = createMeterPass({
    database: test.database,
    usageTable,
    keysTable: test.tables.Keys as string,
    pricesOf: async () => prices,
  });
  const key = newId('key');
  const looks: Look[] = [];
  const answered: UsageEvent[] = [];
  const waitsMs: number[] = [];
  let unstored: UsageEvent[] = [];
  let waiting: Arrival[] = [];
  let coldStarts = 0;
  let lastUseMs = 0;

  dependencies.meterPass = async (input) => {
    looks.push({ atMs: input.nowMs, running: input.running });
    return meterPass(input);
  };
  dependencies.lastEventAt = (row) => lastEventAt(activity, row);
  dependencies.isInUse = async () => lastUseMs > plane.now();

  const name = (await world.read()).name;
  const answer = (arrival: Arrival, fromMs: number, generation: number): void => {
    const { atMs, serviceMs, promptTokens, completionTokens, costNanos } = arrival;
    const event: UsageEvent = {
      request_id: newRequestId(atMs),
      key_id: key,
      org_id: organization,
      model: name,
      user_id: 'user-1',
      route: '/v1/chat/completions',
      prompt_tokens: promptTokens,
      cached_tokens: 0,
      completion_tokens: completionTokens,
      source: 'runtime',
      outcome: 'completed',
      finish_reason: 'stop',
      admitted_at: atMs,
      time_to_first_token_ms: null,
      duration_ms: fromMs - atMs + serviceMs,
      cost_nanos: costNanos,
      price_version: '1',
      endpoint: awsNameOf(INSTALLATION.name, id, generation),
    };
    lastUseMs = Math.max(lastUseMs, fromMs + serviceMs);
    waitsMs.push(fromMs - atMs);
    answered.push(event);
    unstored.push(event);
  };

  const rollUp = async (untilMs: number): Promise<void> => {
    const due = unstored.filter(({ admitted_at, duration_ms }) => admitted_at + duration_ms + ROLLUP_MS <= untilMs);
    if (due.length === 0) return;
    unstored = unstored.filter((event) => !due.includes(event));
    for (const event of due) await test.usage.putIfAbsent(event);
    const starts = new Set(due.map(({ admitted_at }) => Math.floor(admitted_at / BUCKET_MS) * BUCKET_MS));
    await recompute(
      rollups,
      [...starts].map((startMs) => ({ shard: key, startMs })),
    );
  };

  const arrive = async (row: Deployment, arrival: Arrival): Promise<Deployment> => {
    const generation = row.generations.at(-1)?.number ?? 1;
    if (SERVING.includes(row.state)) {
      answer(arrival, arrival.atMs, generation);
      return row;
    }
    // Callers of a deployment that has failed get an error at once.
    if (row.state !== 'failed') waiting.push(arrival);
    const woken = ASLEEP.includes(row.state) ? await store.wake(row, plane.now()) : undefined;
    if (!woken) return row;
    coldStarts++;
    await dependencies.reconciliations.send(id, plane.now());
    return woken;
  };

  const pass = async (): Promise<Deployment> => {
    await rollUp(plane.now());
    const { deployment } = await reconcile(dependencies, id);
    const row = deployment ?? (await world.read());
    if (SERVING.includes(row.state)) for (const each of waiting.splice(0)) answer(each, plane.now(), row.generations.at(-1)?.number ?? 1);
    if (row.state === 'failed') waiting = [];
    return row;
  };

  plane.advance(range.fromMs - SETTLING_MS - plane.now());
  // Only passes, wakes and incidents write it.
  let row = await pass();
  // For the day after, so that all of the range is metered.
  const endMs = range.toMs + HOUR_MS;
  const calls = [...arrivals].sort((one, other) => one.atMs - other.atMs);
  const events = [...incidents].sort((one, other) => one.atMs - other.atMs);
  const passAfter = (): number => {
    const quietMs = isSparse ? Math.min(quietUntil(row, lastUseMs, plane.now()), plane.now() + DAY_MS) : plane.now();
    return Math.max(minuteAfter(plane.now()), Math.floor(quietMs / MINUTE_MS) * MINUTE_MS);
  };
  let passAtMs = minuteAfter(plane.now());
  while (plane.now() < endMs) {
    const dueMs = Math.min(passAtMs, ...messages.values());
    const nextMs = Math.min(dueMs, calls[0]?.atMs ?? endMs, events[0]?.atMs ?? endMs, endMs);
    if (nextMs > plane.now()) plane.advance(nextMs - plane.now());
    const isDue = nextMs >= dueMs;
    if (events[0] && events[0].atMs <= nextMs) {
      await events.shift()?.happen(world);
      row = await world.read();
    }
    if (calls[0] && calls[0].atMs <= nextMs) row = await arrive(row, calls.shift() as Arrival);
    if (isDue) {
      world.takeDue();
      row = await pass();
    }
    passAtMs = passAfter();
  }
  await rollUp(Number.POSITIVE_INFINITY);
  return { world, looks, answered, waitsMs, coldStarts };
};
