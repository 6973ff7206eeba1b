import * as z from 'zod';
import { AdapterSupport } from '../../../shared/deployments/adapter.ts';
import { type Deployment, type Generation, InstancePhase, Progress } from '../../../shared/deployments/deployment.ts';
import type { DeploymentReason } from '../../../shared/deployments/reason.ts';
import { ScheduleWindow, type WindowTime, windowsAt } from '../../../shared/deployments/schedule.ts';
import { expectedEnd, predictStart, wakeOf } from '../../../shared/deployments/start-times.ts';
import { DeploymentState } from '../../../shared/deployments/state.ts';
import { permissionsOf } from '../../../shared/hosts/permissions.ts';
import { Capabilities, Embedding, ModelTask, TokenizerFiles } from '../../../shared/models/model.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { UserRole } from '../access/actor.ts';
import { wantedGeneration } from './rollout.ts';
import { auditedShadow, ShadowState, shadowStateOf } from './shadow/state.ts';

const Seconds = z.int();
const TIME = 'Unix time in seconds.';

/** A reason on the wire. */
export const ReasonResource = z.object({
  code: z.string(),
  message: z.string(),
  action: z.string().meta({ description: 'What to do about it.' }),
  aws: z.string().nullable().optional().meta({ description: 'What AWS said, without ids and links. Not for members.' }),
});

const AdapterSupportResource = z.object(AdapterSupport.shape).nullable().meta({
  description: 'The LoRA adapters that its containers can load; null: none. `GET /v1/deployments/{id}/adapters` lists its adapters.',
});

const GenerationResource = z.object({
  number: z.int(),
  status: z.enum(['creating', 'ready', 'failed', 'retired']).meta({
    description:
      '`creating`: not in service yet. `ready`: has been in service. `failed` and `retired` (replaced by the next one): get no traffic and are removed.',
  }),
  traffic_percent: z
    .int()
    .meta({ description: 'Its share of the requests, once the newest generation is ready. Until then, the one before gets all of them.' }),
  reason: ReasonResource.nullable().meta({ description: 'Why it failed.' }),
  runtime: z.string(),
  image: z.string().optional().meta({ description: 'The container image. Only for admins.' }),
  model: z.string(),
  allow_code: z.boolean(),
  instance_types: z.array(z.string()),
  accelerators: z.int(),
  environment: z.record(z.string(), z.string()),
  adapters: AdapterSupportResource,
  created_at: Seconds.meta({ description: TIME }),
});
type GenerationResource = z.infer<typeof GenerationResource>;

const Transition = z.object({ state: DeploymentState, at: Seconds.meta({ description: TIME }), reason: ReasonResource.nullable() });

const WindowResource = z.object({
  starts_at: Seconds.meta({ description: TIME }),
  ends_at: Seconds.meta({ description: TIME }),
  min_copies: z.int(),
});

/** A deployment on the wire: its owner's settings, then its observed state. */
export const DeploymentResource = z.object({
  object: z.literal('deployment'),
  id: z.string(),
  organization: z.string(),
  name: z.string().meta({ description: 'The `model` of requests.' }),
  runtime: z.string(),
  model: z.string().meta({ description: "The folder with the model's files, or its id on the Hugging Face Hub." }),
  allow_code: z.boolean(),
  instance_types: z.array(z.string()).meta({ description: 'The preferred one first.' }),
  accelerators: z.int().meta({ description: 'The number of accelerators that one copy needs.' }),
  environment: z.record(z.string(), z.string()),
  adapters: AdapterSupportResource,
  copies: z.object({ min: z.int(), max: z.int() }),
  scale_to_zero_after_seconds: z.int().nullable(),
  schedule: z.array(ScheduleWindow).meta({ description: "Times of the week in which it doesn't sleep." }),
  max_concurrency_per_copy: z.int(),
  tags: z.record(z.string(), z.string()),
  task: ModelTask.meta({
    description:
      '`generate`: it generates text. `embed`: it returns vectors (`/v1/embeddings`). `rerank`: it sorts documents by relevance (`/v1/rerank`).',
  }),
  embedding: z
    .object(Embedding.shape)
    .nullable()
    .meta({ description: 'The vectors of a deployment that embeds; null: it has another task.' }),
  context_length: z.int(),
  max_output_tokens: z.int().nullable().meta({ description: 'null: it generates no text.' }),
  default_output_tokens: z.int().nullable().meta({ description: 'null: it generates no text.' }),
  capabilities: z.object(Object.fromEntries(Object.keys(Capabilities.shape).map((name) => [name, z.boolean()]))),
  thinking_variable: z.string(),
  continuous_usage: z.boolean(),
  default_temperature: z.number(),
  default_top_p: z.number(),
  tokenizer: z.object(TokenizerFiles.shape).nullable(),
  published_as: z.string().nullable().meta({ description: 'The shared model that an admin made of it.' }),
  shadow: ShadowState.nullable().meta({ description: 'Its last comparison of a new generation with the old one. Null: it never had one.' }),
  state: DeploymentState.meta({
    description:
      '`pending` and `creating`: on its way. `in_service`, `updating`: answers requests. `draining`: has no copies left, but its instances still run and are charged. `scaled_to_zero`: costs nothing; the next request wakes it (`waking`). `stopped`: costs nothing and stays so. `failed`: see `reason`.',
  }),
  state_since: Seconds.meta({ description: TIME }),
  reason: ReasonResource.nullable().meta({ description: 'Why it failed, is stopped or is not progressing.' }),
  progress: Progress.meta({ description: 'Its copies, by how far they are.' }),
  wake: z
    .object({
      started_at: Seconds.meta({ description: TIME }),
      expected_at: Seconds.meta({ description: 'When it is expected to answer. Unix time in seconds.' }),
      p50_seconds: z.int().meta({ description: 'The median duration of its wakes.' }),
      p90_seconds: z.int().meta({ description: "The duration that nine of ten wakes don't exceed." }),
    })
    .nullable()
    .meta({ description: 'The wake in progress.' }),
  current_window: WindowResource.nullable().meta({ description: 'The window of its schedule that is open now, with the most copies.' }),
  next_window: WindowResource.nullable().meta({ description: 'The window that opens next. The deployment starts before that.' }),
  instances: z
    .array(
      z.object({
        instance_type: z.string(),
        generation: z.int(),
        count: z.int(),
        phase: InstancePhase.meta({
          description: '`starting`: no copy is ready yet. `draining`: no copy is left, but the instances still run.',
        }),
      }),
    )
    .meta({ description: 'The instances that run now and are charged.' }),
  price_per_hour: z.string().meta({ description: 'What these instances cost now, in dollars an hour: an exact decimal number.' }),
  generations: z
    .array(GenerationResource)
    .meta({ description: 'What it runs, oldest first. Generations that are removed from AWS are not listed.' }),
  history: z.array(Transition).meta({ description: 'The last changes of its state, oldest first.' }),
  last_used_at: Seconds.nullable().meta({ description: TIME }),
  created_at: Seconds.meta({ description: TIME }),
  created_by: z.string(),
  updated_at: Seconds.meta({ description: 'When its settings were last changed. Unix time in seconds.' }),
  version: z.int().meta({ description: 'Incremented by every change of its settings. The ETag is derived from it.' }),
});
export type DeploymentResource = z.infer<typeof DeploymentResource>;

/** Facts of the resource that aren't in the row. */
export interface View {
  role: UserRole;
  nowMs: number;
  /** Nano-dollars an hour, by instance type; a missing one costs nothing. */
  hourNanos: ReadonlyMap<string, number>;
  /** Durations of the last starts on its instance type, in seconds. */
  ofType: readonly number[];
}

/** A reason as the role sees it. */
export const reasonOf = (reason: DeploymentReason | undefined, role: UserRole): z.infer<typeof ReasonResource> | null =>
  reason
    ? {
        code: reason.code,
        message: reason.message,
        action: reason.action,
        ...(permissionsOf(role).has('deployments:write') && { aws: reason.aws ?? null }),
      }
    : null;

// The newest live generation gets its share, the other live one the rest.
const trafficOf = ({ generations, traffic_percent }: Deployment, { number, status }: Generation): number => {
  if (status === 'failed' || status === 'retired') return 0;
  const live = generations.filter((each) => each.status === 'creating' || each.status === 'ready');
  if (live.length === 1) return 100;
  return number === live.at(-1)?.number ? traffic_percent : 100 - traffic_percent;
};

const generationOf = (deployment: Deployment, generation: Generation, role: UserRole): GenerationResource => {
  const { number, status, reason, runtime, model, allows_code, instance_types, accelerators, environment, adapters, created_at } =
    generation;
  return {
    number,
    status,
    traffic_percent: trafficOf(deployment, generation),
    reason: reasonOf(reason, role),
    runtime: runtime.id,
    ...(permissionsOf(role).has('catalogue:write') && { image: runtime.image }),
    model,
    allow_code: allows_code,
    instance_types,
    accelerators,
    environment,
    adapters: adapters ?? null,
    created_at: unixSeconds(created_at),
  };
};

const wakeInProgress = ({ state, wake, starts }: Deployment, { ofType, nowMs }: View): DeploymentResource['wake'] => {
  if (state !== 'waking' || !wake) return null;
  const predicted = predictStart(starts, ofType);
  return wakeOf({ ...predicted, startedAtMs: wake.started_at, expectedAtMs: expectedEnd(wake.started_at, predicted, nowMs) });
};

const windowOf = (time: WindowTime | null): z.infer<typeof WindowResource> | null =>
  time && { starts_at: unixSeconds(time.startMs), ends_at: unixSeconds(time.endMs), min_copies: time.minCopies };

const windowsOf = ({ schedule = [] }: Deployment, { nowMs }: View): Pick<DeploymentResource, 'current_window' | 'next_window'> => {
  const { current, next } = windowsAt(schedule, nowMs);
  return { current_window: windowOf(current), next_window: windowOf(next) };
};

const runningOf = ({ meter }: Deployment, { hourNanos }: View): Pick<DeploymentResource, 'instances' | 'price_per_hour'> => {
  const running = meter?.running ?? [];
  const nanos = running.reduce((sum, each) => sum + BigInt(hourNanos.get(each.instance_type) ?? 0) * BigInt(each.instances), 0n);
  return {
    instances: running.map(({ instance_type, generation, instances: count, phase }) => ({ instance_type, generation, count, phase })),
    price_per_hour: dollarsOf(nanos),
  };
};

const settingsOf = (deployment: Deployment) => {
  const {
    id,
    organization,
    name,
    copies,
    scale_to_zero_after_seconds,
    schedule = [],
    max_concurrency_per_copy,
    tags,
    serving,
  } = deployment;
  const { runtime, model, allows_code, instance_types, accelerators, environment, adapters = null } = wantedGeneration(deployment);
  const { tokenizer = null, embedding = null, max_output_tokens, default_output_tokens, ...others } = serving;
  const isText = serving.task === 'generate';
  return {
    id,
    organization,
    name,
    runtime: runtime.id,
    model,
    allow_code: allows_code,
    instance_types,
    accelerators,
    environment,
    adapters,
    copies,
    scale_to_zero_after_seconds,
    schedule,
    max_concurrency_per_copy,
    tags,
    ...others,
    embedding,
    max_output_tokens: isText ? max_output_tokens : null,
    default_output_tokens: isText ? default_output_tokens : null,
    tokenizer,
    published_as: deployment.published_as ?? null,
  };
};

/** The fields that the audit log compares. */
export const auditedFields = (deployment: Deployment): Record<string, unknown> => {
  const { wanted, traffic_percent, adapters = [] } = deployment;
  const served = adapters.filter(({ state }) => state !== 'deleting').map(({ name, source }) => ({ name, source }));
  return {
    ...settingsOf(deployment),
    ...(served.length > 0 && { served_adapters: served }),
    generation: wantedGeneration(deployment).number,
    traffic_percent,
    shadow: auditedShadow(deployment),
    wanted,
  };
};

/**
 * Converts a deployment to the wire. It has no ARNs and account ids; only admins see images, and members don't see
 * AWS's messages.
 */
export const toResource = (deployment: Deployment, view: View): DeploymentResource => {
  const { state, state_since, reason, progress, generations, transitions, last_used_at, created_at, created_by, updated_at, changes } =
    deployment;
  const { role } = view;
  return {
    object: 'deployment',
    ...settingsOf(deployment),
    shadow: shadowStateOf(deployment),
    state,
    state_since: unixSeconds(state_since),
    reason: reasonOf(reason, role),
    progress,
    wake: wakeInProgress(deployment, view),
    ...windowsOf(deployment, view),
    ...runningOf(deployment, view),
    generations: generations.map((generation) => generationOf(deployment, generation, role)),
    history: transitions.map((each) => ({ state: each.state, at: unixSeconds(each.at), reason: reasonOf(each.reason, role) })),
    last_used_at: last_used_at === undefined ? null : unixSeconds(last_used_at),
    created_at: unixSeconds(created_at),
    created_by,
    updated_at: unixSeconds(updated_at),
    version: changes,
  };
};
