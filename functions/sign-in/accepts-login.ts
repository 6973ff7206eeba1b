import type { SignIn } from '../../shared/identity/sign-in.ts';
import type { StoredUser } from '../../shared/identity/user-store.ts';
import type { IdentityProviderStore } from '../../shared/single-sign-on/identity-provider-store.ts';
import { passwordUseOf } from '../../shared/single-sign-on/password-use.ts';
import type { FinishedSsoLogin } from '../../shared/single-sign-on/sso-logins.ts';

export interface AcceptsLoginDependencies {
  identityProviders: Pick<IdentityProviderStore, 'find' | 'passwordRule'>;
}

interface AcceptedStep {
  answer: SignIn;
  hasCode: boolean;
  /** Set if it began with single sign-on. */
  ssoLogin: FinishedSsoLogin | undefined;
}

// The user and the connection can have changed since the identity provider has answered.
const acceptsSso = async (
  { identityProviders }: AcceptsLoginDependencies,
  { id, organization }: StoredUser,
  ssoLogin: FinishedSsoLogin,
): Promise<boolean> => {
  if (ssoLogin.user !== id || ssoLogin.organization !== organization) return false;
  return (await identityProviders.find(organization, ssoLogin.provider))?.status === 'active';
};

const acceptsPassword = async (
  { identityProviders }: AcceptsLoginDependencies,
  user: StoredUser,
  { answer, hasCode }: AcceptedStep,
): Promise<boolean> => {
  const use = await passwordUseOf(identityProviders, user);
  if (use === 'with_second_factor') return 'challenge' in answer ? answer.challenge === 'totp' : hasCode;
  return use === 'allowed';
};

/**
 * Decides if a user can log in this way. Only the code of the authenticator app follows a single sign-on, because its
 * users have no password of their own to choose.
 */
export const acceptsLogin = async (deps: AcceptsLoginDependencies, user: StoredUser, step: AcceptedStep): Promise<boolean> =>
  step.ssoLogin ? !('challenge' in step.answer) && (await acceptsSso(deps, user, step.ssoLogin)) : acceptsPassword(deps, user, step);
