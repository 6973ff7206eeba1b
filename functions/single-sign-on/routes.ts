import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { Reply } from '../../shared/http/reply.ts';
import { SSO_PATHS } from '../../shared/identity/auth-paths.ts';
import { createPublicRoute } from '../../shared/identity/public-route.ts';
import { SessionOrChallenge } from '../../shared/identity/session.ts';
import { authorize } from './authorize.ts';
import { BegunSsoLogin, beginLogin, NewSsoLogin } from './begin-login.ts';
import { type BeginSessionDependencies, beginSession, SsoCode } from './begin-session.ts';
import { type CallbackDependencies, callback } from './callback.ts';

export type SingleSignOnDependencies = CallbackDependencies & BeginSessionDependencies;

const route = createPublicRoute<SingleSignOnDependencies>();
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

/** The routes of single sign-on that programs call. */
export const singleSignOnRoutes = [
  route(
    {
      method: 'POST',
      path: SSO_PATHS.begin,
      operationId: 'beginSingleSignOn',
      summary: 'Begin a single sign-on',
      description:
        'Returns the address at which the user signs in with the identity provider of their organization. The response is the same if the domain of the email address has none.',
      body: {
        name: 'NewSsoLogin',
        schema: NewSsoLogin,
        example: { email: 'ada@example.com', code_challenge: challenge, redirect_uri: 'http://127.0.0.1:53682/' },
      },
      reply: { status: 200, description: 'The address to open.', json: { name: 'SsoLogin', schema: BegunSsoLogin } },
      errors: [400, 429, 503],
    },
    ({ deps, caller, body }) => beginLogin(deps, caller, body),
  ),
  route(
    {
      method: 'POST',
      path: SSO_PATHS.session,
      operationId: 'finishSingleSignOn',
      summary: 'Finish a single sign-on',
      description: 'Exchanges the code of a single sign-on for a session, or for the challenge of your authenticator app.',
      body: { name: 'SsoCode', schema: SsoCode, example: { code: challenge, code_verifier: verifier } },
      reply: { status: 200, description: 'A session or a challenge.', json: { name: 'SessionOrChallenge', schema: SessionOrChallenge } },
      errors: [400, 429, 503],
    },
    async ({ deps, caller, body }): Promise<SessionOrChallenge> => {
      const begun = await beginSession(deps, caller, body, { client: 'api' });
      return 'challenge' in begun ? begun.challenge : { ...begun.page, refresh_token: begun.tokens.refreshToken };
    },
  ),
];

/** The pages of single sign-on: a browser loads them, and programs never do. */
export const singleSignOnPages: Readonly<Record<string, (deps: SingleSignOnDependencies, event: ApiEvent) => Promise<Reply>>> = {
  [SSO_PATHS.authorize]: authorize,
  [SSO_PATHS.callback]: callback,
};
