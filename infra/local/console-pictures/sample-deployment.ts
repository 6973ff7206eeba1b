import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { type Deployment, NO_PROGRESS } from '../../../shared/deployments/deployment.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { gpuCostNanos } from '../../../shared/prices/instance-price.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import { createBusySeconds } from '../../../shared/usage/busy-seconds.ts';
import { createDeploymentDayStore } from '../../../shared/usage/deployment-day-store.ts';
import { type GpuEvent, gpuEventId } from '../../../shared/usage/gpu-event.ts';
import { createGpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import { noTotals } from '../../../shared/usage/totals.ts';
import { openLocalDatabase } from '../dynamodb/open-database.ts';
import type { LocalRun } from '../run.ts';

export const SAMPLE_TYPE = 'ml.g6e.2xlarge';
const HOUR_NANOS = 2_880_000_000;
const NAME = 'research-7b';
const IDLE_MS = 40 * MINUTE_MS;

// As on AWS: until an instance is there, until it serves, until a pass sees that it is idle, and until it is released.
const BOOT_MS = 95 * SECOND_MS;
const START_MS = 8 * MINUTE_MS;
const LATE_MS = 2 * MINUTE_MS;
const RELEASE_MS = 12 * MINUTE_MS;

// On workdays, in hours after midnight UTC: calls every four minutes.
const SESSIONS = [
  [8, 10],
  [13, 15.5],
] as const;
const GAP_MS = 4 * MINUTE_MS;
const CALL_MS = 45 * SECOND_MS;
const REQUESTS_A_DAY = 412;

interface Stretch {
  phase: GpuEvent['phase'];
  fromMs: number;
  toMs: number;
}

// The first call of a session waits for the start.
const callsOf = (midnight: number): { atMs: number; durationMs: number }[] =>
  SESSIONS.flatMap(([first, last]) => {
    const times: number[] = [];
    for (let ms = first * HOUR_MS; ms < last * HOUR_MS; ms += GAP_MS) times.push(midnight + ms);
    return times.map((atMs, i) => ({ atMs, durationMs: i === 0 ? START_MS + CALL_MS : CALL_MS }));
  });

const stretchesOf = (midnight: number): Stretch[] =>
  SESSIONS.flatMap(([first, last]): Stretch[] => {
    const [calledMs, lastMs] = [midnight + first * HOUR_MS, midnight + last * HOUR_MS - GAP_MS];
    const asleepMs = lastMs + CALL_MS + IDLE_MS + LATE_MS;
    return [
      { phase: 'starting', fromMs: calledMs + BOOT_MS, toMs: calledMs + START_MS },
      { phase: 'serving', fromMs: calledMs + START_MS, toMs: asleepMs },
      { phase: 'draining', fromMs: asleepMs, toMs: asleepMs + RELEASE_MS },
    ];
  });

const rowOf = (organization: string, createdMs: number): Deployment => ({
  id: newTimedId('deployment', createdMs),
  organization,
  name: NAME,
  created_at: createdMs,
  created_by: 'user_1',
  updated_at: createdMs,
  version: 1,
  changes: 1,
  // So that nothing starts it again.
  wanted: 'stopped',
  state: 'stopped',
  state_since: createdMs,
  transitions: [{ state: 'stopped', at: createdMs }],
  starts: [{ kind: 'wake', at: createdMs, seconds: START_MS / SECOND_MS }],
  copies: { min: 1, max: 2 },
  scale_to_zero_after_seconds: IDLE_MS / SECOND_MS,
  max_concurrency_per_copy: 16,
  tags: {},
  serving: {
    task: 'generate',
    context_length: 32_768,
    max_output_tokens: 4_096,
    default_output_tokens: 1_024,
    capabilities: { tools: true, json_object: true, logprobs: true, thinking_budget: false, structured_outputs: true },
    thinking_variable: 'enable_thinking',
    continuous_usage: false,
    default_temperature: 1,
    default_top_p: 1,
  },
  generations: [
    {
      number: 1,
      runtime: { id: 'vllm-0.27.1', image: 'vllm:server-sagemaker-cuda-v2.3', dialect: 'vllm' },
      model: `s3://weights/${organization}/${NAME}/`,
      allows_code: false,
      instance_types: [SAMPLE_TYPE],
      accelerators: 1,
      environment: {},
      created_at: createdMs,
      status: 'ready',
    },
  ],
  traffic_percent: 100,
  progress: NO_PROGRESS,
});

const eventOf = ({ id, organization, name }: Deployment, { phase, fromMs, toMs }: Stretch): GpuEvent => {
  const seconds = (toMs - fromMs) / SECOND_MS;
  const event = {
    deployment_id: id,
    org_id: organization,
    name,
    generation: 1,
    instance_type: SAMPLE_TYPE,
    instances: 1,
    phase,
    started_at: fromMs,
    ended_at: toMs,
    seconds,
    cost_nanos: gpuCostNanos({ hour_nanos: HOUR_NANOS }, seconds, 1),
    price_version: 'price_1',
  };
  return { ...event, id: gpuEventId(event) };
};

const totalsOf = (day: number) => {
  const requests = REQUESTS_A_DAY + (day % 5) * 17;
  return {
    ...noTotals(),
    events: requests,
    requests,
    prompt_tokens: BigInt(requests * 2_350),
    completion_tokens: BigInt(requests * 410),
    cost_nanos: BigInt(requests) * 1_150_000n,
    duration_ms_sum: BigInt(requests * 9_000),
    prompt_ms_sum: BigInt(requests * 900),
    generation_ms_sum: BigInt(requests * 7_900),
  };
};

const isWorkday = (midnight: number): boolean => ![0, 6].includes(new Date(midnight).getUTCDay());

/**
 * Stores a deployment of an organization that was used on the workdays of some days, as its ledger shows it.
 * @param end the midnight UTC after the last day
 * @returns its id
 */
export const addSampleDeployment = async (
  run: LocalRun,
  organization: string,
  { end, days }: { end: number; days: number },
): Promise<string> => {
  const database = openLocalDatabase(run.dynamodbEndpoint);
  const row = rowOf(organization, end - days * DAY_MS);
  const gpuEvents = createGpuEventStore(database, run.tables.Usage as string);
  const deploymentDays = createDeploymentDayStore(database, run.tables.Usage as string);
  await transact(database, createDeploymentStore(createRecordTable(database, run.tables.Deployments as string)).toCreate(row));
  for (let midnight = end - days * DAY_MS; midnight < end; midnight += DAY_MS) {
    if (!isWorkday(midnight)) continue;
    await transact(database, gpuEvents.toAdd(stretchesOf(midnight).map((stretch) => eventOf(row, stretch))));
    const busy = createBusySeconds();
    for (const { atMs, durationMs } of callsOf(midnight)) busy.add(atMs, durationMs);
    for (const [hourMs, bits] of busy.hours()) await deploymentDays.addBusy(row.id, hourMs, bits);
    await deploymentDays.putUsage({ deployment: row.id, day: dayOf(midnight), organization, totals: totalsOf(midnight / DAY_MS) });
  }
  database.destroy();
  return row.id;
};
