import type { KeyItem } from '../../../shared/admission/key.ts';
import { newSecret } from '../../../shared/admission/secret.ts';
import { shardId, shardsForLoad } from '../../../shared/admission/shards.ts';
import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Conflict } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import type { Actor } from '../access/actor.ts';
import { commit } from '../audit/commit.ts';
import type { ApiKey, ApiKeyUpdate, ApiKeyWithSecret, Rotation, StoredApiKey } from './api-key.ts';
import { checkExpiry, checkMayLimit, toWire, visibleKey } from './api-key-rights.ts';
import { configureShards, Spent } from './configure-shards.ts';
import { type ApiKeyDependencies, hintOf } from './create-api-key.ts';

type Expected = readonly number[] | undefined;

interface Change {
  action: string;
  /** What is written beside the key's own row. */
  writes: readonly Write[];
}

/** Writes a key anew with its limiter items, all of them alike, in one transaction: every environment notices at its next request. */
const change = async (
  deps: ApiKeyDependencies,
  actor: Actor,
  before: StoredApiKey,
  fields: Partial<StoredApiKey>,
  { action, writes }: Change,
) => {
  const after: StoredApiKey = { ...before, ...fields, updated_at: Math.floor(actor.origin.nowMs / 1_000) };
  const { organization, id } = before;
  const wire = await toWire(deps.limiters, after);
  const audited = { action, organization, target: { type: 'api_key', id }, before: { ...before }, after: { ...after } };
  await commit(deps, actor.origin, audited, [deps.apiKeys.toReplace(after), ...writes]);
  return { ...wire, version: after.version + 1 };
};

const active = (key: StoredApiKey): StoredApiKey => {
  if (key.status !== 'active')
    throw new Conflict({ code: 'api_key_revoked', message: 'The API key is revoked, for good. Create a new one.' });
  return key;
};

const limiterIds = ({ id, shards }: StoredApiKey): string[] => Array.from({ length: shards }, (_, shard) => shardId(id, shard));

/** A key's limits are shared by as many limiter items as it was made with: its usage is found by their number. */
const checkFits = (before: StoredApiKey, { limits, shards, load_shards }: StoredApiKey): void => {
  const isRaised = limits.concurrency > before.limits.concurrency || limits.requests_per_minute > before.limits.requests_per_minute;
  if (isRaised && shardsForLoad(limits) > Math.max(shards, load_shards))
    throw new Conflict({
      code: 'limits_too_high',
      param: 'limits',
      message:
        'This API key was made for fewer requests at a time: its limits cannot be raised that far. Create a new key with these limits.',
    });
};

/** Requests of a busy key come in between so often at most; then it is a 503. */
const MAX_ATTEMPTS = 8;

/** Changes a key; what is absent stays. The data plane follows at the next request. @throws 400, 403, 404, 409, 412 */
export const updateApiKey = async (
  deps: ApiKeyDependencies,
  actor: Actor,
  id: string,
  { limits, budgets, ...fields }: ApiKeyUpdate,
  expected?: Expected,
): Promise<ApiKey> => {
  const before = active(checkVersion(await visibleKey(deps, actor, id), expected));
  checkMayLimit(actor, { limits, budgets });
  checkExpiry(fields.expires_at, actor.origin.nowMs);
  const changes = {
    ...fields,
    limits: { ...before.limits, ...limits },
    budgets: { ...before.budgets, ...budgets },
  } as Partial<StoredApiKey>;
  const after = { ...before, ...changes };
  checkFits(before, after);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const writes = await configureShards(deps.limiters, after, actor.origin.nowMs);
    try {
      return await change(deps, actor, before, changes, { action: 'api_key.updated', writes });
    } catch (error) {
      if (!(error instanceof Spent)) throw error;
    }
  }
  throw new DatabaseUnavailable(new Error(`The counts of ${id} change faster than its budgets can be shared.`));
};

/** A rotation that is sent again, because its reply was lost, would close the secret that is in use. */
const rotating = (): Conflict =>
  new Conflict({
    code: 'rotation_under_way',
    message:
      'The secret from before the last rotation still opens. To rotate again now closes it: send the ETag of the API key in If-Match if you mean to, or ask without an overlap.',
  });

/**
 * Gives a key a new secret. The one before opens for as long as is said, and one before that no more. Both share the key's limits and its bill.
 * @throws 404, 409, 412
 */
export const rotateApiKey = async (
  deps: ApiKeyDependencies,
  actor: Actor,
  id: string,
  { overlap_seconds }: Rotation,
  expected?: Expected,
): Promise<ApiKeyWithSecret> => {
  const before = active(checkVersion(await visibleKey(deps, actor, id), expected));
  const { nowMs } = actor.origin;
  if (overlap_seconds > 0 && !expected && (before.previous_secret_until ?? 0) * 1_000 > nowMs) throw rotating();
  const { secret, hash } = newSecret(before.scope, id);
  const untilMs = nowMs + overlap_seconds * 1_000;
  // All of its items have the same hash; a rotation that comes in between changes the version of the key's row.
  const current = (await deps.limiters.get(id)) as KeyItem | undefined;
  const overlap = overlap_seconds > 0 && current ? { h2: current.h, h2_until: untilMs } : undefined;
  const writes = limiterIds(before).map((limiterId) =>
    deps.limiters.toConfigure<KeyItem>(limiterId, { h: hash, ...overlap }, overlap ? [] : ['h2', 'h2_until']),
  );
  const fields = { hint: hintOf(secret), previous_secret_until: overlap ? Math.floor(untilMs / 1_000) : null };
  const key = await change(deps, actor, before, fields, { action: 'api_key.rotated', writes });
  return { ...key, secret };
};

/** Revokes a key for good: it opens nothing from the next request on. One that is revoked already stays as it is. @throws 404, 412 */
export const revokeApiKey = async (deps: ApiKeyDependencies, actor: Actor, id: string, expected?: Expected): Promise<ApiKey> => {
  const before = checkVersion(await visibleKey(deps, actor, id), expected);
  if (before.status === 'revoked') return toWire(deps.limiters, before);
  const writes = [
    ...limiterIds(before).map((limiterId) => deps.limiters.toConfigure<KeyItem>(limiterId, { status: 'revoked' }, ['h2', 'h2_until'])),
    deps.apiKeys.toUncount(before.organization),
  ];
  return change(deps, actor, before, { status: 'revoked', previous_secret_until: null }, { action: 'api_key.revoked', writes });
};
