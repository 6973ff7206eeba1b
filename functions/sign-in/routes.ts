import { AUTH_PATHS } from '../../shared/identity/auth-paths.ts';
import { createPublicRoute } from '../../shared/identity/public-route.ts';
import { SessionOrChallenge } from '../../shared/identity/session.ts';
import { answerChallenge, type LoginDependencies, logIn } from './log-in.ts';
import { finishReset, type ResetDependencies, startReset } from './reset-password.ts';
import { ChallengeAnswer, ForgotPassword, LoginCredentials, PasswordReset } from './session.ts';

export interface SignInDependencies extends LoginDependencies, ResetDependencies {}

const route = createPublicRoute<SignInDependencies>();
const email = 'ada@example.com';
const password = 'correct-Horse-9-battery';
const done = { status: 204, description: 'Success. The response has no body.' } as const;

/** The routes of the control plane for people who have no session yet. */
export const signInRoutes = [
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.login,
      operationId: 'logIn',
      summary: 'Log in',
      description:
        'Returns a session, or a challenge if the password is temporary or a second factor is on. Every failed login returns the same 401.',
      body: { name: 'Credentials', schema: LoginCredentials, example: { email, password } },
      reply: { status: 200, description: 'A session or a challenge.', json: { name: 'SessionOrChallenge', schema: SessionOrChallenge } },
      errors: [400, 429, 503],
    },
    ({ deps, caller, body }) => logIn(deps, caller, body),
  ),
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.challenge,
      operationId: 'answerChallenge',
      summary: 'Answer a login challenge',
      body: {
        name: 'ChallengeAnswer',
        schema: ChallengeAnswer,
        example: { email, session: 'AYABeC1-y8qooiuysEv0uM4wAqQAHQAB…', new_password: password },
      },
      reply: { status: 200, description: 'A session or a challenge.', json: { name: 'SessionOrChallenge', schema: SessionOrChallenge } },
      errors: [400, 429, 503],
    },
    ({ deps, caller, body }) => answerChallenge(deps, caller, body),
  ),
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.forgot,
      operationId: 'forgotPassword',
      summary: 'Request a password reset code',
      description: 'Emails a code if a user has this address. The response is the same either way.',
      body: { name: 'ForgotPassword', schema: ForgotPassword, example: { email } },
      reply: { status: 202, description: 'If a user has this address, a code is being sent.' },
      errors: [400, 429, 503],
    },
    ({ deps, caller, body }) => startReset(deps, caller, body.email),
  ),
  route(
    {
      method: 'POST',
      path: AUTH_PATHS.reset,
      operationId: 'resetPassword',
      summary: 'Reset a password',
      description: 'Sets a new password with the emailed code and ends all sessions of the user.',
      body: { name: 'PasswordReset', schema: PasswordReset, example: { email, code: '123456', new_password: password } },
      reply: done,
      errors: [400, 429, 503],
    },
    ({ deps, caller, body }) => finishReset(deps, caller, { email: body.email, code: body.code, password: body.new_password }),
  ),
];
