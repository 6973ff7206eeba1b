import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { UserPool } from '../../assembly/local-app.ts';
import { readAccessToken, readExpiry } from './access-token.ts';
import type { Tokens, User } from './backend.ts';
import { invalidParameter, notAuthorized, userDisabled, wrongPassword } from './errors.ts';
import { findPool, type Rule, type RuleContext, readRequest, toName } from './rule.ts';

export type Challenge = 'NEW_PASSWORD_REQUIRED' | 'SOFTWARE_TOKEN_MFA';

/** Creates a challenge after a correct password; the tokens are withheld until it is completed. */
export type Ask = (challenge: Challenge, pool: UserPool, user: User, tokens: Tokens) => object;

const InitiateAuth = z.object({ ClientId: z.string(), AuthFlow: z.string(), AuthParameters: z.record(z.string(), z.string()).default({}) });

/** AdminInitiateAuth for passwords and refresh tokens, with challenges as on AWS. */
export const createInitiateAuth =
  (context: RuleContext, ask: Ask): Rule =>
  async (request) => {
    const { ClientId, AuthFlow, AuthParameters } = readRequest(InitiateAuth, request);
    const pool = findPool(context, ClientId);
    const { USERNAME = '', PASSWORD = '', REFRESH_TOKEN = '' } = AuthParameters;
    if (AuthFlow === 'ADMIN_USER_PASSWORD_AUTH') return signIn(context, ask, pool, toName(USERNAME), PASSWORD);
    if (AuthFlow === 'REFRESH_TOKEN_AUTH' || AuthFlow === 'REFRESH_TOKEN') return refresh(context, pool, REFRESH_TOKEN);
    throw invalidParameter(`${AuthFlow} flow not enabled for this client`);
  };

const signIn = async ({ backend, now }: RuleContext, ask: Ask, pool: UserPool, name: string, password: string): Promise<object> => {
  const tokens = await backend.signIn(pool, name, password);
  const user = tokens && (await backend.user(pool, name));
  if (!tokens || !user) throw wrongPassword();
  if (!user.isEnabled) {
    await backend.revoke(pool, tokens.RefreshToken);
    throw userDisabled();
  }
  if (!user.hasTemporaryPassword) return user.hasTotp ? ask('SOFTWARE_TOKEN_MFA', pool, user, tokens) : signedIn(pool, tokens);
  if (now() >= user.changedAtMs + pool.passwords.temporaryValiditySeconds * SECOND_MS)
    throw notAuthorized('Temporary password has expired and must be reset by an administrator.');
  return ask('NEW_PASSWORD_REQUIRED', pool, user, tokens);
};

const refresh = async ({ backend, now }: RuleContext, pool: UserPool, refreshToken: string): Promise<object> => {
  if (readExpiry(refreshToken) <= now()) throw notAuthorized('Refresh Token has expired');
  const tokens = await backend.refresh(pool, refreshToken);
  if (!tokens) throw notAuthorized('Invalid Refresh Token');
  const user = await backend.user(pool, readAccessToken(tokens.AccessToken, now).subject);
  if (!user?.isEnabled) throw userDisabled();
  return signedIn(pool, { AccessToken: tokens.AccessToken, IdToken: tokens.IdToken });
};

/** Builds the response to a completed sign-in. */
export const signedIn = (pool: UserPool, tokens: Partial<Tokens>): object => ({
  ChallengeParameters: {},
  AuthenticationResult: { ...tokens, ExpiresIn: pool.client.accessTokenSeconds, TokenType: 'Bearer' },
});
