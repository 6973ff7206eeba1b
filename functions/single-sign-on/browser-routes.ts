import * as z from 'zod';
import { SSO_PATHS } from '../../shared/identity/auth-paths.ts';
import { createBrowserRoute } from '../../shared/identity/browser-route.ts';
import { browserLifetime, StaySignedIn, toBrowserResult } from '../../shared/identity/browser-session.ts';
import { LoginChallenge, PageSession } from '../../shared/identity/session.ts';
import { type BeginSessionDependencies, beginSession, SsoCode } from './begin-session.ts';

const route = createBrowserRoute<BeginSessionDependencies>();

const returned = {
  return_to: z.string().nullable().meta({
    description: 'The page of the console to show now, as the login was begun with it. null: it was begun without one.',
  }),
};
const BrowserSsoResult = z.union([PageSession.extend(returned), LoginChallenge.extend(returned)]);

/** The routes with which pages of the control plane's host finish a single sign-on. */
export const browserSingleSignOnRoutes = [
  route(
    {
      method: 'POST',
      path: SSO_PATHS.browserSession,
      operationId: 'finishBrowserSingleSignOn',
      summary: 'Finish a single sign-on on a page of this host',
      description:
        "As for programs, but the refresh token is in a cookie that scripts cannot read. Only pages of this host can call it. The session ends when the identity provider's `session_hours` are over, also with `stay_signed_in`.",
      body: {
        name: 'BrowserSsoCode',
        schema: SsoCode.extend({ stay_signed_in: StaySignedIn }),
        example: {
          code: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
          code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
          stay_signed_in: false,
        },
      },
      reply: {
        status: 200,
        description: 'A session, whose refresh token is in the cookie, or a challenge.',
        json: { name: 'BrowserSsoResult', schema: BrowserSsoResult },
      },
      errors: [400, 403, 429, 503],
    },
    async ({ deps, caller, event, body: { stay_signed_in: staysSignedIn, ...body } }) => {
      const begun = await beginSession(deps, caller, body, { client: 'browser', lifetime: browserLifetime(staysSignedIn) });
      const { returnTo: return_to } = begun;
      if ('challenge' in begun) return { body: { ...begun.challenge, return_to } };
      return toBrowserResult(event, begun.tokens, { body: { ...begun.page, return_to }, staysSignedIn, endsAt: begun.endsAt });
    },
  ),
];
