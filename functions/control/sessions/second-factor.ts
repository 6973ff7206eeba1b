import { InvalidRequest } from '../../../shared/http/errors.ts';
import type { Actor } from '../access/actor.ts';
import type { Caller } from '../access/origin.ts';
import { recordAction, type SessionDependencies } from './log-in.ts';
import { checkPassword, proven } from './passwords.ts';
import type { TotpSecret } from './session.ts';

/** A user who sent a password beside the token. */
interface PasswordHolder {
  actor: Actor;
  caller: Caller;
  password: string;
}

const accountOf = ({ userId, organization }: Actor) => ({ id: userId, organization });

/** The secret for an authenticator app; a first code from the app switches the second factor on. @throws 400 for a wrong password, 429 */
export const startTotp = async (deps: SessionDependencies, holder: PasswordHolder, accessToken: string): Promise<TotpSecret> => {
  await checkPassword(deps, holder);
  const { secret } = await deps.userPool.startTotp(accessToken);
  const name = encodeURIComponent(holder.actor.email);
  return { object: 'totp_secret', secret, url: `otpauth://totp/Sluice:${name}?secret=${secret}&issuer=Sluice` };
};

/** Switches the second factor on. @throws 400, 429 */
export const finishTotp = async (deps: SessionDependencies, actor: Actor, accessToken: string, code: string): Promise<void> => {
  const refusal = new InvalidRequest({ param: 'code', message: 'The code is not right. Send the one that the app shows now.' });
  await proven(deps, actor, { kind: 'totp', prove: () => deps.userPool.finishTotp({ accessToken, code }), refusal });
  await recordAction(deps, actor.origin, accountOf(actor), 'user.totp_enabled');
};

/** Switches the second factor off. @throws 400 for a wrong password, 429 */
export const stopTotp = async (deps: SessionDependencies, holder: PasswordHolder, subject: string): Promise<void> => {
  await checkPassword(deps, holder);
  await deps.userPool.stopTotp(subject);
  await recordAction(deps, holder.actor.origin, accountOf(holder.actor), 'user.totp_disabled');
};
