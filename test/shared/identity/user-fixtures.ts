import { expect } from '@jest/globals';
import type { SignIn } from '../../../shared/identity/sign-in.ts';
import { createUserPool, createUserPoolClient, type UserPool } from '../../../shared/identity/user-pool.ts';
import { totpOf } from '../../support/clients/totp.ts';
import { clientIds, pool } from '../../support/emulators/cognito.ts';

export const TEMPORARY = 'Temporary-Password-1';
export const PASSWORD = 'Correct-Horse-7';
export const caller = { ipAddress: '192.0.2.1', serverName: 'control.test', serverPath: '/v1/sessions', userAgent: 'test' };

export const openPool = (endpoint: string): UserPool => {
  const client = createUserPoolClient({ endpoint, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
  return createUserPool(client, { poolId: pool.id, clientIds });
};

export const tokensOf = (result: SignIn | undefined) => {
  if (!result || !('tokens' in result)) throw new Error(`No tokens: ${JSON.stringify(result)}`);
  return result.tokens;
};
export const sessionOf = (result: SignIn | undefined, challenge: 'new_password' | 'totp'): string => {
  if (!result || !('challenge' in result) || result.challenge !== challenge) throw new Error(`No ${challenge}: ${JSON.stringify(result)}`);
  return result.session;
};

/** Signs people in to the pool, which can be opened later. */
export const signInsTo = (users: () => UserPool) => {
  let people = 0;
  const newAddress = (): string => {
    people += 1;
    return `person${people}@example.com`;
  };
  const signIn = (email: string, password = PASSWORD) => users().signIn({ email, password, caller });
  const answer = (email: string, session: string, challenge: 'new_password' | 'totp', text: string) =>
    users().answerChallenge({ email, session, challenge, answer: text, caller });

  /** Creates a user who has chosen a password and signed in. */
  const person = async () => {
    const email = newAddress();
    const { subject } = await users().createUser({ email, temporaryPassword: TEMPORARY });
    const session = sessionOf(await signIn(email, TEMPORARY), 'new_password');
    const tokens = tokensOf(await answer(email, session, 'new_password', PASSWORD));
    expect(tokens.subject).toBe(subject);
    return { email, ...tokens };
  };
  /** The same with an authenticator app set up. */
  const personWithApp = async () => {
    const made = await person();
    const { secret } = await users().startTotp(made.accessToken);
    expect(await users().finishTotp({ accessToken: made.accessToken, code: totpOf(secret) })).toBe(true);
    return { ...made, secret };
  };
  return { newAddress, signIn, answer, person, personWithApp };
};
