import { type Actor, isOfPlatform, organizationFor, seesOnlyOwn } from '../access/actor.ts';
import type { ApiKeyStore } from '../api-keys/api-key-store.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';

export interface ScopeDependencies {
  organizations: Pick<OrganizationStore, 'get' | 'list'>;
  apiKeys: Pick<ApiKeyStore, 'listAll'>;
}

/** The usage that an actor can see. */
export interface UsageScope {
  /** null: all organizations. */
  organization: string | null;
  /** The only keys whose usage they can see; undefined: there is no such restriction. */
  ownKeys: ReadonlySet<string> | undefined;
}

// Bounds a page of an admin's query for all organizations.
const ORGANIZATIONS_PER_PAGE = 20;

// Revoked keys are included.
const keysCreatedBy = async ({ apiKeys }: ScopeDependencies, actor: Actor, organization: string): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>();
  for await (const { id, created_by } of apiKeys.listAll(organization)) if (created_by === actor.userId) ids.add(id);
  return ids;
};

/**
 * Returns the scope of a query: an owner's organization, a member's own keys, or the organization that an admin names
 * or all.
 * @throws 404
 */
export const scopeOf = async (deps: ScopeDependencies, actor: Actor, named: string | undefined): Promise<UsageScope> => {
  if (isOfPlatform(actor)) {
    if (named !== undefined) await deps.organizations.get(named);
    return { organization: named ?? null, ownKeys: undefined };
  }
  const organization = organizationFor(actor, named);
  return { organization, ownKeys: seesOnlyOwn(actor) ? await keysCreatedBy(deps, actor, organization) : undefined };
};

/** Returns the organizations of a page, and the first one of the next page. */
export const organizationsOf = async (
  { organizations }: ScopeDependencies,
  { organization }: UsageScope,
  after: string | undefined,
): Promise<{ ids: string[]; next: string | null }> => {
  if (organization !== null) return { ids: [organization], next: null };
  const { data, next } = await organizations.list({ limit: ORGANIZATIONS_PER_PAGE, after });
  return { ids: data.map(({ id }) => id), next };
};
