import type { Discovery, IssuerMetadata } from '../../../shared/federation/discovery.ts';
import { IssuerUnavailable } from '../../../shared/federation/errors.ts';
import type { StoredUser, UserStore } from '../../../shared/identity/user-store.ts';
import type { Networks } from '../../../shared/network/networks.ts';
import { urlFault } from '../../../shared/network/url-fault.ts';
import { closesPasswords, type IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';
import { issuerUrlFault } from '../identity/issuer-url-fault.ts';
import { issuerFaultText, NotEnforceable, ProviderUnusable } from './errors.ts';

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

const metadataOf = async (discover: Discovery, issuer: string): Promise<IssuerMetadata> => {
  try {
    return await discover(issuer);
  } catch (error) {
    if (error instanceof IssuerUnavailable) throw new ProviderUnusable(issuerFaultText(error.fault));
    throw error;
  }
};

/** Reads the discovery document of an issuer, and checks that its endpoints can be called. @throws 400 */
export const checkIssuer = async ({ networks, discover }: { networks: Networks; discover: Discovery }, issuer: string): Promise<void> => {
  const fault = issuerUrlFault(networks, issuer);
  if (fault !== undefined) throw new ProviderUnusable(fault);
  const metadata = await metadataOf(discover, issuer);
  for (const name of ENDPOINTS) {
    const url = metadata[name];
    if (url === undefined) throw new ProviderUnusable(`its document lacks '${name}'`);
    const urlOrFault = urlFault(networks, url);
    if (urlOrFault !== undefined) throw new ProviderUnusable(`its '${name}' is not usable, ${urlOrFault}`);
  }
};

interface Enforcement {
  before: IdentityProvider;
  after: IdentityProvider;
}

/**
 * Checks that a connection that closes passwords leaves a way in: a verified domain, and an owner with a second factor
 * who can still use their password.
 * @returns the owner if they are new: replacing their row keeps a concurrent change from taking them away. @throws 409
 */
export const checkEnforcement = async (users: Pick<UserStore, 'get'>, { before, after }: Enforcement): Promise<StoredUser | undefined> => {
  if (!closesPasswords(after)) return undefined;
  if (!after.domains.some(({ verified_at }) => verified_at !== null))
    throw new NotEnforceable('none of its domains is verified. Verify a domain first.', 'domains');
  if (closesPasswords(before) && before.break_glass === after.break_glass) return undefined;
  const owner = after.break_glass === null ? undefined : await users.get(after.break_glass);
  const isOwner =
    owner?.organization === after.organization && owner.role === 'owner' && owner.status === 'active' && owner.kind === undefined;
  if (!isOwner)
    throw new NotEnforceable("its 'break_glass' is not an active owner of the organization. Set it to an active owner.", 'break_glass');
  if (owner.second_factor !== 'on')
    throw new NotEnforceable(
      "the owner in its 'break_glass' has no second factor. Ask them to set one up and log in with it.",
      'break_glass',
    );
  return owner;
};
