import type { Host } from '../../../shared/hosts/host.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import type { Reply } from '../../../shared/http/reply.ts';
import type { Inventory } from '../../../shared/models/inventory.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import type { CacheSalt } from '../../../shared/upstream/request-body.ts';
import type { SettlementQueue } from '../../../shared/usage/settlement-queue.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import type { Keys } from '../admission/admit.ts';
import type { Capacity } from '../capacity/capacity.ts';
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts';
import type { LogPayload } from '../payload-log/payload-log.ts';
import type { RunShadow } from '../shadow/run-shadow.ts';
import type { TargetHealth } from '../targets/target-health.ts';
import type { ReplyBody } from './reply-body.ts';

/** The stores, clients and settings of the inference routes. */
export interface Dependencies {
  host: Host;
  /** The models that an organization's keys can name. */
  modelsOf: (organization: string) => Inventory;
  keys: Keys;
  usage: UsageStore;
  /** Takes settlements while the database is unavailable. */
  settlements: SettlementQueue;
  tokenizer: Tokenizer;
  invoke: Invoke;
  /** For answers that are not streamed: vectors and scores. */
  invokeWhole: Invoke;
  health: TargetHealth;
  idempotency: IdempotencyStore;
  cacheSalt: CacheSalt;
  /** Loaded by the first request whose deployment has no capacity. */
  capacity: () => Promise<Capacity>;
  /** Loaded by the first request whose content is logged, after its reply. */
  payloadLog: () => Promise<LogPayload>;
  /** Loaded by the first request that is also sent to a next generation, after its reply. */
  shadow: () => Promise<RunShadow>;
  now: () => number;
}

/** The part of Lambda's context that the pipeline uses. */
export interface Clock {
  getRemainingTimeInMillis: () => number;
}

/** Answers one request. */
export type Serve = (event: ApiEvent, clock: Clock) => Promise<Reply<string | ReplyBody>>;
