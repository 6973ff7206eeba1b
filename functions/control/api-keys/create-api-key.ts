import { type KeyItem, newKeyItem } from '../../../shared/admission/item/key-item.ts';
import { newSecret } from '../../../shared/admission/item/secret.ts';
import { shardId, shardsFor, shardsForLoad } from '../../../shared/admission/item/shards.ts';
import { ChangedMeanwhile } from '../../../shared/admission/plans/configuration-write.ts';
import { MAX_CHANGED_AT_ONCE } from '../../../shared/admission/stores/spread-configuration.ts';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { inBatches } from '../../../shared/database/in-batches.ts';
import { MAX_WRITES, transact, type Write } from '../../../shared/database/transaction.ts';
import { hintOf } from '../../../shared/ids/checked-secret.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import type { PayloadLogStore } from '../../../shared/payload-log/settings-store.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { type Actor, type ActorChecks, isOfPlatform, organizationFor } from '../access/actor.ts';
import { KeyBudgets, KeyLimits, toLimits } from '../limits/limits.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import { toJoinProject } from '../projects/join-project.ts';
import type { ProjectStore } from '../projects/project-store.ts';
import { retryOvertaken } from '../retry-overtaken.ts';
import { type ApiKeyWithSecret, AUDITED_TEXTS, type NewApiKey, type StoredApiKey, UNRESTRICTED } from './api-key.ts';
import { type ApiKeyReads, checkExpiry, checkMayLimitNew, toWire } from './api-key-rights.ts';
import type { ApiKeyStore } from './api-key-store.ts';
import { type QuotaDependencies, toCountKey } from './key-quota.ts';
import { settingsOf } from './key-settings.ts';
import { addConcurrency } from './organization-concurrency.ts';
import { boundsAfter } from './owner-restrictions.ts';

export interface ApiKeyDependencies extends AuditDependencies, ApiKeyReads, QuotaDependencies {
  apiKeys: ApiKeyStore;
  organizations: OrganizationStore;
  projects: ProjectStore;
  users: ActorChecks;
  payloadLogs: PayloadLogStore;
}

// The organization's setting for content can change this often during the creation of a key.
const MAX_TRIES = 3;

type KeyFields = Omit<NewApiKey, 'purpose' | 'organization' | 'expires_in_seconds'>;

/** The row of a new standard key. */
export const newKey = (
  actor: Actor,
  body: KeyFields,
  { id, organization, secret }: { id: string; organization: string; secret: string },
): StoredApiKey => {
  const { limits = KeyLimits.parse({}), budgets = KeyBudgets.parse({}) } = body;
  const rules = toLimits({ limits, budgets });
  const seconds = unixSeconds(actor.origin.nowMs);
  return {
    id,
    object: 'api_key',
    organization,
    name: body.name,
    purpose: 'standard',
    scope: body.scope,
    status: 'active',
    hint: hintOf(secret),
    models: body.models,
    limits,
    budgets,
    per_user: body.per_user,
    expires_at: body.expires_at,
    no_content: body.no_content,
    no_fallback: body.no_fallback,
    owner_restrictions: boundsAfter(actor, UNRESTRICTED, body),
    project_id: body.project_id,
    metadata: body.metadata,
    created_at: seconds,
    created_by: actor.userId,
    updated_at: seconds,
    previous_secret_until: null,
    version: 1,
    shards: shardsFor(rules),
    load_shards: shardsForLoad(rules),
    ...(!isOfPlatform(actor) && { counted_for: actor.userId }),
  };
};

/**
 * Plans the limiter items of a key with a new secret. The writes of the plan must be in the transaction that creates
 * them; they fail with ChangedMeanwhile if the organization or the project changes meanwhile.
 * @param moreConcurrency for which the organization has not counted the key yet
 */
export const planItems = async (
  deps: ApiKeyDependencies,
  actor: Actor,
  key: StoredApiKey,
  { hash, moreConcurrency }: { hash: Uint8Array; moreConcurrency: number },
): Promise<{ items: KeyItem[]; isLimited: boolean; writes: Write[] }> => {
  const { id, organization, scope, project_id, series, created_at } = key;
  const { isLimited, writes } = await addConcurrency(deps, actor.origin, organization, moreConcurrency);
  const owner = await deps.organizations.get(organization);
  const { no_content, no_content_version: version } = owner;
  const log = await deps.payloadLogs.get({ organization });
  const facts = {
    org: organization,
    scope,
    hash,
    isLimited,
    ...(log && { payloadLog: { isOn: log.enabled, version: log.version } }),
    ...(version > 0 && { content: { mayStore: !no_content, version } }),
    ...(series !== undefined && { since: created_at }),
  };
  const checks = [
    deps.organizations.toCheckContent(owner),
    deps.payloadLogs.toCheck(organization, log?.version ?? 0, () => new ChangedMeanwhile()),
    ...(project_id === null ? [] : [await toJoinProject(deps, organization, project_id)]),
  ];
  const items = settingsOf(key).map((settings, shard) => newKeyItem(shardId(id, shard), facts, settings));
  return { items, isLimited, writes: [...checks, ...writes] };
};

/** Marks the items of a new key if its organization has received limits since they were planned. */
export const markIfLimited = async (
  { limiters }: Pick<ApiKeyDependencies, 'limiters'>,
  { items, isLimited }: { items: readonly KeyItem[]; isLimited: boolean },
): Promise<void> => {
  const [organization] = items.map(({ org }) => org);
  if (isLimited || organization === undefined || !(await limiters.get(organization))) return;
  for (const item of items) await limiters.markOrganizationLimited(item.id);
};

/**
 * Creates an API key with the limiter items that share its limits, in one transaction if they fit one. Only the SHA-256
 * of its secret is stored.
 * @throws 400, 403, 404, 409, 429, 503
 */
export const createApiKey = (deps: ApiKeyDependencies, actor: Actor, body: NewApiKey): Promise<ApiKeyWithSecret> =>
  retryOvertaken({ what: 'The organization', maxTries: MAX_TRIES, by: [ChangedMeanwhile] }, () => tryToCreate(deps, actor, body));

const tryToCreate = async (deps: ApiKeyDependencies, actor: Actor, body: NewApiKey): Promise<ApiKeyWithSecret> => {
  checkMayLimitNew(actor, body);
  const { origin } = actor;
  checkExpiry(body.expires_at, origin.nowMs);
  const organization = organizationFor(actor, body.organization);
  const id = newTimedId('key', origin.nowMs);
  const { secret, hash } = newSecret(body.scope, id);
  const key = newKey(actor, body, { id, organization, secret });
  const plan = await planItems(deps, actor, key, { hash, moreConcurrency: key.limits.concurrency });
  const { items } = plan;
  const wire = await toWire(deps.limiters, key);
  const change = { action: 'api_key.created', organization, target: { type: 'api_key', id }, after: wire, texts: AUDITED_TEXTS };
  // The key works as soon as its first item exists, so what does not fit the transaction is written before it. A
  // crash leaves items that nothing uses.
  for (const batch of inBatches(items.slice(MAX_CHANGED_AT_ONCE), MAX_WRITES))
    await transact(
      deps.database,
      batch.map((item) => deps.limiters.toCreate(item)),
    );
  await commit(deps, origin, change, [
    ...deps.users.toCheckActor(actor),
    ...toCountKey(deps, actor, organization),
    ...plan.writes,
    ...deps.apiKeys.toCreate(key),
    deps.apiKeys.toKeepSecret(key, { hash }),
    ...(isOfPlatform(actor) ? [deps.apiKeys.toList(key)] : []),
    ...items.slice(0, MAX_CHANGED_AT_ONCE).map((item) => deps.limiters.toCreate(item)),
  ]);
  await markIfLimited(deps, plan);
  return { ...wire, secret };
};
