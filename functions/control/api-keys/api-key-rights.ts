import { shardIds } from '../../../shared/admission/item/shards.ts';
import type { LimiterConfigurationStore } from '../../../shared/admission/stores/limiter-configuration-store.ts';
import { inBatches } from '../../../shared/database/in-batches.ts';
import { Forbidden, InvalidValue, ResourceNotFound } from '../../../shared/http/errors.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { type Actor, can, isOfPlatform, seesOnlyOwn } from '../access/actor.ts';
import type { ApiKey, StoredApiKey } from './api-key.ts';
import type { ApiKeyStore } from './api-key-store.ts';

export interface ApiKeyReads {
  apiKeys: ApiKeyStore;
  limiters: LimiterConfigurationStore;
}

/**
 * Returns a key that the actor can see: members see their own, owners those of the organization, admins all.
 * @throws 404
 */
export const visibleKey = async ({ apiKeys, limiters }: ApiKeyReads, actor: Actor, id: string): Promise<StoredApiKey> => {
  const organization = isOfPlatform(actor) ? (await limiters.get(id))?.org : actor.organization;
  if (!organization) throw new ResourceNotFound('API key', id);
  const key = await apiKeys.get(organization, id);
  if (seesOnlyOwn(actor) && key.created_by !== actor.userId) throw new ResourceNotFound('API key', id);
  return key;
};

const LIMITING = ['limits', 'budgets', 'per_user', 'project_id'] as const;
type Limiting = { [Name in (typeof LIMITING)[number]]?: unknown };

/** Rejects limits, budgets and a project from an actor who cannot set them; null removes one. @throws 403 */
export const checkMayLimit = (actor: Actor, fields: Limiting): void => {
  const param = LIMITING.find((name) => fields[name] !== undefined);
  if (param && !can(actor, 'keys:limit'))
    throw new Forbidden({
      param,
      message: `Setting the ${param} of an API key requires the permission 'keys:limit'. Remove '${param}' from the request, or ask an owner of your organization.`,
    });
};

/** The same for a new key, in which null is the default. @throws 403 */
export const checkMayLimitNew = (actor: Actor, { limits, budgets, per_user, project_id }: Limiting): void =>
  checkMayLimit(actor, { limits, budgets, per_user: per_user ?? undefined, project_id: project_id ?? undefined });

/** Rejects an expiry in the past. @throws 400 */
export const checkExpiry = (expiresAt: number | null | undefined, nowMs: number): void => {
  if (expiresAt != null && expiresAt * 1_000 <= nowMs) throw new InvalidValue('expires_at', 'expected a time in the future');
};

const MAX_KEYS_PER_READ = 100;

const lastUsesOf = async (limiters: LimiterConfigurationStore, keys: readonly StoredApiKey[]): Promise<Map<string, number>> => {
  const owners = new Map(keys.flatMap(({ id, shards }) => shardIds(id, shards).map((limiter) => [limiter, id] as const)));
  const ids = [...owners.keys()];
  const last = new Map<string, number>();
  for (const batch of inBatches(ids, MAX_KEYS_PER_READ))
    for (const [limiter, atMs] of await limiters.lastUses(batch)) {
      const id = owners.get(limiter) as string;
      last.set(id, Math.max(last.get(id) ?? 0, unixSeconds(atMs)));
    }
  return last;
};

/** Adds when keys were last used, and removes what callers don't see. */
export const withLastUse = async (limiters: LimiterConfigurationStore, keys: readonly StoredApiKey[]): Promise<ApiKey[]> => {
  const last = await lastUsesOf(limiters, keys);
  return keys.map(({ shards: _, load_shards: __, counted_for: ___, series, counted_concurrency: ____, ...key }) => {
    const lastUse = last.get(key.id) ?? null;
    // The id of a temporary key can have been used before the key was created.
    const isEarlier = series !== undefined && lastUse !== null && lastUse < key.created_at;
    return { ...key, last_used_at: isEarlier ? null : lastUse };
  });
};

/** Converts a key to the wire. */
export const toWire = async (limiters: LimiterConfigurationStore, key: StoredApiKey): Promise<ApiKey> =>
  (await withLastUse(limiters, [key]))[0] as ApiKey;
