import * as z from 'zod';
import { InvalidRequest } from '../../shared/http/errors.ts';
import { SSO_PATHS } from '../../shared/identity/auth-paths.ts';
import type { LoginAttempts } from '../../shared/identity/login-attempts.ts';
import type { Caller } from '../../shared/identity/request-origin.ts';
import { Email } from '../../shared/identity/user.ts';
import type { SsoLogins } from '../../shared/single-sign-on/sso-logins.ts';
import { unixSeconds } from '../../shared/time/units.ts';
import { checkRedirectUri } from './redirect-uri.ts';
import { checkReturnTo } from './return-to.ts';

// RFC 7636, section 4.2.
const CodeChallenge = z.string().regex(/^[\w-]{43}$/, 'expected the base64url SHA-256 of your code verifier: 43 characters');

export const NewSsoLogin = z.strictObject({
  email: Email,
  code_challenge: CodeChallenge.meta({ description: 'The S256 challenge of a code verifier that you make up for this login (RFC 7636).' }),
  redirect_uri: z.string().min(1).max(512).optional().meta({
    description: 'Where a program waits for the code: `http://127.0.0.1:<port>/…`. By default, a page shows the code.',
  }),
  return_to: z.string().min(1).max(512).optional().meta({
    description:
      "For pages of the console: the path of a page of the console, such as `/live/console/keys`. The login ends at the console's page `sign-in`, with the code in the fragment: `#sso=<code>`. Not together with `redirect_uri`.",
  }),
});
export type NewSsoLogin = z.output<typeof NewSsoLogin>;

export const BegunSsoLogin = z.object({
  object: z.literal('sso_login'),
  authorize_url: z.string().meta({ description: "Open it in the user's browser." }),
  expires_at: z.int().meta({ description: 'Unix time in seconds.' }),
});

export interface BeginDependencies {
  attempts: LoginAttempts;
  logins: SsoLogins;
  /** The URL of this host, without a trailing slash. */
  controlUrl: string;
}

const destinationOf = ({ redirect_uri, return_to }: Pick<NewSsoLogin, 'redirect_uri' | 'return_to'>, controlUrl: string) => {
  if (redirect_uri !== undefined && return_to !== undefined)
    throw new InvalidRequest({ param: 'return_to', message: "Send either 'redirect_uri' or 'return_to', not both." });
  return {
    redirectUri: redirect_uri === undefined ? null : checkRedirectUri(redirect_uri),
    returnTo: return_to === undefined ? null : checkReturnTo(return_to, controlUrl),
  };
};

/**
 * Begins a login with the identity provider of an address's domain. The answer and the work are the same if the domain
 * has none. @throws 400 for the destination, 429
 */
export const beginLogin = async (
  { attempts, logins, controlUrl }: BeginDependencies,
  { ipAddress, receivedAtMs }: Caller,
  { email, code_challenge, ...destination }: NewSsoLogin,
): Promise<z.infer<typeof BegunSsoLogin>> => {
  const { redirectUri, returnTo } = destinationOf(destination, controlUrl);
  await attempts.count({ kind: 'sso', ipAddress }, receivedAtMs);
  const [, domain = ''] = email.split('@');
  const { login, expiresAtMs } = await logins.begin(
    { kind: 'login', domain, codeChallenge: code_challenge, redirectUri, returnTo },
    receivedAtMs,
  );
  return {
    object: 'sso_login',
    authorize_url: `${controlUrl}${SSO_PATHS.authorize}?login=${login}`,
    expires_at: unixSeconds(expiresAtMs),
  };
};
