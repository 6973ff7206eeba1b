import { shardIds } from '../../../shared/admission/item/shards.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { seesOnlyOwn } from '../access/actor.ts';
import type { OrganizationReads, SummaryDependencies } from './summary-reads.ts';
import type { OnboardingSection } from './summary-resource.ts';

const MAX_ORGANIZATIONS = 10;
const MAX_SEARCHED = 3;
const MAX_USERS = 20;
const MAX_LIMITERS = 100;

/** Reads which steps of a first run the actor, or their organization, has taken. */
export const onboardingSection = async ({ deps, actor, keyCounts, keys, limiter }: OrganizationReads): Promise<OnboardingSection> => {
  const [counts, items] = await Promise.all([keyCounts(), limiter()]);
  const isOwn = seesOnlyOwn(actor);
  const has_key = (isOwn ? counts.everOfUser : counts.ever) > 0;
  if (!isOwn && items.some(({ last_used }) => last_used !== undefined)) return { has_key, has_request: true };
  // A small organization has no limiter.
  const { keys: visible } = await keys();
  const ids = visible.flatMap(({ id, shards }) => shardIds(id, shards)).slice(0, MAX_LIMITERS);
  const uses = await deps.limiters.lastUses(ids);
  return { has_key, has_request: uses.size > 0 };
};

// An organization of an earlier release has no count of users.
const hasOwner = async (deps: SummaryDependencies, organizations: readonly string[]): Promise<boolean> => {
  for (const organization of organizations) {
    const { data } = await deps.users.list(organization, { limit: MAX_USERS });
    if (data.some(({ role }) => role === 'owner')) return true;
  }
  return false;
};

/** Reads which steps of a first run the platform has taken, from its newest organizations. */
export const platformOnboarding = async (deps: SummaryDependencies): Promise<OnboardingSection> => {
  const [models, { data }, invoices] = await Promise.all([
    deps.models.list(SERVERLESS_POOL),
    deps.organizations.list({ limit: MAX_ORGANIZATIONS }),
    deps.numbers.last('invoice'),
  ]);
  const ids = data.map(({ id }) => id);
  const [has_owner, ever, uses] = await Promise.all([
    hasOwner(deps, ids.slice(0, MAX_SEARCHED)),
    deps.apiKeys.everOf(ids),
    deps.limiters.lastUses(ids),
  ]);
  return {
    has_model: models.size > 0,
    has_organization: ids.length > 0,
    has_owner,
    has_key: ever > 0,
    has_request: uses.size > 0,
    has_invoice: invoices > 0,
  };
};
