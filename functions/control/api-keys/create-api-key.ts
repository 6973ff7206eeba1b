import type { KeyItem } from '../../../shared/admission/key.ts';
import { newSecret } from '../../../shared/admission/secret.ts';
import { shardsForLoad } from '../../../shared/admission/shards.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { type Actor, organizationFor } from '../access/actor.ts';
import { type AuditDependencies, commit } from '../audit/commit.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import { type ApiKeyWithSecret, KeyBudgets, KeyLimits, type NewApiKey, type StoredApiKey } from './api-key.ts';
import { type ApiKeyReads, checkExpiry, checkMayLimit, toWire } from './api-key-rights.ts';
import { configurationsOf, limitFieldsOf, shardsOf } from './key-items.ts';

export interface ApiKeyDependencies extends AuditDependencies, ApiKeyReads {
  organizations: OrganizationStore;
}

const HINT_START = 4;
const HINT_END = 4;

/** How a secret begins and ends: enough to tell two keys apart. */
export const hintOf = (secret: string): string => `${secret.slice(0, HINT_START)}…${secret.slice(-HINT_END)}`;

/** Limits that the organization was given just now: a key that was made without knowing of them is told. */
const noticeLimits = async ({ limiters }: ApiKeyReads, items: readonly KeyItem[]): Promise<void> => {
  const [first] = items;
  if (!first || first.lim_o || !(await limiters.get(first.org))) return;
  for (const { id } of items) await limiters.configure<KeyItem>(id, { lim_o: true });
};

/**
 * Creates an API key with the limiter items that share its limits, all in one transaction. Its secret is stored nowhere: only its SHA-256 is.
 * @throws 403, 404, 409
 */
export const createApiKey = async (deps: ApiKeyDependencies, actor: Actor, body: NewApiKey): Promise<ApiKeyWithSecret> => {
  checkMayLimit(actor, body);
  const { origin } = actor;
  checkExpiry(body.expires_at, origin.nowMs);
  const organization = organizationFor(actor, body.organization);
  const { limits = KeyLimits.parse({}), budgets = KeyBudgets.parse({}) } = body;
  const id = newTimedId('key', origin.nowMs);
  const { secret, hash } = newSecret(body.scope, id);
  const seconds = Math.floor(origin.nowMs / 1_000);
  const key: StoredApiKey = {
    id,
    object: 'api_key',
    organization,
    name: body.name,
    scope: body.scope,
    status: 'active',
    hint: hintOf(secret),
    models: body.models,
    limits,
    budgets,
    expires_at: body.expires_at,
    no_content: body.no_content,
    metadata: body.metadata,
    created_at: seconds,
    created_by: actor.userId,
    updated_at: seconds,
    previous_secret_until: null,
    version: 1,
    shards: shardsOf(limitFieldsOf({ limits, budgets })),
    load_shards: shardsForLoad(limits),
  };
  const isLimited = (await deps.limiters.get(organization)) !== undefined;
  const items = configurationsOf(key).map(
    (configuration) =>
      ({ ...configuration, h: hash, org: organization, scope: key.scope, cfg: 1, fl: {}, ...(isLimited && { lim_o: true }) }) as KeyItem,
  );
  const wire = await toWire(deps.limiters, key);
  const change = { action: 'api_key.created', organization, target: { type: 'api_key', id }, after: wire };
  await commit(deps, origin, change, [
    deps.organizations.toCheckActive(organization),
    ...deps.apiKeys.toCreate(key),
    ...items.map((item) => deps.limiters.toCreate(item)),
  ]);
  await noticeLimits(deps, items);
  return { ...wire, secret };
};
