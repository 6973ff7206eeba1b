import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { UserPool, UserPoolClient } from '../../assembly/local-app.ts';
import type { User } from './backend.ts';
import { invalidParameter, notAuthorized, userDisabled, wrongPassword } from './errors.ts';
import { findClient, type Rule, type RuleContext, readRequest, toName } from './rule.ts';
import { signTokens } from './signed-tokens.ts';

export type Challenge = 'NEW_PASSWORD_REQUIRED' | 'SOFTWARE_TOKEN_MFA';

/** Creates a challenge after a correct password. */
export type Ask = (challenge: Challenge, pool: UserPool, client: UserPoolClient, user: User) => object;

interface SignInRules {
  ask: Ask;
  customAuth: Rule;
}

const InitiateAuth = z.object({ ClientId: z.string(), AuthFlow: z.string(), AuthParameters: z.record(z.string(), z.string()).default({}) });

// The setting of a client that allows a flow.
const ALLOWED_BY: Readonly<Record<string, string>> = {
  ADMIN_USER_PASSWORD_AUTH: 'ALLOW_ADMIN_USER_PASSWORD_AUTH',
  CUSTOM_AUTH: 'ALLOW_CUSTOM_AUTH',
  REFRESH_TOKEN_AUTH: 'ALLOW_REFRESH_TOKEN_AUTH',
  REFRESH_TOKEN: 'ALLOW_REFRESH_TOKEN_AUTH',
};

const checkFlow = ({ authFlows }: UserPoolClient, flow: string): void => {
  if (!authFlows.includes(ALLOWED_BY[flow] ?? '')) throw invalidParameter(`${flow} flow not enabled for this client`);
};

/** AdminInitiateAuth for passwords, tickets and refresh tokens, with challenges as on AWS. */
export const createInitiateAuth =
  (context: RuleContext, { ask, customAuth }: SignInRules): Rule =>
  async (request) => {
    const { ClientId, AuthFlow, AuthParameters } = readRequest(InitiateAuth, request);
    const { pool, client } = findClient(context, ClientId);
    checkFlow(client, AuthFlow);
    const { USERNAME = '', PASSWORD = '', REFRESH_TOKEN = '' } = AuthParameters;
    if (AuthFlow === 'ADMIN_USER_PASSWORD_AUTH') return signIn(context, ask, { pool, client }, toName(USERNAME), PASSWORD);
    if (AuthFlow === 'CUSTOM_AUTH') return customAuth(request);
    return refresh(context, pool, client, REFRESH_TOKEN);
  };

/** InitiateAuth, which needs no permission. Clients allow it one flow. */
export const createPublicInitiateAuth =
  (context: RuleContext, customAuth: Rule): Rule =>
  async (request) => {
    const { ClientId, AuthFlow } = readRequest(InitiateAuth, request);
    const { client } = findClient(context, ClientId);
    if (AuthFlow !== 'CUSTOM_AUTH') throw invalidParameter(`${AuthFlow} flow not enabled for this client`);
    checkFlow(client, AuthFlow);
    return customAuth(request);
  };

const signIn = async (
  { backend, now, ...context }: RuleContext,
  ask: Ask,
  { pool, client }: ReturnType<typeof findClient>,
  name: string,
  password: string,
): Promise<object> => {
  const user = (await backend.isPassword(pool, name, password)) ? await backend.user(pool, name) : undefined;
  if (!user) throw wrongPassword();
  if (!user.isEnabled) throw userDisabled();
  if (!user.hasTemporaryPassword)
    return user.hasTotp ? ask('SOFTWARE_TOKEN_MFA', pool, client, user) : signedIn(context, pool, client, user);
  if (now() >= user.changedAtMs + pool.passwords.temporaryValiditySeconds * SECOND_MS)
    throw notAuthorized('Temporary password has expired and must be reset by an administrator.');
  return ask('NEW_PASSWORD_REQUIRED', pool, client, user);
};

const refresh = async (
  { backend, refreshTokens, tokenTime }: RuleContext,
  pool: UserPool,
  client: UserPoolClient,
  refreshToken: string,
): Promise<object> => {
  const { subject, originId: id, signedInAt } = refreshTokens.find(client, refreshToken);
  const user = await backend.user(pool, subject);
  if (!user) throw notAuthorized('Invalid Refresh Token');
  if (!user.isEnabled) throw userDisabled();
  return toResult(client, signTokens(pool, client, user, { id, signedInAt }, tokenTime()));
};

const GetTokens = z.object({ ClientId: z.string(), RefreshToken: z.string() });

/** GetTokensFromRefreshToken: of a client with rotation, it also returns the next refresh token. */
export const createGetTokens =
  (context: RuleContext): Rule =>
  async (request) => {
    const { ClientId, RefreshToken } = readRequest(GetTokens, request);
    const { pool, client } = findClient(context, ClientId);
    const result = (await refresh(context, pool, client, RefreshToken)) as { AuthenticationResult: object };
    if (client.rotationGraceSeconds === undefined) return result;
    const next = context.refreshTokens.rotate(client, RefreshToken);
    return { ...result, AuthenticationResult: { ...result.AuthenticationResult, RefreshToken: next } };
  };

const toResult = (client: UserPoolClient, tokens: object): object => ({
  ChallengeParameters: {},
  AuthenticationResult: { ...tokens, ExpiresIn: client.accessTokenSeconds, TokenType: 'Bearer' },
});

/** Starts the session of a user who has completed a sign-in. */
export const signedIn = (
  { refreshTokens, tokenTime }: Pick<RuleContext, 'refreshTokens' | 'tokenTime'>,
  pool: UserPool,
  client: UserPoolClient,
  user: User,
): object => {
  const { token, session } = refreshTokens.start(pool, client, user.subject);
  const tokens = signTokens(pool, client, user, { id: session.originId, signedInAt: session.signedInAt }, tokenTime());
  return toResult(client, { ...tokens, RefreshToken: token });
};
