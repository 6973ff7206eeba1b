import * as z from 'zod';

/** How a request ended. `orphaned`: its function died, and the sweep settled it. */
export const Outcome = z.enum(['completed', 'client_closed', 'upstream_failed', 'timed_out', 'orphaned']);
export type Outcome = z.infer<typeof Outcome>;

/** Nano-dollars; DynamoDB gives a number, or a bigint where a number would not be exact. */
const Nanos = z.union([z.int(), z.bigint()]).transform(BigInt);

/** The record that is billed: one for every admitted request, immutable, the truth that every total is made from. */
export const UsageEvent = z.object({
  request_id: z.string(),
  key_id: z.string(),
  org_id: z.string(),
  /** Absent on an orphaned event: the function died with what it knew. */
  model: z.string().optional(),
  route: z.string().optional(),
  stream: z.boolean().optional(),
  prompt_tokens: z.int().min(0),
  /** Of the prompt's tokens, those that the runtime had cached from an earlier request. */
  cached_tokens: z.int().min(0).default(0),
  completion_tokens: z.int().min(0),
  /** `runtime`: counted by the model's runtime; `estimated`: by us, because the runtime did not say. */
  source: z.enum(['runtime', 'estimated']),
  outcome: Outcome,
  /** The code of the error that the caller received, if any. */
  error_code: z.string().optional(),
  finish_reason: z.string().nullable(),
  /** ms since the epoch, then milliseconds from the arrival of the request. */
  admitted_at: z.int(),
  time_to_first_token_ms: z.int().nullable(),
  duration_ms: z.int(),
  /** By the price version named beside it. */
  cost_nanos: Nanos,
  price_version: z.string().nullable(),
  /** The tokens cost more than was held for the request, which is all that it is charged. */
  is_capped: z.literal(true).optional(),
  /** Whether it was paid from its organization's prepaid credit. */
  is_prepaid: z.literal(true).optional(),
  endpoint: z.string().optional(),
  user: z.string().optional(),
  /** The end user by the header X-User-Id, which the on-demand host asks for. */
  user_id: z.string().optional(),
  /** The caller's own object. At rest it is JSON text: DynamoDB refuses numbers and depths that JSON allows. */
  metadata: z.preprocess((value) => (typeof value === 'string' ? JSON.parse(value) : value), z.record(z.string(), z.unknown()).optional()),
});
export type UsageEvent = z.output<typeof UsageEvent>;

/** The event of a request whose function died: nothing is known to have been delivered, so nothing is charged. */
export const orphanedEvent = (facts: {
  requestId: string;
  keyId: string;
  orgId: string;
  admittedAtMs: number;
  nowMs: number;
}): UsageEvent => ({
  request_id: facts.requestId,
  key_id: facts.keyId,
  org_id: facts.orgId,
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
