import { Forbidden, InvalidRequest } from '../../../shared/http/errors.ts';
import type { Caller } from '../../../shared/identity/request-origin.ts';
import { useOf } from '../../../shared/identity/session-store.ts';
import { recordAction, type SessionDependencies } from '../../../shared/identity/sessions.ts';
import type { SignIn } from '../../../shared/identity/sign-in.ts';
import type { StoredUser } from '../../../shared/identity/user-store.ts';
import type { IdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import { passwordUseOf } from '../../../shared/single-sign-on/password-use.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import { requireNotBreakGlass } from '../users/break-glass.ts';
import { switchOffSecondFactor } from '../users/switch-off-second-factor.ts';
import type { SignedInUser } from './authenticate.ts';
import { checkIdentity, wrongPassword } from './passwords.ts';
import { foreignSession } from './refresh-session.ts';
import type { IdentityProof, TotpSecret } from './session.ts';

interface PasswordRule {
  identityProviders: Pick<IdentityProviderStore, 'passwordRule'>;
}

interface Holder {
  actor: Actor;
  caller: Caller;
  proof: IdentityProof;
}

const accountOf = ({ userId, organization }: Actor) => ({ id: userId, organization });

const wrongCode = (): InvalidRequest =>
  new InvalidRequest({ param: 'code', message: 'Incorrect code. Enter the code your authenticator app shows now.' });
const missingCode = (): InvalidRequest =>
  new InvalidRequest({ param: 'code', message: "Your second factor is on. Send the code your authenticator app shows now in 'code'." });

// Requires the password and the second factor: a stolen access token, with or without the password, must not allow a
// change that outlives it.
const checkFactors = async (deps: SessionDependencies, { actor, caller, proof }: Holder): Promise<{ withCode: boolean }> => {
  const { userPool } = deps;
  const { current_password: password, code } = proof;
  const signIn = () => userPool.signIn({ email: actor.email, password, caller });
  let withCode = false;
  let answer: SignIn = await checkIdentity(deps, actor, { kind: 'password', run: signIn, error: wrongPassword() });
  if ('challenge' in answer && answer.challenge === 'totp') {
    if (code === undefined) throw missingCode();
    const given = { email: actor.email, session: answer.session, challenge: 'totp', answer: code, caller } as const;
    answer = await checkIdentity(deps, actor, { kind: 'totp', run: () => userPool.answerChallenge(given), error: wrongCode() });
    withCode = true;
  }
  if (!('tokens' in answer)) throw wrongPassword();
  await userPool.revoke(answer.tokens.refreshToken);
  return { withCode };
};

/**
 * Records that the user has proved who they are, so that the session can change money and rights.
 * @throws 400 for a wrong password or code, 403 if the user must sign in with their company, 429
 */
export const proveIdentity = async (
  deps: SessionDependencies & PasswordRule,
  { caller, body, actor, user, session, sessionId, authenticatedAt }: SignedInUser & { caller: Caller; body: IdentityProof },
): Promise<void> => {
  if (session?.proof.startsWith('sso:') || (await passwordUseOf(deps.identityProviders, user)) === 'refused')
    throw new Forbidden({
      code: 'fresh_login_required',
      message: "Your password doesn't count here. Sign in with your organization's identity provider to prove who you are.",
    });
  const { withCode } = await checkFactors(deps, { actor, caller, proof: body });
  const now = unixSeconds(caller.receivedAtMs);
  if (sessionId !== undefined) {
    if (!session) await deps.sessions.adopt(user.id, foreignSession(sessionId, authenticatedAt, useOf(caller, now)));
    await deps.sessions.prove(user.id, sessionId, { at: now, withCode });
  }
  await recordAction(deps, actor.origin, accountOf(actor), 'session.proved');
};

/**
 * Returns a secret for an authenticator app. A first code from it switches the second factor on, or replaces the app
 * of one that is on.
 * @throws 400 for a wrong password or code, 429
 */
export const startTotp = async (deps: SessionDependencies, holder: Holder, accessToken: string): Promise<TotpSecret> => {
  await checkFactors(deps, holder);
  const { secret } = await deps.userPool.startTotp(accessToken);
  const name = encodeURIComponent(holder.actor.email);
  return { object: 'totp_secret', secret, url: `otpauth://totp/Sluice:${name}?secret=${secret}&issuer=Sluice` };
};

/** Switches the second factor on. @throws 400, 429 */
export const finishTotp = async (
  deps: SessionDependencies,
  { actor, user, accessToken }: Pick<SignedInUser, 'actor' | 'user' | 'accessToken'>,
  code: string,
): Promise<void> => {
  await checkIdentity(deps, actor, { kind: 'totp', run: () => deps.userPool.finishTotp({ accessToken, code }), error: wrongCode() });
  await deps.users.noteSecondFactor(user, true);
  await recordAction(deps, actor.origin, accountOf(actor), 'user.totp_enabled');
};

/** Switches the second factor off. @throws 400 for a wrong password or code, 409 for the break-glass owner, 429 */
export const stopTotp = async (deps: SessionDependencies & PasswordRule, holder: Holder, user: StoredUser): Promise<void> => {
  // First, so that nobody spends a code on it.
  await requireNotBreakGlass(deps.identityProviders, user);
  await checkFactors(deps, holder);
  await switchOffSecondFactor(deps, holder.actor, user, 'user.totp_disabled');
};
