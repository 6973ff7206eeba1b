import * as z from 'zod';
import { StoredInteger } from '../database/stored-integer.ts';
import {
  Capabilities,
  DefaultTemperature,
  DefaultTopP,
  DialectName,
  Embedding,
  ModelName,
  ModelTask,
  ThinkingVariable,
  TokenizerFiles,
  Tokens,
} from '../models/model.ts';
import { Adapter, AdapterSupport, MAX_ADAPTERS } from './adapter.ts';
import { DeploymentReason } from './reason.ts';
import { MAX_WINDOWS, ScheduleWindow } from './schedule.ts';
import { MAX_SHADOWS, Shadow } from './shadow.ts';
import { DeploymentState } from './state.ts';

const UnixMs = z.int().min(0);

// A copy of an entry of the catalogue when the generation was made, so that a change of the catalogue changes nothing.
const GenerationRuntime = z.object({
  id: z.string(),
  /** The image's URI, with an exact tag or digest. */
  image: z.string(),
  /** SageMaker's `InferenceAmiVersion`; absent: the default of the instance type. */
  ami: z.string().optional(),
  dialect: DialectName,
});

/**
 * Model, runtime and instances of a deployment: never changed, but replaced by the next generation. Each generation has
 * its own model, endpoint and component on AWS.
 */
export const Generation = z.object({
  number: z.int().min(1),
  runtime: GenerationRuntime,
  /** `s3://bucket/prefix/` or the id of a model on the Hugging Face Hub. */
  model: z.string(),
  /** An admin allowed artifacts that contain code. */
  allows_code: z.boolean().default(false),
  /** In the order of preference. */
  instance_types: z.array(z.string()).min(1).max(5),
  /** The accelerators that one copy needs. */
  accelerators: z.int().min(1),
  /** The container's variables that the owner set. */
  environment: z.record(z.string(), z.string()),
  /** Absent: its containers load no adapters. */
  adapters: AdapterSupport.optional(),
  created_at: UnixMs,
  /**
   * `creating`: not yet in service. `ready`: has been in service. `failed`: gets no traffic and is removed.
   * `retired`: replaced by the next one, gets no traffic and is removed.
   */
  status: z.enum(['creating', 'ready', 'failed', 'retired']),
  /** When its creation on AWS began: absent if it has not, or if a stop has removed it. */
  started_at: UnixMs.optional(),
  /** When its copies came into service, perhaps before it gets requests. Absent: not since it was started. */
  served_at: UnixMs.optional(),
  /** Since when it has no copies although the deployment serves with another generation's. */
  short_since: UnixMs.optional(),
  /** When it became `failed` or `retired`. */
  ended_at: UnixMs.optional(),
  /** It was rolled back before it got requests, so that it has no streams and is removed at once. */
  is_unused: z.literal(true).optional(),
  reason: DeploymentReason.optional(),
});
export type Generation = z.infer<typeof Generation>;

/** The generation gets requests, or will. */
export const isActive = ({ status }: Pick<Generation, 'status'>): boolean => status === 'creating' || status === 'ready';

/** The copies of the generation with the most traffic, by how far they are. */
export const Progress = z.object({
  wanted: z.int().min(0),
  pending_capacity: z.int().min(0),
  downloading: z.int().min(0),
  loading: z.int().min(0),
  ready: z.int().min(0),
});
export type Progress = z.infer<typeof Progress>;

export const NO_PROGRESS: Progress = { wanted: 0, pending_capacity: 0, downloading: 0, loading: 0, ready: 0 };

const Transition = z.object({ state: DeploymentState, at: UnixMs, reason: DeploymentReason.optional() });

/** The time that a start took, from which the next one is predicted. */
export const Start = z.object({ kind: z.enum(['creation', 'wake']), at: UnixMs, seconds: z.number().min(0) });
export type Start = z.infer<typeof Start>;

/** Starting: no copy of the generation is ready yet. Draining: none is left, but instances are not released. */
export const InstancePhase = z.enum(['starting', 'serving', 'draining']);
export type InstancePhase = z.infer<typeof InstancePhase>;

// Instances of a generation that were seen at the same time.
const RunningInstances = z.object({
  generation: z.int().min(1),
  instance_type: z.string(),
  instances: z.int().min(1),
  phase: InstancePhase,
});
export type RunningInstances = z.infer<typeof RunningInstances>;

// See `functions/deployments/gpu-time/meter-pass.ts`.
const GpuMeter = z.object({
  /** Until then, GPU time is in usage events. A whole second. */
  until: UnixMs,
  /** The instances that ran then, and are metered from then on until the next pass. */
  running: z.array(RunningInstances),
  /** Prepaid credit that is taken from the organization and not yet in usage events. */
  held_nanos: StoredInteger.default(0n),
  /** When the owner was last warned that the credit runs out. */
  warned_at: UnixMs.optional(),
});
export type GpuMeter = z.output<typeof GpuMeter>;

// AWS rejected the call, although nothing has failed. It is made again.
const RejectedCall = z.object({
  /** The call, in JSON. */
  call: z.string(),
  reason: DeploymentReason,
  /** The number of rejections. */
  times: z.int().min(1),
  /** When it is made again, if the owner has changed nothing until then. */
  retry_at: UnixMs,
  /** The row's `changes` when it was rejected. */
  changes: z.int().min(1),
});
export type RejectedCall = z.infer<typeof RejectedCall>;

// The windows for which the deployment runs now, from before they open: it begins early, so that it is ready then.
const Scheduled = z.object({
  /** The most that one of them wants. */
  copies: z.int().min(1),
  /** When the latest of them opens. */
  starts_at: UnixMs,
});
export type Scheduled = z.infer<typeof Scheduled>;

// A row keeps the newest.
const MAX_TRANSITIONS = 50;
export const MAX_STARTS = 20;
/** The one that serves, its successor, and up to two that are being removed. */
export const MAX_GENERATIONS = 4;

/**
 * The most copies of a deployment, and so the most instances that its endpoint can have: an endpoint's limit can't be
 * changed while it is in use.
 */
export const MAX_COPIES = 100;

/** The inventory's facts of a deployment's model, besides its targets. */
export const Serving = z.object({
  task: ModelTask.default('generate'),
  /** Only of a deployment with the task `embed`. */
  embedding: Embedding.optional(),
  context_length: Tokens,
  max_output_tokens: Tokens,
  default_output_tokens: Tokens,
  capabilities: Capabilities,
  thinking_variable: ThinkingVariable,
  continuous_usage: z.boolean(),
  default_temperature: DefaultTemperature,
  default_top_p: DefaultTopP,
  tokenizer: TokenizerFiles.optional(),
});
export type Serving = z.infer<typeof Serving>;

/** The record of a deployment. */
export const DEPLOYMENT = 'deployment';

/**
 * A deployment at rest: what its owner wants, and what was last seen of it on AWS. The function `control` writes the
 * first part, the function `deployments` the second, and requests that wake it only `state`, `wake` and
 * `transitions`.
 */
export const Deployment = z.object({
  id: z.string(),
  organization: z.string(),
  /** The served name: the `model` of requests. */
  name: ModelName,
  created_at: UnixMs,
  created_by: z.string(),
  /** When the owner's part was last changed. */
  updated_at: UnixMs,
  /** Incremented by every write: the lock. */
  version: z.int().min(1),
  /** Incremented by every change of the owner's part: the resource's version. */
  changes: z.int().min(1),

  wanted: z.enum(['running', 'stopped', 'deleted']),
  copies: z.object({ min: z.int().min(1), max: z.int().min(1).max(MAX_COPIES) }),
  /** null: never. */
  scale_to_zero_after_seconds: z.int().nullable(),
  /** Times of the week in which it doesn't sleep. Absent: none. */
  schedule: z.array(ScheduleWindow).max(MAX_WINDOWS).optional(),
  max_concurrency_per_copy: z.int().min(1),
  tags: z.record(z.string(), z.string()),
  serving: Serving,
  /** Oldest first. The ones that are removed from AWS are gone. */
  generations: z.array(Generation).min(1).max(MAX_GENERATIONS),
  /**
   * The share of requests that the newest generation gets once it is ready, in percent; the one before gets the rest.
   * 100: it replaces that one.
   */
  traffic_percent: z.int().min(0).max(100),
  /** Its comparisons of a next generation with the one that serves, oldest first. Only the newest can be open. */
  shadows: z.array(Shadow).max(MAX_SHADOWS).optional(),
  /** LoRA adapters, oldest first. Absent: none. */
  adapters: z.array(Adapter).max(MAX_ADAPTERS).optional(),
  /** The shared model that an admin made of it. */
  published_as: z.string().optional(),
  /** A hash of the request that created it: the same request again returns this deployment. */
  creation_hash: z.string().optional(),

  state: DeploymentState,
  /** When it came into that state. */
  state_since: UnixMs,
  /** Why it failed, is stopped or is not progressing. */
  reason: DeploymentReason.optional(),
  progress: Progress,
  transitions: z.array(Transition).max(MAX_TRANSITIONS),
  starts: z.array(Start).max(MAX_STARTS),
  /** The wake in progress. */
  wake: z.object({ started_at: UnixMs }).optional(),
  /** When the last request is known to have ended, or the deployment last came into service. */
  last_used_at: UnixMs.optional(),
  /**
   * When a pass last saw requests in flight that it can answer, or the end of a window. Passes look only once it may
   * sleep soon.
   */
  in_flight_at: UnixMs.optional(),
  /** The time since which nothing of it is on AWS. Absent: something is, or no pass has checked. */
  empty_since: UnixMs.optional(),
  /** At most one for each generation. Absent: none. */
  rejected: z.array(RejectedCall).max(MAX_GENERATIONS).optional(),
  meter: GpuMeter.optional(),
  /** Absent: no window of the schedule holds, or none that is paid. */
  scheduled: Scheduled.optional(),
  /** When the latest window opens for which the credit doesn't pay. Absent: there is none now. */
  unpaid_window: UnixMs.optional(),
});
export type Deployment = z.output<typeof Deployment>;

/** The minimum copies while it is awake: more in a window of its schedule. */
export const leastCopies = ({ copies, scheduled }: Pick<Deployment, 'copies' | 'scheduled'>): number =>
  Math.min(copies.max, Math.max(copies.min, scheduled?.copies ?? 0));

/**
 * The deployment in another state, from `nowMs` on; unchanged if it is in this state already, except for its reason.
 */
export const inState = (deployment: Deployment, state: DeploymentState, nowMs: number, reason?: DeploymentReason): Deployment => {
  const { reason: _, ...rest } = deployment;
  if (deployment.state === state) return { ...rest, ...(reason && { reason }) };
  const transition = { state, at: nowMs, ...(reason && { reason }) };
  const transitions = [...deployment.transitions, transition].slice(-MAX_TRANSITIONS);
  return { ...rest, state, state_since: nowMs, ...(reason && { reason }), transitions };
};
