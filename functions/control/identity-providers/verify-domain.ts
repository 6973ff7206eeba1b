import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import type { IdentityProviderDependencies } from './dependencies.ts';
import { DomainNotVerified } from './errors.ts';
import { type IdentityProviderResource, recordOf, toIdentityProviderResource } from './identity-provider-resource.ts';
import { type ProviderPlace, saveProvider, visibleProvider } from './manage-identity-providers.ts';

/**
 * Verifies a domain of a connection by its TXT record, under exactly its name. From then on, addresses of the domain
 * lead to the connection. Does nothing for a domain that is verified already. @throws 400, 404, 409, 412
 */
export const verifyDomain = async (
  deps: IdentityProviderDependencies,
  actor: Actor,
  place: ProviderPlace,
  domain: string,
): Promise<IdentityProviderResource> => {
  const before = await visibleProvider(deps, actor, place);
  const entry = before.domains.find((each) => each.domain === domain);
  if (!entry) throw new ResourceNotFound('domain', domain, null, 'Add it to the domains of the identity provider first.');
  if (entry.verified_at !== null) return toIdentityProviderResource(before, deps.controlUrl);
  const { name, value } = recordOf(entry);
  const texts = await deps.resolveTxt(name);
  if (!texts?.includes(value)) throw new DomainNotVerified(name, texts !== undefined);
  const seconds = unixSeconds(actor.origin.nowMs);
  const domains = before.domains.map((each) => (each === entry ? { ...entry, verified_at: seconds } : each));
  const after = { ...before, domains, updated_at: seconds };
  await saveProvider(deps, actor, { action: 'identity_provider.domain_verified', before, after }, [
    deps.identityProviders.toReplace(after),
    deps.identityProviders.toHoldDomain(after, domain),
  ]);
  return toIdentityProviderResource({ ...after, version: after.version + 1 }, deps.controlUrl);
};
