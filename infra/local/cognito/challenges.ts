import * as z from 'zod';
import type { UserPool } from '../../assembly/local-app.ts';
import { AwsError } from '../http/json-api.ts';
import type { Tokens, User } from './backend.ts';
import { isAwsError, notAuthorized, userDisabled } from './errors.ts';
import { checkPassword } from './passwords.ts';
import { findPool, type Rule, type RuleContext, readRequest, toName } from './rule.ts';
import { createSessions } from './sessions.ts';
import { type Ask, type Challenge, signedIn } from './sign-in.ts';

// After this many the user must sign in again.
const MAX_WRONG_CODES = 5;

interface PendingChallenge {
  challenge: Challenge;
  poolId: string;
  subject: string;
  /** From the sign-in with the password; withheld until the challenge is completed. */
  tokens: Tokens;
  wrongCodes: number;
}

const Respond = z.object({
  ClientId: z.string(),
  ChallengeName: z.string(),
  Session: z.string().default(''),
  ChallengeResponses: z
    .object({ USERNAME: z.string().default(''), NEW_PASSWORD: z.string().default(''), SOFTWARE_TOKEN_MFA_CODE: z.string().default('') })
    .prefault({}),
});

const invalidSession = (): AwsError => notAuthorized('Invalid session for the user.');

/**
 * Challenges after a correct password, and AdminRespondToAuthChallenge. A session is valid for one user and one
 * challenge, once.
 */
export const createChallenges = (context: RuleContext): { ask: Ask; respond: Rule } => {
  const { backend } = context;
  const sessions = createSessions<PendingChallenge>(context.now);

  const ask: Ask = (challenge, { id }, { subject, email }, tokens) => ({
    ChallengeName: challenge,
    Session: sessions.open({ challenge, poolId: id, subject, tokens, wrongCodes: 0 }),
    ChallengeParameters: {
      USER_ID_FOR_SRP: subject,
      ...(challenge === 'NEW_PASSWORD_REQUIRED' && { requiredAttributes: '[]', userAttributes: JSON.stringify({ email }) }),
    },
  });

  const verifyCode = async (pool: UserPool, user: User, session: string, pending: PendingChallenge, code: string): Promise<void> => {
    try {
      await backend.call('RespondToAuthChallenge', {
        ClientId: pool.client.id,
        ChallengeName: 'SOFTWARE_TOKEN_MFA',
        Session: session,
        ChallengeResponses: { USERNAME: user.subject, SOFTWARE_TOKEN_MFA_CODE: code },
      });
    } catch (error) {
      if (!isAwsError(error, 'CodeMismatchException')) throw error;
      pending.wrongCodes += 1;
      if (pending.wrongCodes >= MAX_WRONG_CODES) sessions.close(session);
      throw new AwsError('CodeMismatchException', 'Invalid code received for user');
    }
  };

  const respond: Rule = async (request) => {
    const { ClientId, ChallengeName, Session, ChallengeResponses } = readRequest(Respond, request);
    const pool = findPool(context, ClientId);
    const pending = sessions.find(Session);
    const user = await backend.user(pool, toName(ChallengeResponses.USERNAME));
    if (!pending || !user || pending.poolId !== pool.id || pending.subject !== user.subject || pending.challenge !== ChallengeName)
      throw invalidSession();
    if (!user.isEnabled) throw userDisabled();
    if (pending.challenge === 'NEW_PASSWORD_REQUIRED') {
      checkPassword(ChallengeResponses.NEW_PASSWORD, pool.passwords);
      await backend.setPassword(pool, user.subject, ChallengeResponses.NEW_PASSWORD, true);
    } else await verifyCode(pool, user, Session, pending, ChallengeResponses.SOFTWARE_TOKEN_MFA_CODE);
    sessions.close(Session);
    if (pending.challenge === 'NEW_PASSWORD_REQUIRED' && user.hasTotp) return ask('SOFTWARE_TOKEN_MFA', pool, user, pending.tokens);
    // The withheld tokens are as old as the challenge.
    const tokens = await backend.refresh(pool, pending.tokens.RefreshToken);
    if (!tokens) throw invalidSession();
    return signedIn(pool, tokens);
  };

  return { ask, respond };
};
