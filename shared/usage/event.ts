import * as z from 'zod';
import { StoredInteger } from '../database/stored-integer.ts';
import { StepEnds } from './phases.ts';

/** How a request ended. `orphaned`: its function crashed, and the sweep settled it. */
export const Outcome = z.enum(['completed', 'client_closed', 'upstream_failed', 'timed_out', 'orphaned']);
export type Outcome = z.infer<typeof Outcome>;

/** Nano-dollars at rest. */
export const Nanos = StoredInteger;

/** The remaining limits of a key, or of one of its shards, right after it admitted the request. */
export const LimiterState = z.object({
  in_flight: z.int(),
  /** The most that may be in flight. A limit that does not exist is absent. */
  concurrency: z.int().optional(),
  /**
   * How many are left in the current minute, as the `x-ratelimit-remaining-*` headers say: those of the key or its
   * organization, whichever has fewer.
   */
  requests_left: z.int().optional(),
  tokens_left: z.int().optional(),
});
export type LimiterState = z.infer<typeof LimiterState>;

/**
 * The origin of an event that corrects the price of another one: the operation, and the price version by which the
 * request was rated before.
 */
export const PriceCorrection = z.object({ id: z.string(), from: z.string() });

/** A model that failed to answer a request before another one was tried. */
export const FailedAttempt = z.object({ model: z.string(), code: z.string(), ms: z.int().min(0) });
export type FailedAttempt = z.infer<typeof FailedAttempt>;

/** The billed record: one immutable event for every admitted request, from which all totals are computed. */
export const UsageEvent = z.object({
  request_id: z.string(),
  key_id: z.string(),
  org_id: z.string(),
  /** The project of its key at that time, if any. */
  project_id: z.string().optional(),
  /** Absent on an orphaned event because the function's state is lost. */
  model: z.string().optional(),
  /** The alias by which the request named the model, if it did. */
  alias: z.string().optional(),
  /** The side of the alias's split on which the request was, and the id of that split. */
  side: z.enum(['base', 'new']).optional(),
  split_id: z.string().optional(),
  /** `model` is a shared model that answered on the on-demand host, in place of a deployment. */
  is_shared: z.literal(true).optional(),
  /** `model` is a fallback of the model that the request named: its number in their order, from 1. */
  fallback: z.int().min(1).optional(),
  /** The models that were tried before `model`. They cost nothing. */
  attempts: z.array(FailedAttempt).optional(),
  route: z.string().optional(),
  stream: z.boolean().optional(),
  prompt_tokens: z.int().min(0),
  /** The prompt tokens that the runtime had cached from an earlier request. */
  cached_tokens: z.int().min(0).default(0),
  completion_tokens: z.int().min(0),
  /** `runtime`: counted by the model's runtime; `estimated`: counted by us, because the runtime did not report it. */
  source: z.enum(['runtime', 'estimated']),
  /** The runtime counted more tokens than the request can have used, so they were counted by us. */
  is_overcounted: z.literal(true).optional(),
  outcome: Outcome,
  /** The code of the error that the caller received, if any. */
  error_code: z.string().optional(),
  /** The status of that error, and its message unless it quotes the runtime, which can quote the request. */
  error_status: z.int().optional(),
  error_message: z.string().optional(),
  finish_reason: z.string().nullable(),
  /** ms since the epoch, then milliseconds from the arrival of the request. */
  admitted_at: z.int(),
  time_to_first_token_ms: z.int().nullable(),
  duration_ms: z.int(),
  /** Absent on events of earlier versions and on orphaned ones. */
  step_ends_ms: StepEnds.optional(),
  /** Absent if the request's limiter is not known. */
  limiter: LimiterState.optional(),
  /** The caller's trace context (https://www.w3.org/TR/trace-context/), if it is valid: 55 characters. */
  traceparent: z.string().optional(),
  /** The number of targets that were tried, if more than one. */
  tries: z.int().min(2).optional(),
  /** The documented fields of the request that had no effect. */
  ignored: z.array(z.string()).optional(),
  /** Computed with `price_version`. */
  cost_nanos: Nanos,
  price_version: z.string().nullable(),
  /**
   * It adjusts the cost of the event whose id comes before the `#` of its own, and has no tokens: `cost_nanos` is the
   * difference.
   */
  rerate: PriceCorrection.optional(),
  /**
   * The tokens cost more than the amount held for the request, which is the most that it is charged. Their bounds
   * prevent this.
   */
  is_capped: z.literal(true).optional(),
  /** It was paid from its organization's prepaid credit. */
  is_prepaid: z.literal(true).optional(),
  endpoint: z.string().optional(),
  /** The inference component of the endpoint, if the target is one. */
  component: z.string().optional(),
  /** Its content was written to the payload log. */
  is_payload_logged: z.literal(true).optional(),
  user: z.string().optional(),
  /** The end user from the X-User-Id header, which the on-demand host requires. */
  user_id: z.string().optional(),
  /** The caller's own object. At rest it is JSON text because DynamoDB rejects numbers and depths that JSON allows. */
  metadata: z.preprocess((value) => (typeof value === 'string' ? JSON.parse(value) : value), z.record(z.string(), z.unknown()).optional()),
});
export type UsageEvent = z.output<typeof UsageEvent>;

/** The event of a request whose function crashed: no output is known to have been delivered, so nothing is charged. */
export const orphanedEvent = (facts: {
  requestId: string;
  keyId: string;
  orgId: string;
  projectId: string | undefined;
  admittedAtMs: number;
  nowMs: number;
}): UsageEvent => ({
  request_id: facts.requestId,
  key_id: facts.keyId,
  org_id: facts.orgId,
  ...(facts.projectId !== undefined && { project_id: facts.projectId }),
  prompt_tokens: 0,
  cached_tokens: 0,
  completion_tokens: 0,
  source: 'estimated',
  outcome: 'orphaned',
  finish_reason: null,
  admitted_at: facts.admittedAtMs,
  time_to_first_token_ms: null,
  duration_ms: facts.nowMs - facts.admittedAtMs,
  cost_nanos: 0n,
  price_version: null,
});
