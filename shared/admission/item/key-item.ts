import type { HostScope } from '../../hosts/host.ts';
import {
  type Configuration,
  type LimiterItem,
  limitConfiguration,
  lowerLimits,
  newLimiterItem,
  type StoredNanos,
  wholeLimitsOf,
} from './limiter-item.ts';
import type { Limits, RateLimits, UserLimits } from './limits.ts';
import { usableShards } from './shards.ts';

/** The limiter item of an API key, or of a shard of one. */
export interface KeyItem extends LimiterItem {
  org: string;
  /** SHA-256 of the secret, and of the previous one during the overlap of a rotation (until `h2_until`, ms). */
  h: Uint8Array;
  h2?: Uint8Array;
  h2_until?: number;
  scope: HostScope;
  /** The allow-list; absent: all models. */
  models?: string[];
  /** ms since the epoch. */
  expires_at?: number;
  /** Its organization has limits of its own, which every request must meet as well. */
  lim_o?: true;
  /** No request content may be stored for later requests. */
  no_content?: true;
  /** The same, as a setting of its organization, and the version of the organization in which that was set. */
  no_o?: true;
  no_v?: number;
  /** The content of its requests is logged: its organization's setting with its version, and its own, which wins. */
  log_o?: true;
  log_v?: number;
  log_k?: boolean;
  /** The limits of each of its end users: requests and tokens per minute, requests in flight, budget per month. */
  per_user?: { r?: number; t?: number; c?: number; m?: StoredNanos };
  /** The project that it belongs to. */
  prj?: string;
  /** Its requests are never answered by another model than the one they ask for. */
  no_fallback?: true;
  /** Only temporary keys: their creation, in Unix seconds, because earlier keys can have had the same id. */
  since?: number;
}

/** An organization's item has no secret, so no key can authenticate with it. */
export const isKeyItem = (item: LimiterItem): item is KeyItem => 'h' in item;

export const isOrganizationLimited = ({ lim_o }: KeyItem): boolean => lim_o === true;

/** The limits of each end user of the key; undefined if it has none. */
export const userLimitsOf = ({ per_user }: KeyItem): UserLimits | undefined =>
  per_user && {
    ...(per_user.r !== undefined && { requestsPerMinute: per_user.r }),
    ...(per_user.t !== undefined && { tokensPerMinute: per_user.t }),
    ...(per_user.c !== undefined && { concurrency: per_user.c }),
    ...(per_user.m !== undefined && { monthlyBudgetNanos: BigInt(per_user.m) }),
  };

const storedUserLimits = ({ requestsPerMinute, tokensPerMinute, concurrency, monthlyBudgetNanos }: UserLimits): KeyItem['per_user'] => ({
  ...(requestsPerMinute !== undefined && { r: requestsPerMinute }),
  ...(tokensPerMinute !== undefined && { t: tokensPerMinute }),
  ...(concurrency !== undefined && { c: concurrency }),
  ...(monthlyBudgetNanos !== undefined && { m: monthlyBudgetNanos }),
});

/** The id of the project that the key belongs to, if any. */
export const projectOf = ({ prj }: KeyItem): string | undefined => prj;

/** The creation of a temporary key, in Unix seconds. Undefined for other keys, organizations and projects. */
export const temporarySince = (item: LimiterItem): number | undefined => (isKeyItem(item) ? item.since : undefined);

/** Another model may answer the key's requests, if the one that they ask for fails. */
export const mayFallBack = ({ no_fallback }: KeyItem): boolean => no_fallback !== true;

/** Content of the key's requests may be stored for later requests. */
export const mayStore = ({ no_content, no_o }: KeyItem): boolean => no_content !== true && no_o !== true;

/** The content of the key's requests goes to the payload log, which checks the settings again before it writes. */
export const isPayloadLogged = (item: KeyItem): boolean => (item.log_k ?? item.log_o === true) && mayStore(item);

/** An organization's setting for its payload log, and the version of that setting. */
export interface PayloadLogSetting {
  isOn: boolean;
  version: number;
}

/** The configuration change that switches a key's own payload log; null: its organization's setting applies. */
export const payloadLogConfiguration = (isOn: boolean | null): Configuration<KeyItem> =>
  isOn === null ? { set: {}, remove: ['log_k'] } : { set: { log_k: isOn }, remove: [] };

/** An organization's setting for content, and the version of the organization in which it was set; 0: never. */
export interface ContentSetting {
  mayStore: boolean;
  version: number;
}

/** The configuration of a key's limiter item, except its secret. */
export interface KeySettings {
  status: 'active' | 'revoked';
  /** The item's part of the key's limits. */
  limits: Limits;
  /** The limits of the whole key, and how many items share them. */
  whole: RateLimits;
  shards: number;
  models: string[] | null;
  expiresAtMs: number | null;
  keepsNoContent: boolean;
  /** The limits of each end user; default: none. */
  perUser?: UserLimits | null;
  /** Default: no project. */
  projectId?: string | null;
  /** Default: false. */
  hasNoFallback?: boolean;
}

const OPTIONAL = ['models', 'expires_at', 'no_content', 'per_user', 'prj', 'no_fallback'] as const;

/** The configuration change that replaces the settings of a key's limiter item. */
export const keyConfiguration = (settings: KeySettings): Configuration<KeyItem> => {
  const { status, limits, whole, shards, models, expiresAtMs, keepsNoContent, perUser, projectId, hasNoFallback } = settings;
  const ofUsers = perUser ? storedUserLimits(perUser) : undefined;
  const { set, remove } = limitConfiguration(limits);
  const optional: Partial<KeyItem> = {
    ...(models && { models }),
    ...(expiresAtMs !== null && { expires_at: expiresAtMs }),
    ...(keepsNoContent && { no_content: true }),
    ...(ofUsers && Object.keys(ofUsers).length > 0 && { per_user: ofUsers }),
    ...(projectId != null && { prj: projectId }),
    ...(hasNoFallback && { no_fallback: true }),
  };
  return {
    set: { ...set, ...optional, status, ...(shards > 1 && { shards, ...wholeLimitsOf(whole) }) },
    remove: [...remove, ...OPTIONAL.filter((name) => optional[name] === undefined)],
  };
};

interface NewKeyFacts {
  org: string;
  scope: HostScope;
  hash: Uint8Array;
  /** Its organization has limits. */
  isLimited: boolean;
  /** Absent: the organization has never set it. */
  content?: ContentSetting;
  /** Absent: the organization has never set it. */
  payloadLog?: PayloadLogSetting | undefined;
  /** Only temporary keys: their creation, in Unix seconds. */
  since?: number | undefined;
}

/** Creates a limiter item of a new key. */
export const newKeyItem = (
  id: string,
  { org, scope, hash, isLimited, content, payloadLog, since }: NewKeyFacts,
  settings: KeySettings,
): KeyItem => ({
  ...newLimiterItem(id, org, keyConfiguration(settings)),
  org,
  scope,
  h: hash,
  ...(isLimited && { lim_o: true }),
  ...(content && { no_v: content.version, ...(!content.mayStore && { no_o: true }) }),
  ...(payloadLog && { log_v: payloadLog.version, ...(payloadLog.isOn && { log_o: true }) }),
  ...(since !== undefined && { since }),
});

/**
 * The configuration change that sets a new secret. `previous` stays valid until `untilMs`; without it, no earlier
 * secret does.
 */
export const secretConfiguration = (hash: Uint8Array, previous?: { hash: Uint8Array; untilMs: number }): Configuration<KeyItem> =>
  previous
    ? { set: { h: hash, h2: previous.hash, h2_until: previous.untilMs }, remove: [] }
    : { set: { h: hash }, remove: ['h2', 'h2_until'] };

export const REVOKED: Configuration<KeyItem> = { set: { status: 'revoked' }, remove: ['h2', 'h2_until'] };

/** The number of a key's shards that have a part of its limits. */
export const usableShardsOf = ({ shards = 1, all_r = shards, all_c = shards }: KeyItem): number =>
  usableShards(shards, { requestsPerMinute: all_r, concurrency: all_c });

/**
 * Guesses another shard of a key: the same configuration without counts. A shard's part of a limit can be smaller by
 * one, so every limit is lowered by one: a guess that is too low costs a round trip, one that is too high would admit
 * one request too many.
 */
export const assumedShard = (item: KeyItem, id: string): KeyItem => ({ ...lowerLimits(item), id });
