import * as z from 'zod';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { AUTH_PATHS } from '../../shared/identity/auth-paths.ts';
import { type BrowserResult, createBrowserRoute } from '../../shared/identity/browser-route.ts';
import { browserLifetime, StaySignedIn, toBrowserResult } from '../../shared/identity/browser-session.ts';
import { LoginChallenge, PageSession } from '../../shared/identity/session.ts';
import { checkAnswer, checkPassword, type LoginClient, type LoginDependencies, toSession } from './log-in.ts';
import { ChallengeAnswer, LoginCredentials } from './session.ts';

const route = createBrowserRoute<LoginDependencies>();
const email = 'ada@example.com';
const password = 'correct-Horse-9-battery';

const loginOf = (stay_signed_in: boolean): LoginClient => ({ client: 'browser', lifetime: browserLifetime(stay_signed_in) });

const resultOf = (event: ApiEvent, result: Awaited<ReturnType<typeof checkPassword>>, staysSignedIn: boolean): BrowserResult => {
  if (!('tokens' in result)) return { body: result };
  return toBrowserResult(event, result.tokens, { body: toSession(result), staysSignedIn });
};

const BrowserSessionOrChallenge = z.union([PageSession, LoginChallenge]);
const reply = {
  status: 200,
  description: 'A session, whose refresh token is in the cookie, or a challenge.',
  json: { name: 'BrowserSessionOrChallenge', schema: BrowserSessionOrChallenge },
} as const;

/** The routes with which pages of the control plane's host log in. */
export const browserSignInRoutes = [
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.browserLogin,
      operationId: 'logInBrowser',
      summary: 'Log in on a page of this host',
      description:
        'As the login for programs, but the refresh token is in a cookie that scripts cannot read. Only pages of this host can call it.',
      body: {
        name: 'BrowserCredentials',
        schema: LoginCredentials.extend({ stay_signed_in: StaySignedIn }),
        example: { email, password, stay_signed_in: false },
      },
      reply,
      errors: [400, 403, 429, 503],
    },
    async ({ deps, caller, event, body: { stay_signed_in, ...credentials } }) =>
      resultOf(event, await checkPassword(deps, caller, credentials, loginOf(stay_signed_in)), stay_signed_in),
  ),
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.browserChallenge,
      operationId: 'answerBrowserChallenge',
      summary: 'Answer a login challenge on a page of this host',
      body: {
        name: 'BrowserChallengeAnswer',
        schema: ChallengeAnswer.safeExtend({ stay_signed_in: StaySignedIn }),
        example: { email, session: 'AYABeC1-y8qooiuysEv0uM4wAqQAHQAB…', code: '123456', stay_signed_in: false },
      },
      reply,
      errors: [400, 403, 429, 503],
    },
    async ({ deps, caller, event, body: { stay_signed_in, ...answer } }) =>
      resultOf(event, await checkAnswer(deps, caller, answer, loginOf(stay_signed_in)), stay_signed_in),
  ),
];
