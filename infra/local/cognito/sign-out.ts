import * as z from 'zod';
import { userNotFound } from './errors.ts';
import { findPool, type Rule, type RuleContext, readRequest, toName } from './rule.ts';

const Revoke = z.object({ ClientId: z.string(), Token: z.string() });
const SignOut = z.object({ UserPoolId: z.string(), Username: z.string() });

/** RevokeToken: revoking a token twice is not an error. */
export const createRevoke =
  (context: RuleContext): Rule =>
  async (request) => {
    const { ClientId, Token } = readRequest(Revoke, request);
    await context.backend.revoke(findPool(context, ClientId), Token);
    return {};
  };

/** AdminUserGlobalSignOut, which cognito-local lacks: revokes all refresh tokens of the user. */
export const createSignOut =
  (context: RuleContext): Rule =>
  async (request) => {
    const { UserPoolId, Username } = readRequest(SignOut, request);
    const pool = findPool(context, UserPoolId);
    const user = await context.backend.user(pool, toName(Username));
    if (!user) throw userNotFound();
    const tokens = await context.backend.refreshTokensOf(pool, user.subject);
    for (const token of tokens) await context.backend.revoke(pool, token);
    return {};
  };
