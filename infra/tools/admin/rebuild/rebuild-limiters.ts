import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { StoredApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import type { ApiKeyStore, KeptSecret } from '../../../../functions/control/api-keys/api-key-store.ts';
import { toConfigureAll, toConfigureWhole } from '../../../../functions/control/api-keys/change-api-key.ts';
import { settingsOf } from '../../../../functions/control/api-keys/key-settings.ts';
import { DEFAULT_CONCURRENCY, OrganizationLimits, toLimits, toUserLimits } from '../../../../functions/control/limits/limits.ts';
import type { Organization } from '../../../../functions/control/organizations/organization.ts';
import { toSetLimiter } from '../../../../functions/control/organizations/organization-limiter.ts';
import {
  isOrganizationLimited,
  type KeyItem,
  mayFallBack,
  newKeyItem,
  payloadLogConfiguration,
  secretConfiguration,
  userLimitsOf,
} from '../../../../shared/admission/item/key-item.ts';
import { type LimiterItem, limitsOf, shardsOf } from '../../../../shared/admission/item/limiter-item.ts';
import { ownerIdOf, shardIds } from '../../../../shared/admission/item/shards.ts';
import type { LimiterConfigurationStore } from '../../../../shared/admission/stores/limiter-configuration-store.ts';
import type { CreditStore } from '../../../../shared/credit/credit-store.ts';
import { applyGrants } from '../../../../shared/credit/grant-credit.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { PayloadLogStore } from '../../../../shared/payload-log/settings-store.ts';
import { changeLimiter, type ExistingItems, missingIds, newOwnerItem, wholeOf } from './existing-items.ts';

export interface LimiterDependencies {
  database: Database;
  limiters: LimiterConfigurationStore;
  apiKeys: ApiKeyStore;
  payloadLogs: PayloadLogStore;
  credit: CreditStore;
  /** ms since the epoch. */
  now: () => number;
}

/** Counts of the limiter items that were wrong. */
export interface LimiterReport {
  /** Items that were missing. */
  created: number;
  /** Keys, projects and organizations whose items had other settings than their rows. */
  configured: number;
  /** Keys whose secret is lost. They work again once they are rotated. */
  to_rotate: string[];
}

export const noLimiterReport = (): LimiterReport => ({ created: 0, configured: 0, to_rotate: [] });

const SHA256_BYTES = 32;
const NO_LIMITS = { ...OrganizationLimits.parse({}), concurrency: DEFAULT_CONCURRENCY };

// The organization's own item says how many there are; if that is lost, the others do.
const findOrganization = async ({ limiters }: LimiterDependencies, organization: string): Promise<ExistingItems<LimiterItem>> => {
  const numbers = [];
  for await (const id of limiters.listByOrganization(organization))
    if (ownerIdOf(id) === organization) numbers.push(Number(id.slice(organization.length + 1)));
  const own = await limiters.get(organization);
  const items = await limiters.getMany(shardIds(organization, Math.max(shardsOf(own), ...numbers.map((shard) => shard + 1))));
  const count = Math.max(...items.map(shardsOf), ...numbers.map((shard) => shard + 1), 1);
  return { items: count > items.length ? await limiters.getMany(shardIds(organization, count)) : items, count };
};

// An organization without the changes that create a limiter needs none yet.
const needsLimiter = async (
  { apiKeys }: LimiterDependencies,
  { id, status, limits, has_default_concurrency }: Organization,
  grants: number,
  keys: readonly ExistingItems<KeyItem>[],
): Promise<boolean> =>
  status === 'suspended' ||
  grants > 0 ||
  !has_default_concurrency ||
  !isDeepStrictEqual({ ...(limits ?? NO_LIMITS), concurrency: DEFAULT_CONCURRENCY }, NO_LIMITS) ||
  (await apiKeys.concurrencyOf(id)) > (limits ?? NO_LIMITS).concurrency ||
  keys.some(({ items }) => items.some(isOrganizationLimited));

const newOrganizationItem = ({ id, status, limits }: Organization, count: number, shard: number, grants: number): LimiterItem => {
  const settings = { status, limits: toLimits(limits ?? NO_LIMITS), organization: id };
  return { ...newOwnerItem(id, settings, count, shard), ...(shard === 0 && grants > 0 && { grants, avail: 0 }) };
};

const secretOf = ({ h: hash, h2, h2_until: untilMs = 0 }: KeyItem, nowMs: number): KeptSecret => ({
  hash,
  ...(h2 && untilMs > nowMs && { previous: { hash: h2, untilMs } }),
});

// If the key's row has no secret, one comes from an item that is left, and the row gets it.
const keepSecret = async ({ database, apiKeys, now }: LimiterDependencies, key: StoredApiKey, items: readonly KeyItem[]) => {
  const kept = await apiKeys.keptSecret(key);
  if (kept) return key.previous_secret_until === null ? { hash: kept.hash } : kept;
  const secret = items[0] && secretOf(items[0], now());
  if (secret) await transact(database, [apiKeys.toKeepSecret(key, secret)]);
  return secret;
};

const newKeyItems = async (
  deps: LimiterDependencies,
  key: StoredApiKey,
  missing: readonly { id: string; shard: number }[],
  { organization, isLimited, secret }: { organization: Organization; isLimited: boolean; secret: KeptSecret | undefined },
): Promise<KeyItem[]> => {
  const { no_content, no_content_version: version } = organization;
  const log = await deps.payloadLogs.get({ organization: organization.id });
  const own = await deps.payloadLogs.get({ organization: organization.id, apiKey: key.id });
  const facts = {
    org: organization.id,
    scope: key.scope,
    hash: secret?.hash ?? randomBytes(SHA256_BYTES),
    isLimited,
    ...(log && { payloadLog: { isOn: log.enabled, version: log.version } }),
    ...(version > 0 && { content: { mayStore: !no_content, version } }),
    ...(key.series !== undefined && { since: key.created_at }),
  };
  const settings = settingsOf(key);
  const previous = secret?.previous && secretConfiguration(secret.hash, secret.previous).set;
  const logged = payloadLogConfiguration(own?.enabled ?? null).set;
  return missing.map(({ id, shard }) => {
    const item = newKeyItem(id, facts, settings[shard] as (typeof settings)[number]);
    return { ...item, ...logged, ...previous } as KeyItem;
  });
};

const haveSettingsOfRow = (key: StoredApiKey, items: readonly KeyItem[], secret: KeptSecret | undefined): boolean => {
  const expiresAtMs = settingsOf(key)[0]?.expiresAtMs ?? undefined;
  return (
    isDeepStrictEqual(limitsOf(wholeOf(items)), toLimits(key)) &&
    items.every(
      (item) =>
        item.status === key.status &&
        item.expires_at === expiresAtMs &&
        (item.no_content === true) === key.no_content &&
        (item.prj ?? null) === key.project_id &&
        mayFallBack(item) !== key.no_fallback &&
        isDeepStrictEqual(userLimitsOf(item) ?? null, toUserLimits(key.per_user)) &&
        isDeepStrictEqual(item.models ?? null, key.models) &&
        (!secret || Buffer.compare(item.h, secret.hash) === 0),
    )
  );
};

/** The limiters of an organization and of its keys. */
export interface OrganizationLimiters {
  isLimited: boolean;
  /** How many items each has. */
  items: ReadonlyMap<string, number>;
  /** Gives all items their settings, with limits divided by what they have counted by then. */
  configure: () => Promise<void>;
}

/**
 * Creates the limiter items of an organization and its keys that are missing, and adds missing credit grants. They
 * have counted nothing yet.
 * @param keys all keys that it ever had
 */
export const rebuildLimiters = async (
  deps: LimiterDependencies,
  organization: Organization,
  keys: readonly StoredApiKey[],
  report: LimiterReport,
): Promise<OrganizationLimiters> => {
  const { database, limiters, credit } = deps;
  const { id } = organization;
  const create = async (items: readonly LimiterItem[]): Promise<void> => {
    for (const item of items) await transact(database, [limiters.toCreate(item)]);
    report.created += items.length;
  };
  const itemsOfKeys = new Map<StoredApiKey, ExistingItems<KeyItem>>();
  for (const key of keys) {
    const items = (await limiters.getMany(shardIds(key.id, key.shards))) as KeyItem[];
    itemsOfKeys.set(key, { items, count: key.shards });
  }
  const own = await findOrganization(deps, id);
  const grants = (await Array.fromAsync(credit.list(id))).length;
  const isLimited = own.items.length > 0 || (await needsLimiter(deps, organization, grants, [...itemsOfKeys.values()]));
  const lost = isLimited ? missingIds(id, own) : [];
  await create(lost.map(({ shard }) => newOrganizationItem(organization, own.count, shard, grants)));
  if (isLimited) await applyGrants({ limiters, credit }, id);

  const changed = new Set<StoredApiKey>();
  const secrets = new Map<StoredApiKey, KeptSecret>();
  for (const [key, { items, count }] of itemsOfKeys) {
    const missing = missingIds(key.id, { items, count });
    const secret = await keepSecret(deps, key, items);
    if (secret) secrets.set(key, secret);
    else report.to_rotate.push(key.id);
    await create(await newKeyItems(deps, key, missing, { organization, isLimited, secret }));
    if (missing.length > 0 || !haveSettingsOfRow(key, items, secret)) changed.add(key);
  }
  const unmarked = isLimited ? [...itemsOfKeys.values()].flatMap(({ items }) => items.filter((item) => !isOrganizationLimited(item))) : [];
  for (const item of unmarked) await limiters.markOrganizationLimited(item.id);

  const isOrganizationChanged = (items: readonly LimiterItem[]): boolean =>
    items.some(({ status }) => status !== organization.status) ||
    (organization.limits !== null && !isDeepStrictEqual(limitsOf(wholeOf(items)), toLimits(organization.limits)));
  const configure = async (): Promise<void> => {
    if (isLimited && (lost.length > 0 || isOrganizationChanged(own.items))) {
      report.configured++;
      const settings = { status: organization.status, limits: toLimits(organization.limits ?? NO_LIMITS) };
      await changeLimiter(deps, id, async (nowMs) => (await toSetLimiter(limiters, id, settings, 'limits', nowMs)).writes);
    }
    for (const key of changed) {
      report.configured++;
      await changeLimiter(deps, key.id, (nowMs) => toConfigureWhole(deps, key, nowMs));
      const { hash, previous } = secrets.get(key) ?? {};
      if (!hash) continue;
      const { writes } = await toConfigureAll(deps, key, secretConfiguration(hash, previous), deps.now());
      await changeLimiter(deps, key.id, async () => writes);
    }
  };
  return { isLimited, items: new Map([[id, own.count], ...keys.map((key) => [key.id, key.shards] as const)]), configure };
};
