import * as z from 'zod';
import type { UserPoolClient } from '../../assembly/local-app.ts';
import { AwsError } from '../http/json-api.ts';
import type { User } from './backend.ts';
import { isAwsError, notAuthorized, userDisabled } from './errors.ts';
import { checkPassword } from './passwords.ts';
import { findClient, type Rule, type RuleContext, readRequest, toName } from './rule.ts';
import { createSessions } from './sessions.ts';
import { type Ask, type Challenge, signedIn } from './sign-in.ts';

// After this many the user must sign in again.
const MAX_WRONG_CODES = 5;

interface PendingChallenge {
  challenge: Challenge;
  clientId: string;
  subject: string;
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

  const ask: Ask = (challenge, _pool, { id }, { subject, email }) => ({
    ChallengeName: challenge,
    Session: sessions.open({ challenge, clientId: id, subject, wrongCodes: 0 }),
    ChallengeParameters: {
      USER_ID_FOR_SRP: subject,
      ...(challenge === 'NEW_PASSWORD_REQUIRED' && { requiredAttributes: '[]', userAttributes: JSON.stringify({ email }) }),
    },
  });

  const verifyCode = async (
    client: UserPoolClient,
    user: User,
    session: string,
    pending: PendingChallenge,
    code: string,
  ): Promise<void> => {
    try {
      await backend.call('RespondToAuthChallenge', {
        ClientId: client.id,
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
    const { pool, client } = findClient(context, ClientId);
    const pending = sessions.find(Session);
    const user = await backend.user(pool, toName(ChallengeResponses.USERNAME));
    if (!pending || !user || pending.clientId !== client.id || pending.subject !== user.subject || pending.challenge !== ChallengeName)
      throw invalidSession();
    if (!user.isEnabled) throw userDisabled();
    if (pending.challenge === 'NEW_PASSWORD_REQUIRED') {
      checkPassword(ChallengeResponses.NEW_PASSWORD, pool.passwords);
      await backend.setPassword(pool, user.subject, ChallengeResponses.NEW_PASSWORD, true);
    } else await verifyCode(client, user, Session, pending, ChallengeResponses.SOFTWARE_TOKEN_MFA_CODE);
    sessions.close(Session);
    if (pending.challenge === 'NEW_PASSWORD_REQUIRED' && user.hasTotp) return ask('SOFTWARE_TOKEN_MFA', pool, client, user);
    return signedIn(context, pool, client, user);
  };

  return { ask, respond };
};
