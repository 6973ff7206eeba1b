import type { CreateAuthChallengeTriggerEvent, DefineAuthChallengeTriggerEvent, VerifyAuthChallengeResponseTriggerEvent } from 'aws-lambda';
import type { SignInTickets } from '../../shared/identity/sign-in-tickets.ts';

/** Cognito's three events of a sign-in without a password. */
export type TriggerEvent = CreateAuthChallengeTriggerEvent | DefineAuthChallengeTriggerEvent | VerifyAuthChallengeResponseTriggerEvent;

export interface TriggerDependencies {
  tickets: Pick<SignInTickets, 'redeem'>;
  now: () => number;
}

// The SDK's type lacks codes of apps.
type Steps = readonly { challengeName: string; challengeResult: boolean }[];
type Decision = DefineAuthChallengeTriggerEvent['response'];

const ASK: Decision = { challengeName: 'CUSTOM_CHALLENGE', issueTokens: false, failAuthentication: false };
const ACCEPT: Decision = { issueTokens: true, failAuthentication: false };
const REFUSE: Decision = { issueTokens: false, failAuthentication: true };

// Anyone can start this sign-in with the id of a client, so the ticket comes first and has one attempt. Only a code of
// an authenticator app can follow it.
const decide = ([ticket, ...others]: Steps): Decision => {
  if (!ticket) return ASK;
  const isProved = ticket.challengeName === 'CUSTOM_CHALLENGE' && ticket.challengeResult === true;
  const areCodes = others.every(({ challengeName, challengeResult }) => challengeName === 'SOFTWARE_TOKEN_MFA' && challengeResult === true);
  return isProved && areCodes ? ACCEPT : REFUSE;
};

/**
 * Answers Cognito's question about a sign-in: which challenge comes next, what it shows (nothing), and whether the
 * answer is correct. Only a ticket of that user is. A user who doesn't exist is challenged like any other.
 * @throws if the ticket cannot be checked
 */
export const answerTrigger = async ({ tickets, now }: TriggerDependencies, event: TriggerEvent): Promise<TriggerEvent> => {
  switch (event.triggerSource) {
    case 'DefineAuthChallenge_Authentication':
      return { ...event, response: decide(event.request.session) };
    case 'CreateAuthChallenge_Authentication':
      return { ...event, response: { publicChallengeParameters: {}, privateChallengeParameters: {}, challengeMetadata: 'ticket' } };
    case 'VerifyAuthChallengeResponse_Authentication': {
      const { userAttributes, challengeAnswer, userNotFound = false } = event.request;
      const subject = userAttributes?.sub;
      const canBeChecked = !userNotFound && subject !== undefined && typeof challengeAnswer === 'string';
      return { ...event, response: { answerCorrect: canBeChecked && (await tickets.redeem(challengeAnswer, subject, now())) } };
    }
  }
};
