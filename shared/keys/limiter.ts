import * as z from 'zod';
import type { Limits, Usage, Window } from '../limits/window.ts';
import type { Scope } from './secret.ts';

/**
 * The limiter item of an API key: what every request reads and writes, in one item that stays small. Attribute names are
 * short because they are paid for by the kilobyte. Beside these it holds the counters `r<minute>` (requests) and `t<minute>` (tokens).
 */
export interface LimiterItem {
  id: string;
  /** SHA-256 of the secret, and of the previous one while a rotation overlaps (until `h2_until`, ms). */
  h: Uint8Array;
  h2?: Uint8Array;
  h2_until?: number;
  org: string;
  status: 'active' | 'revoked' | 'suspended';
  scope: Scope;
  /** The allow-list; absent = every model. */
  models?: string[];
  /** ms since the epoch. */
  expires_at?: number;
  /** The version of everything above and of the limits; a write proves with it that what it was decided on is current. */
  cfg: number;
  lim_r: number;
  lim_t: number;
  lim_c: number;
  /** The requests in flight by request id. An entry IS the reservation: [admitted at (ms), reserved tokens]. */
  fl: Record<string, [admittedAtMs: number, tokens: number]>;
  last_used?: number;
  /** The epoch (see `epoch.ts`) of the last admission: how the sweep finds entries that a dead function left. */
  ep?: string;
  [counter: `r${number}` | `t${number}`]: number;
}

/** What may be set when a key is made. */
export const NewKey = z.strictObject({
  org: z.string().min(1).max(64),
  scope: z.enum(['serverless', 'on_demand']),
  models: z.array(z.string().min(1).max(256)).min(1).max(16).optional(),
  expires_at: z.int().positive().optional(),
  requests_per_minute: z.int().min(0).max(1_000_000),
  tokens_per_minute: z.int().min(0).max(1_000_000_000),
  concurrency: z.int().min(0).max(1_000),
});
export type NewKey = z.infer<typeof NewKey>;

export const limitsOf = (item: LimiterItem): Limits => ({
  requestsPerMinute: item.lim_r,
  tokensPerMinute: item.lim_t,
  concurrency: item.lim_c,
});

const windowOf = (item: LimiterItem, kind: 'r' | 't', minute: number): Window => ({
  current: item[`${kind}${minute}`] ?? 0,
  previous: item[`${kind}${minute - 1}`] ?? 0,
});

/** What the key has used, as of a minute. */
export const usageOf = (item: LimiterItem, minute: number): Usage => ({
  requests: windowOf(item, 'r', minute),
  tokens: windowOf(item, 't', minute),
  inFlight: Object.keys(item.fl).length,
});
