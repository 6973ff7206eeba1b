import { type KeyItem, keyConfiguration, REVOKED, secretConfiguration } from '../../../shared/admission/item/key-item.ts';
import { type Configuration, limitsOf } from '../../../shared/admission/item/limiter-item.ts';
import { newSecret } from '../../../shared/admission/item/secret.ts';
import { shardIds, shardsForLoad } from '../../../shared/admission/item/shards.ts';
import { ChangedMeanwhile } from '../../../shared/admission/plans/configuration-write.ts';
import { redivide, type ShardPart } from '../../../shared/admission/plans/share-limits.ts';
import { beginSpreading, MAX_CHANGED_AT_ONCE } from '../../../shared/admission/stores/spread-configuration.ts';
import { commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Conflict } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { hintOf } from '../../../shared/ids/checked-secret.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import { toLimits } from '../limits/limits.ts';
import { toJoinProject } from '../projects/join-project.ts';
import { retryOvertaken } from '../retry-overtaken.ts';
import { type ApiKey, type ApiKeyUpdate, type ApiKeyWithSecret, AUDITED_TEXTS, type Rotation, type StoredApiKey } from './api-key.ts';
import { checkExpiry, checkMayLimit, toWire, visibleKey } from './api-key-rights.ts';
import type { ApiKeyDependencies } from './create-api-key.ts';
import { settingsOf } from './key-settings.ts';
import { addConcurrency } from './organization-concurrency.ts';
import { boundsAfter, checkRestrictions } from './owner-restrictions.ts';

type Expected = readonly number[] | undefined;

interface Change {
  action: string;
  /** Writes besides the key's own row. */
  writes: readonly Write[];
}

type KeyConfiguration = Configuration<KeyItem>;

// If the items are too many for a transaction, it changes the first one, and `finish` the others. With new limits
// (`parts`), the transaction fails if an item has counted more meanwhile.
const toConfigure = async (
  { limiters }: Pick<ApiKeyDependencies, 'limiters'>,
  key: StoredApiKey,
  configurations: readonly KeyConfiguration[],
  nowMs: number,
  parts?: readonly ShardPart[],
): Promise<Write[]> => {
  const ids = shardIds(key.id, key.shards);
  if (ids.length > MAX_CHANGED_AT_ONCE) {
    const own = (await limiters.get(key.id)) as KeyItem;
    const first = beginSpreading(
      own,
      configurations[0] as KeyConfiguration,
      parts?.[0]?.limits ?? limitsOf(own),
      toLimits(key).budgets,
      nowMs,
    );
    return [limiters.toConfigure(key.id, first, parts && { cfg: own.cfg })];
  }
  return ids.map((id, shard) =>
    limiters.toConfigure(id, configurations[shard] as KeyConfiguration, parts && { ...parts[shard], atMs: nowMs }),
  );
};

/**
 * Plans a change that leaves a key's row as it is, such as its status: all limiter items get the same configuration.
 * @returns the writes for the transaction of the change, and a function that completes it
 */
export const toConfigureAll = async (
  deps: Pick<ApiKeyDependencies, 'limiters'>,
  key: StoredApiKey,
  configuration: KeyConfiguration,
  nowMs: number,
): Promise<{ writes: Write[]; complete: () => Promise<void> }> => ({
  writes: await toConfigure(deps, key, Array<KeyConfiguration>(key.shards).fill(configuration), nowMs),
  complete: async () => {
    if (key.shards > MAX_CHANGED_AT_ONCE) await deps.limiters.spread(key.id, nowMs);
  },
});

// In one transaction, so every environment sees the change at its next request. If the items are too many for a
// transaction, the others have followed when this returns.
const change = async (
  deps: ApiKeyDependencies,
  actor: Actor,
  before: StoredApiKey,
  fields: Partial<StoredApiKey>,
  { action, writes }: Change,
) => {
  const after: StoredApiKey = { ...before, ...fields, updated_at: unixSeconds(actor.origin.nowMs) };
  const { organization, id } = before;
  const wire = await toWire(deps.limiters, after);
  const target = { type: 'api_key', id };
  const audited = { action, organization, target, before: { ...before }, after: { ...after }, texts: AUDITED_TEXTS };
  await commit(deps, actor.origin, audited, [...deps.users.toCheckActor(actor), deps.apiKeys.toReplace(after), ...writes]);
  if (after.shards > MAX_CHANGED_AT_ONCE) await deps.limiters.spread(id, actor.origin.nowMs);
  return { ...wire, version: after.version + 1 };
};

const changeable = (key: StoredApiKey): StoredApiKey => {
  if (key.series !== undefined)
    throw new Conflict({ code: 'temporary_key', message: "A temporary API key can't be changed or rotated. Create a new one." });
  if (key.status !== 'active')
    throw new Conflict({ code: 'api_key_revoked', message: "A revoked API key can't be changed. Create a new one." });
  return key;
};

// The number of a key's limiter items never changes, because it determines where usage events are stored.
const checkFits = (before: StoredApiKey, after: StoredApiKey): void => {
  const [old, limits] = [toLimits(before), toLimits(after)];
  const isRaised = limits.concurrency > old.concurrency || limits.requestsPerMinute > old.requestsPerMinute;
  // An older key can have fewer shards than its limits would get today.
  if (isRaised && shardsForLoad(limits) > Math.max(after.shards, after.load_shards, shardsForLoad(old)))
    throw new Conflict({
      code: 'limits_too_high',
      param: 'limits',
      message:
        "The limits of this API key can't be raised that far: its capacity was fixed at its creation. Create a new key with these limits.",
    });
};

// Requests of a busy key can make the change fail this often; then it returns 503.
const MAX_TRIES = 8;

/**
 * Plans writes that give all limiter items of a key its settings, and divide its limits by the usage of each item. If
 * the items are too many for a transaction, only the first one is written. The writes fail with ChangedMeanwhile if an
 * item counts too much meanwhile.
 */
export const toConfigureWhole = async (deps: Pick<ApiKeyDependencies, 'limiters'>, key: StoredApiKey, nowMs: number): Promise<Write[]> => {
  const parts = redivide(toLimits(key), await deps.limiters.getMany(shardIds(key.id, key.shards)), nowMs);
  const settings = settingsOf(
    key,
    parts.map((part) => part.limits),
  );
  return toConfigure(deps, key, settings.map(keyConfiguration), nowMs, parts);
};

/**
 * Changes a key; absent fields keep their values. The change applies from the next request on.
 * @throws 400, 403, 404, 409, 412, 503
 */
export const updateApiKey = async (
  deps: ApiKeyDependencies,
  actor: Actor,
  id: string,
  { limits, budgets, ...fields }: ApiKeyUpdate,
  expected?: Expected,
): Promise<ApiKey> => {
  const before = changeable(checkVersion(await visibleKey(deps, actor, id), expected));
  checkMayLimit(actor, { limits, budgets, per_user: fields.per_user, project_id: fields.project_id });
  checkRestrictions(actor, before.owner_restrictions, fields);
  checkExpiry(fields.expires_at, actor.origin.nowMs);
  const changes = {
    ...fields,
    owner_restrictions: boundsAfter(actor, before.owner_restrictions, fields),
    limits: { ...before.limits, ...limits },
    budgets: { ...before.budgets, ...budgets },
  } as Partial<StoredApiKey>;
  const after = { ...before, ...changes };
  checkFits(before, after);
  const more = after.limits.concurrency - before.limits.concurrency;
  const joins = after.project_id !== before.project_id && after.project_id;
  return retryOvertaken({ what: `The counters of ${id}`, maxTries: MAX_TRIES, by: [ChangedMeanwhile] }, async () => {
    const added = more > 0 ? await addConcurrency(deps, actor.origin, before.organization, more) : undefined;
    const configured = await toConfigureWhole(deps, after, actor.origin.nowMs);
    const joined = joins ? [await toJoinProject(deps, before.organization, joins)] : [];
    const writes = [...(added?.writes ?? []), ...joined, ...configured];
    return change(deps, actor, before, changes, { action: 'api_key.updated', writes });
  });
};

// A client that repeats a rotation because its response was lost would revoke the secret that is in use.
const rotating = (): Conflict =>
  new Conflict({
    code: 'rotation_under_way',
    message:
      "The previous secret is still valid during its overlap; rotating again would revoke it now. To rotate anyway, send the key's ETag in If-Match, or set overlap_seconds to 0.",
  });

/**
 * Gives a key a new secret. The previous secret stays valid for the overlap; earlier ones do not. Both secrets share
 * the key's limits and usage.
 * @throws 404, 409, 412
 */
export const rotateApiKey = async (
  deps: ApiKeyDependencies,
  actor: Actor,
  id: string,
  { overlap_seconds }: Rotation,
  expected?: Expected,
): Promise<ApiKeyWithSecret> => {
  const before = changeable(checkVersion(await visibleKey(deps, actor, id), expected));
  const { nowMs } = actor.origin;
  if (overlap_seconds > 0 && !expected && (before.previous_secret_until ?? 0) * 1_000 > nowMs) throw rotating();
  const { secret, hash } = newSecret(before.scope, id);
  const untilMs = nowMs + overlap_seconds * 1_000;
  // All of the key's items have the same hash, and a concurrent rotation changes the version of the key's row.
  const current = (await deps.limiters.get(id)) as KeyItem | undefined;
  const previous = overlap_seconds > 0 && current ? { hash: current.h, untilMs } : undefined;
  const configuration = secretConfiguration(hash, previous);
  const writes = await toConfigure(deps, before, Array<KeyConfiguration>(before.shards).fill(configuration), nowMs);
  const fields = { hint: hintOf(secret), previous_secret_until: previous ? unixSeconds(untilMs) : null };
  writes.push(deps.apiKeys.toKeepSecret({ ...before, ...fields }, { hash, ...(previous && { previous }) }));
  const key = await change(deps, actor, before, fields, { action: 'api_key.rotated', writes });
  return { ...key, secret };
};

/** Revokes a key permanently, from the next request on. Does nothing if the key is already revoked. @throws 404, 412 */
export const revokeApiKey = async (deps: ApiKeyDependencies, actor: Actor, id: string, expected?: Expected): Promise<ApiKey> => {
  const before = checkVersion(await visibleKey(deps, actor, id), expected);
  const { nowMs } = actor.origin;
  if (before.status === 'revoked') {
    // A crash can have left out shards.
    if (before.shards > MAX_CHANGED_AT_ONCE) await deps.limiters.spread(id, nowMs);
    return toWire(deps.limiters, before);
  }
  const writes = [
    ...(await toConfigure(deps, before, Array<KeyConfiguration>(before.shards).fill(REVOKED), nowMs)),
    ...deps.apiKeys.toEnd(before),
  ];
  return change(deps, actor, before, { status: 'revoked', previous_secret_until: null }, { action: 'api_key.revoked', writes });
};
