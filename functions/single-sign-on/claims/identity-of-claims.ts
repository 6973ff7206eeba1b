import type { IdentityClaims } from '../../../shared/federation/claim-fault.ts';
import { isEntra } from '../../../shared/federation/entra.ts';
import { Email } from '../../../shared/identity/user.ts';
import type { IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';
import { LoginFailed } from '../login-fault.ts';

const MAX_ID_CHARACTERS = 64;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/**
 * The subject of an ID token. Entra's `sub` differs between applications, so there it is the tenant and the object.
 * @throws LoginFailed
 */
export const subjectOf = (issuer: string, { sub, tid, oid }: IdentityClaims): string => {
  if (!isEntra(issuer)) return sub;
  const [tenant, object] = [textOf(tid), textOf(oid)];
  if (tenant === undefined || object === undefined || tenant.length > MAX_ID_CHARACTERS || object.length > MAX_ID_CHARACTERS)
    throw new LoginFailed('subject_missing');
  return `${tenant}:${object}`;
};

// Some providers send a text.
const isVerified = (value: unknown): boolean => value === true || value === 'true';

/**
 * Returns the address of an ID token in lower case, if it may decide who somebody is: it is in a domain that this
 * connection has verified, and the provider has verified it or manages all addresses of its domains.
 * @throws LoginFailed
 */
export const trustedEmailOf = (
  provider: Pick<IdentityProvider, 'domains' | 'addresses_are_managed'>,
  { email, email_verified, preferred_username, upn }: IdentityClaims,
): string => {
  const { addresses_are_managed: isManaged } = provider;
  const named = textOf(email) ?? (isManaged ? (textOf(preferred_username) ?? textOf(upn)) : undefined);
  const parsed = Email.safeParse(named);
  if (!parsed.success) throw new LoginFailed('email_missing');
  const [, domain = ''] = parsed.data.split('@');
  const isVerifiedDomain = provider.domains.some((each) => each.domain === domain && each.verified_at !== null);
  if (!isVerifiedDomain) throw new LoginFailed('domain_not_verified');
  if (!isManaged && !isVerified(email_verified)) throw new LoginFailed('email_not_verified');
  // A provider that says that it has not verified an address does not manage it.
  if (textOf(email) !== undefined && email_verified !== undefined && !isVerified(email_verified))
    throw new LoginFailed('email_not_verified');
  return parsed.data;
};

// RFC 8176. A password, a PIN or a single message is not among them.
const SECOND_FACTORS = new Set(['mfa', 'mca', 'otp', 'hwk', 'swk', 'sc', 'fpt', 'face', 'iris']);

// Some providers send a number.
const acrOf = ({ acr }: IdentityClaims): string | undefined => (typeof acr === 'number' ? String(acr) : textOf(acr));

type Required = Pick<IdentityProvider, 'required_acr'>;

const hasRequiredAcr = ({ required_acr }: Required, claims: IdentityClaims): boolean => {
  const acr = acrOf(claims);
  return acr !== undefined && required_acr.includes(acr);
};

/** Rejects an ID token without an `acr` that the connection requires. @throws LoginFailed */
export const requireAcr = (provider: Required, claims: IdentityClaims): void => {
  if (provider.required_acr.length > 0 && !hasRequiredAcr(provider, claims)) throw new LoginFailed('acr_missing', acrOf(claims) ?? null);
};

/** True if the user proved more than a password to their identity provider. */
export const usedSecondFactor = (provider: Required, claims: IdentityClaims): boolean =>
  hasRequiredAcr(provider, claims) ||
  (Array.isArray(claims.amr) && claims.amr.some((method) => typeof method === 'string' && SECOND_FACTORS.has(method)));
