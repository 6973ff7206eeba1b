import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import type { IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';
import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { type Actor, type ActorChecks, organizationFor } from '../access/actor.ts';
import { newScimToken, type ScimToken } from './token.ts';
import type { ScimTokenStore } from './token-store.ts';

export interface ScimTokenDependencies extends AuditDependencies {
  identityProviders: Pick<IdentityProviderStore, 'find'>;
  scimTokens: ScimTokenStore;
  users: ActorChecks;
}

/** The connection of a request. `organization` is undefined unless an admin names it. */
export interface ConnectionPlace {
  id: string;
  organization: string | undefined;
}

const visibleConnection = async (
  { identityProviders }: ScimTokenDependencies,
  actor: Actor,
  { id, organization }: ConnectionPlace,
): Promise<IdentityProvider> => {
  const provider = await identityProviders.find(organizationFor(actor, organization), id);
  if (!provider) throw new ResourceNotFound('identity provider', id);
  return provider;
};

const changeOf = (action: string, { organization }: IdentityProvider, { id, identity_provider }: ScimToken) => ({
  action,
  organization,
  target: { type: 'scim_token', id },
  after: { identity_provider },
});

/** Creates a SCIM token. @throws 400, 404; 409 if the connection has two */
export const createScimToken = async (
  deps: ScimTokenDependencies,
  actor: Actor,
  place: ConnectionPlace,
): Promise<ScimToken & { token: string }> => {
  const provider = await visibleConnection(deps, actor, place);
  const id = newTimedId('scimToken', actor.origin.nowMs);
  const { token, hash, hint } = newScimToken(provider.id, id);
  const created: ScimToken = {
    id,
    object: 'scim_token',
    identity_provider: provider.id,
    hint,
    created_at: unixSeconds(actor.origin.nowMs),
    last_used_at: null,
    last_ip_address: null,
  };
  const writes = [...deps.users.toCheckActor(actor), ...deps.scimTokens.toCreate(created, provider.organization, hash)];
  await commit(deps, actor.origin, changeOf('scim_token.created', provider, created), writes);
  return { ...created, token };
};

/** Lists the SCIM tokens of a connection: at most two. @throws 400, 404 */
export const listScimTokens = async (deps: ScimTokenDependencies, actor: Actor, place: ConnectionPlace) => {
  const { id } = await visibleConnection(deps, actor, place);
  return { object: 'list', data: await deps.scimTokens.list(id), has_more: false, next: null };
};

/** Deletes a SCIM token, which from then on opens nothing. @throws 400, 404, 412 */
export const deleteScimToken = async (
  deps: ScimTokenDependencies,
  actor: Actor,
  { token: id, ...place }: ConnectionPlace & { token: string },
): Promise<void> => {
  const provider = await visibleConnection(deps, actor, place);
  const token = (await deps.scimTokens.list(provider.id)).find((each) => each.id === id);
  if (!token) throw new ResourceNotFound('SCIM token', id);
  const writes = [...deps.users.toCheckActor(actor), ...deps.scimTokens.toDelete(token)];
  await commit(deps, actor.origin, changeOf('scim_token.deleted', provider, token), writes);
};
