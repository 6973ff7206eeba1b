import * as z from 'zod';
import { userNotFound } from './errors.ts';
import { findClient, findPool, type Rule, type RuleContext, readRequest, toName } from './rule.ts';

const Revoke = z.object({ ClientId: z.string(), Token: z.string() });
const SignOut = z.object({ UserPoolId: z.string(), Username: z.string() });

/** RevokeToken: revoking a token twice is not an error. */
export const createRevoke =
  (context: RuleContext): Rule =>
  async (request) => {
    const { ClientId, Token } = readRequest(Revoke, request);
    context.refreshTokens.revoke(findClient(context, ClientId).client, Token);
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
    context.refreshTokens.revokeAll(pool.id, user.subject);
    return {};
  };
