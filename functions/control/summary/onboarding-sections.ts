import { shardIds } from '../../../shared/admission/item/shards.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { seesOnlyOwn } from '../access/actor.ts';
import type { StoredApiKey } from '../api-keys/api-key.ts';
import type { OrganizationReads, PlatformReads, SummaryDependencies } from './summary-reads.ts';
import type { OnboardingSection } from './summary-resource.ts';

const MAX_ORGANIZATIONS = 10;
// Each costs up to three reads.
const MAX_LOOKED_AT = 3;
const MAX_USERS = 100;
const MAX_LIMITERS = 100;

// A small organization has no limiter of its own, so the limiters of its keys are read.
const hasUsedKeys = async (deps: SummaryDependencies, keys: readonly StoredApiKey[]): Promise<boolean> => {
  const ids = keys.flatMap(({ id, shards }) => shardIds(id, shards)).slice(0, MAX_LIMITERS);
  return (await deps.limiters.lastUses(ids)).size > 0;
};

/** Reads which steps of a first run the actor, or their organization, has taken. */
export const onboardingSection = async ({ deps, actor, keyCounts, keys, limiter }: OrganizationReads): Promise<OnboardingSection> => {
  const [counts, items] = await Promise.all([keyCounts(), limiter()]);
  const isOwn = seesOnlyOwn(actor);
  const has_key = (isOwn ? counts.everOfUser : counts.ever) > 0;
  if (!isOwn && items.some(({ last_used }) => last_used !== undefined)) return { has_key, has_request: true };
  return { has_key, has_request: await hasUsedKeys(deps, (await keys()).keys) };
};

const hasOwner = async (deps: SummaryDependencies, organization: string): Promise<boolean> =>
  (await deps.users.list(organization, { limit: MAX_USERS })).data.some(({ role }) => role === 'owner');

// Until one has it. There are at most `MAX_LOOKED_AT`.
const someHas = async (ids: readonly string[], has: (organization: string) => Promise<boolean>): Promise<boolean> => {
  for (const id of ids) if (await has(id)) return true;
  return false;
};

/**
 * Reads which steps of a first run the platform has taken. Of the newest organizations, it looks at some, first at
 * those that have had an API key.
 */
export const platformOnboarding = async ({ deps, newest }: PlatformReads): Promise<OnboardingSection> => {
  const [models, { organizations }, invoices] = await Promise.all([
    deps.models.list(SERVERLESS_POOL),
    newest(),
    deps.numbers.last('invoice'),
  ]);
  const ids = organizations.slice(0, MAX_ORGANIZATIONS).map(({ id }) => id);
  const [withKeys, uses] = await Promise.all([deps.apiKeys.haveHadKeys(ids), deps.limiters.lastUses(ids)]);
  const hasRequest = async (organization: string): Promise<boolean> =>
    hasUsedKeys(deps, (await deps.apiKeys.list(organization, { limit: MAX_LIMITERS })).keys);
  const looked = [...ids.filter((id) => withKeys.has(id)), ...ids.filter((id) => !withKeys.has(id))].slice(0, MAX_LOOKED_AT);
  const [has_owner, has_request] = await Promise.all([
    someHas(looked, (id) => hasOwner(deps, id)),
    uses.size > 0 ||
      someHas(
        looked.filter((id) => withKeys.has(id)),
        hasRequest,
      ),
  ]);
  return {
    has_model: models.size > 0,
    has_organization: ids.length > 0,
    has_owner,
    has_key: withKeys.size > 0,
    has_request,
    has_invoice: invoices > 0,
  };
};
