import { beforeEach, describe, expect, test } from '@jest/globals';
import { answerTrigger, type TriggerEvent } from '../../../functions/auth-challenge/answer-trigger.ts';

const NOW = Date.UTC(2026, 10, 26, 12);
const SUBJECT = '6c1f7ab1-5a4a-4d0e-9d8b-0b8b1f7c9f10';

let redeemed: unknown[][];
let isLive: boolean;
beforeEach(() => {
  redeemed = [];
  isLive = true;
});

const answer = async (triggerSource: string, request: object): Promise<object> => {
  const redeem = async (...given: unknown[]) => {
    redeemed.push(given);
    return isLive;
  };
  const event = { triggerSource, userName: SUBJECT, request: { userAttributes: { sub: SUBJECT }, ...request }, response: {} };
  const answered = await answerTrigger({ tickets: { redeem }, now: () => NOW }, event as unknown as TriggerEvent);
  expect(answered).toMatchObject({ triggerSource, userName: SUBJECT, request: event.request });
  return answered.response;
};

const define = (...session: [string, boolean][]) =>
  answer('DefineAuthChallenge_Authentication', {
    session: session.map(([challengeName, challengeResult]) => ({ challengeName, challengeResult })),
  });

describe('defining the next challenge', () => {
  test('asks for a ticket first, also for a user who does not exist', async () => {
    const asked = { challengeName: 'CUSTOM_CHALLENGE', issueTokens: false, failAuthentication: false };
    expect(await define()).toEqual(asked);
    expect(await answer('DefineAuthChallenge_Authentication', { session: [], userNotFound: true, userAttributes: {} })).toEqual(asked);
  });

  test.each<[string, [string, boolean][]]>([
    ['a ticket', [['CUSTOM_CHALLENGE', true]]],
    [
      'a ticket and then a code of the app',
      [
        ['CUSTOM_CHALLENGE', true],
        ['SOFTWARE_TOKEN_MFA', true],
      ],
    ],
  ])('issues tokens after %s', async (_what, steps) => {
    expect(await define(...steps)).toEqual({ issueTokens: true, failAuthentication: false });
  });

  test.each<[string, [string, boolean][]]>([
    ['a wrong ticket', [['CUSTOM_CHALLENGE', false]]],
    ['the start of a password', [['SRP_A', true]]],
    ['a password', [['PASSWORD_VERIFIER', true]]],
    ['a code alone', [['SOFTWARE_TOKEN_MFA', true]]],
    [
      'a second ticket after a wrong one',
      [
        ['CUSTOM_CHALLENGE', false],
        ['CUSTOM_CHALLENGE', true],
      ],
    ],
    [
      'a ticket after a password',
      [
        ['SRP_A', true],
        ['CUSTOM_CHALLENGE', true],
      ],
    ],
    [
      'a ticket and a wrong code',
      [
        ['CUSTOM_CHALLENGE', true],
        ['SOFTWARE_TOKEN_MFA', false],
      ],
    ],
    [
      'two tickets',
      [
        ['CUSTOM_CHALLENGE', true],
        ['CUSTOM_CHALLENGE', true],
      ],
    ],
  ])('refuses the sign-in after %s', async (_what, steps) => {
    expect(await define(...steps)).toEqual({ issueTokens: false, failAuthentication: true });
  });
});

describe('creating a challenge', () => {
  test('tells the caller nothing', async () => {
    const created = await answer('CreateAuthChallenge_Authentication', { session: [], challengeName: 'CUSTOM_CHALLENGE' });
    expect(created).toEqual({ publicChallengeParameters: {}, privateChallengeParameters: {}, challengeMetadata: 'ticket' });
  });
});

describe('verifying an answer', () => {
  const verify = (request: object) => answer('VerifyAuthChallengeResponse_Authentication', request);

  test.each([true, false])('redeems the ticket for the user that Cognito names (%s)', async (isAccepted) => {
    isLive = isAccepted;
    expect(await verify({ challengeAnswer: 'the-ticket' })).toEqual({ answerCorrect: isAccepted });
    expect(redeemed).toEqual([['the-ticket', SUBJECT, NOW]]);
  });

  test.each([
    { challengeAnswer: 'the-ticket', userNotFound: true },
    { challengeAnswer: 'the-ticket', userAttributes: {} },
    { challengeAnswer: undefined },
    { challengeAnswer: { S: 'the-ticket' } },
  ])('accepts nothing without a user and a text (%j)', async (request) => {
    expect(await verify(request)).toEqual({ answerCorrect: false });
    expect(redeemed).toEqual([]);
  });

  test('fails if the ticket cannot be checked, so that the sign-in fails', async () => {
    const event = {
      triggerSource: 'VerifyAuthChallengeResponse_Authentication',
      request: { userAttributes: { sub: SUBJECT }, challengeAnswer: 'the-ticket' },
    } as unknown as TriggerEvent;
    const redeem = () => Promise.reject(new Error('The table is away.'));
    await expect(answerTrigger({ tickets: { redeem }, now: () => NOW }, event)).rejects.toThrow('away');
  });
});
