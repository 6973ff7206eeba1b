import * as z from 'zod';
import type { LimiterItem } from './limiter.ts';
import type { Scope } from './secret.ts';

/** The limiter item of an API key, or of a shard of one. */
export interface KeyItem extends LimiterItem {
  /** SHA-256 of the secret, and of the previous one while a rotation overlaps (until `h2_until`, ms). */
  h: Uint8Array;
  h2?: Uint8Array;
  h2_until?: number;
  scope: Scope;
  /** The allow-list; absent = every model. */
  models?: string[];
  /** ms since the epoch. */
  expires_at?: number;
  /** How many limiter items share the key's limits; absent = one. */
  shards?: number;
  /** Whether its organization has limits of its own, which every request must meet too. */
  lim_o?: true;
  /** Nothing of a request's content may be kept for a later one. */
  no_content?: true;
  lim_r: number;
  lim_t: number;
  lim_c: number;
}

/** Whether a limiter item is a key's; an organization's has no secret, and nothing opens it. */
export const isKeyItem = (item: LimiterItem): item is KeyItem => 'h' in item;

/** Nano-dollars: up to a million dollars. */
const Budget = z.bigint().min(0n).max(1_000_000_000_000_000n);

/** What may be set when a key is made. */
export const NewKey = z.strictObject({
  org: z.string().min(1).max(64),
  scope: z.enum(['serverless', 'on_demand']),
  models: z.array(z.string().min(1).max(256)).min(1).max(16).optional(),
  expires_at: z.int().positive().optional(),
  requests_per_minute: z.int().min(0).max(1_000_000),
  tokens_per_minute: z.int().min(0).max(1_000_000_000),
  concurrency: z.int().min(0).max(1_000),
  /** Nano-dollars a day, a month (both UTC) and in all. */
  day_budget_nanos: Budget.optional(),
  month_budget_nanos: Budget.optional(),
  total_budget_nanos: Budget.optional(),
  /** Nothing of a request's content may be kept to answer its repetition. */
  no_content: z.literal(true).optional(),
});
export type NewKey = z.infer<typeof NewKey>;
