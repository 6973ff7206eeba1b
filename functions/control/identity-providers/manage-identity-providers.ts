import { commit } from '../../../shared/audit/commit.ts';
import { transact, type Write } from '../../../shared/database/transaction.ts';
import { ResourceNotFound, ServiceUnavailable } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { randomBase62 } from '../../../shared/ids/base62.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import type { IdentityProvider, ProviderDomain } from '../../../shared/single-sign-on/identity-provider.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { type Actor, organizationFor } from '../access/actor.ts';
import { checkEnforcement, checkIssuer } from './check-provider.ts';
import type { IdentityProviderDependencies } from './dependencies.ts';
import {
  type IdentityProviderResource,
  type IdentityProviderUpdate,
  type NewIdentityProvider,
  toIdentityProviderResource,
} from './identity-provider-resource.ts';

/** The connection of a request. `organization` is undefined unless an admin names it. */
export interface ProviderPlace {
  id: string;
  organization: string | undefined;
}

type Expected = readonly number[] | undefined;

const TOKEN_CHARACTERS = 32;

// Two writes a link; a transaction takes 100.
const LINKS_AT_ONCE = 40;
// Enough for every user that an organization can have.
const MAX_UNLINK_ROUNDS = 30;

/** Returns a connection of the actor's organization, or of the one that an admin names. @throws 400, 404 */
export const visibleProvider = async (
  { identityProviders }: Pick<IdentityProviderDependencies, 'identityProviders'>,
  actor: Actor,
  { id, organization }: ProviderPlace,
): Promise<IdentityProvider> => {
  const provider = await identityProviders.find(organizationFor(actor, organization), id);
  if (!provider) throw new ResourceNotFound('identity provider', id);
  return provider;
};

// The version of the client secret shows that it changed, and is no secret itself.
const recorded = ({ id: _, organization: __, domains, created_at: ___, ...rest }: IdentityProvider) => ({
  ...rest,
  domains: domains.map(({ domain, verified_at }) => ({ domain, is_verified: verified_at !== null })),
});

/** Writes a change of a connection with its audit entry. */
export const saveProvider = (
  deps: IdentityProviderDependencies,
  actor: Actor,
  { action, before, after }: { action: string; before?: IdentityProvider; after?: IdentityProvider },
  writes: readonly Write[],
  replacedUser?: string,
): Promise<void> => {
  const { id, organization } = (after ?? before) as IdentityProvider;
  const change = {
    action,
    organization,
    target: { type: 'identity_provider', id },
    ...(before && { before: recorded(before) }),
    ...(after && { after: recorded(after) }),
    texts: ['name'],
  };
  // A transaction has one write of a row, and replacing it checks it too.
  const checks = actor.userId === replacedUser ? [] : deps.users.toCheckActor(actor);
  return commit(deps, actor.origin, change, [...checks, ...writes]);
};

const newDomain = (domain: string): ProviderDomain => ({ domain, token: randomBase62(TOKEN_CHARACTERS), verified_at: null });

/**
 * Creates a connection, whose issuer must answer now. Nobody can sign in with it until one of its domains is verified.
 * @throws 400, 403 and 404 for its organization, 409, 412, 503
 */
export const createProvider = async (
  deps: IdentityProviderDependencies,
  actor: Actor,
  { organization: inBody, client_secret, domains, ...body }: NewIdentityProvider,
): Promise<IdentityProviderResource> => {
  const organization = organizationFor(actor, inBody);
  await checkIssuer(deps, body.issuer);
  const { nowMs } = actor.origin;
  const seconds = unixSeconds(nowMs);
  const provider: IdentityProvider = {
    id: newTimedId('identityProvider', nowMs),
    organization,
    ...body,
    client_secret_version: null,
    domains: domains.map(newDomain),
    enforced: false,
    break_glass: null,
    status: 'active',
    created_at: seconds,
    updated_at: seconds,
    version: 1,
  };
  // The row is first, so that there is never a secret without one. A crash in between leaves a public client, which
  // shows that its secret must be set again.
  await saveProvider(deps, actor, { action: 'identity_provider.created', after: provider }, [
    deps.organizations.toCheckActive(organization),
    ...deps.identityProviders.toCreate(provider),
  ]);
  if (client_secret === undefined) return toIdentityProviderResource(provider, deps.controlUrl);
  return updateProvider(deps, actor, { id: provider.id, organization: inBody }, { client_secret }, [provider.version]);
};

const domainsOf = (before: IdentityProvider, domains: readonly string[]): ProviderDomain[] =>
  domains.map((domain) => before.domains.find((entry) => entry.domain === domain) ?? newDomain(domain));

const secretVersionOf = async (deps: IdentityProviderDependencies, before: IdentityProvider, secret: string | null | undefined) => {
  if (secret === undefined) return before.client_secret_version;
  return secret === null ? null : deps.clientSecrets.put(before.id, secret);
};

/** Changes a connection; absent fields keep their values. @throws 400, 404, 409, 412, 503 */
export const updateProvider = async (
  deps: IdentityProviderDependencies,
  actor: Actor,
  place: ProviderPlace,
  { client_secret, domains, ...body }: IdentityProviderUpdate,
  expected?: Expected,
): Promise<IdentityProviderResource> => {
  const before = checkVersion(await visibleProvider(deps, actor, place), expected);
  if (body.client_id !== undefined || client_secret !== undefined) await checkIssuer(deps, before.issuer);
  const changes = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)) as Partial<IdentityProvider>;
  const draft: IdentityProvider = {
    ...before,
    ...changes,
    domains: domains === undefined ? before.domains : domainsOf(before, domains),
    updated_at: unixSeconds(actor.origin.nowMs),
  };
  const owner = await checkEnforcement(deps.users, { before, after: draft });
  const after = { ...draft, client_secret_version: await secretVersionOf(deps, before, client_secret) };
  const released = before.domains.filter(
    ({ domain, verified_at }) => verified_at !== null && !after.domains.some((kept) => kept.domain === domain),
  );
  const writes = [
    // The new version of the row lets a change of the owner that was read before it fail.
    ...(owner ? [deps.users.toReplace(owner, owner)] : []),
    deps.identityProviders.toReplace(after),
    ...released.map(({ domain }) => deps.identityProviders.toReleaseDomain(domain)),
  ];
  await saveProvider(deps, actor, { action: 'identity_provider.updated', before, after }, writes, owner?.id);
  return toIdentityProviderResource({ ...after, version: after.version + 1 }, deps.controlUrl);
};

const unlinkAll = async ({ database, identityLinks }: IdentityProviderDependencies, id: string): Promise<void> => {
  for (let round = 0; round < MAX_UNLINK_ROUNDS; round++) {
    const writes = await identityLinks.toUnlinkProvider(id, LINKS_AT_ONCE);
    if (writes.length === 0) return;
    await transact(database, writes);
  }
  throw new ServiceUnavailable(new Error(`${id} still has identities.`));
};

const clearRows = async (deps: IdentityProviderDependencies, id: string): Promise<void> => {
  await deps.identityProviderEvents.clear(id);
  await deps.scim.clear(id);
  await unlinkAll(deps, id);
};

const disable = async (deps: IdentityProviderDependencies, actor: Actor, before: IdentityProvider): Promise<IdentityProvider> => {
  const after: IdentityProvider = { ...before, status: 'disabled', updated_at: unixSeconds(actor.origin.nowMs) };
  await saveProvider(deps, actor, { action: 'identity_provider.updated', before, after }, [deps.identityProviders.toReplace(after)]);
  return { ...after, version: before.version + 1 };
};

/**
 * Deletes a connection with its client secret, its identities, its events, and the tokens, names and groups of SCIM;
 * its users stay, and can use passwords again. It is disabled first, so that nothing is lost if another change came
 * first, and its row is deleted last, so that repeating the request completes it.
 * @throws 400, 404, 412, 503
 */
export const deleteProvider = async (
  deps: IdentityProviderDependencies,
  actor: Actor,
  place: ProviderPlace,
  expected?: Expected,
): Promise<{ id: string; object: 'identity_provider'; deleted: true }> => {
  const read = checkVersion(await visibleProvider(deps, actor, place), expected);
  const before = read.status === 'active' ? await disable(deps, actor, read) : read;
  // After a crash, nobody could find these rows without their connection. Logins and SCIM requests that had begun can
  // add more until it is deleted.
  await clearRows(deps, before.id);
  await deps.clientSecrets.delete(before.id);
  const held = before.domains.filter(({ verified_at }) => verified_at !== null);
  await saveProvider(deps, actor, { action: 'identity_provider.deleted', before }, [
    ...deps.identityProviders.toDelete(before),
    ...held.map(({ domain }) => deps.identityProviders.toReleaseDomain(domain)),
  ]);
  await clearRows(deps, before.id);
  return { id: before.id, object: 'identity_provider', deleted: true };
};

/** Lists an organization's connections, oldest first. @throws 400, 404 */
export const listProviders = async (
  { identityProviders, controlUrl }: IdentityProviderDependencies,
  actor: Actor,
  organization: string | undefined,
): Promise<{ object: 'list'; data: IdentityProviderResource[]; has_more: false; next: null }> => {
  const listed = await identityProviders.list(organizationFor(actor, organization));
  return { object: 'list', data: listed.map((provider) => toIdentityProviderResource(provider, controlUrl)), has_more: false, next: null };
};
