import { InvalidRequest } from '../../../shared/http/errors.ts';
import type { Actor } from '../access/actor.ts';
import type { Caller } from '../access/origin.ts';
import { recordAction, type SessionDependencies } from './log-in.ts';
import { checkIdentity, checkPassword } from './passwords.ts';
import type { TotpSecret } from './session.ts';

/** A user who sent their password with the request. */
interface PasswordHolder {
  actor: Actor;
  caller: Caller;
  password: string;
}

const accountOf = ({ userId, organization }: Actor) => ({ id: userId, organization });

/** Returns a secret for an authenticator app. A first code from it switches the second factor on. @throws 400 for a wrong password, 429 */
export const startTotp = async (deps: SessionDependencies, holder: PasswordHolder, accessToken: string): Promise<TotpSecret> => {
  await checkPassword(deps, holder);
  const { secret } = await deps.userPool.startTotp(accessToken);
  const name = encodeURIComponent(holder.actor.email);
  return { object: 'totp_secret', secret, url: `otpauth://totp/Sluice:${name}?secret=${secret}&issuer=Sluice` };
};

/** Switches the second factor on. @throws 400, 429 */
export const finishTotp = async (deps: SessionDependencies, actor: Actor, accessToken: string, code: string): Promise<void> => {
  const error = new InvalidRequest({ param: 'code', message: 'Incorrect code. Enter the code your authenticator app shows now.' });
  await checkIdentity(deps, actor, { kind: 'totp', run: () => deps.userPool.finishTotp({ accessToken, code }), error });
  await recordAction(deps, actor.origin, accountOf(actor), 'user.totp_enabled');
};

/** Switches the second factor off. @throws 400 for a wrong password, 429 */
export const stopTotp = async (deps: SessionDependencies, holder: PasswordHolder, subject: string): Promise<void> => {
  await checkPassword(deps, holder);
  await deps.userPool.stopTotp(subject);
  await recordAction(deps, holder.actor.origin, accountOf(holder.actor), 'user.totp_disabled');
};
