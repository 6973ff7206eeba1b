import { consolePath } from './address.ts';
import { publicRequest } from './public-request.ts';
import { callWithCookie } from './session.ts';

// The key of this tab's storage that keeps a login until the identity provider sends the browser back.
const STORED = 'sluice-single-sign-on';
const VERIFIER_BYTES = 32;

interface Begun {
  verifier: string;
  email: string;
  staysSignedIn: boolean;
  /** Another tab waits for this login. */
  isForOtherTab: boolean;
}

const base64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** The code with which a single sign-on came back to this page; undefined if none did. */
export const returnedCode = (): string | undefined => /^#sso=([\w-]{1,256})$/.exec(location.hash)?.[1];

/**
 * Sends a tab to the identity provider of an address's domain. The login comes back to that tab.
 * @param tab a new one, so that this one keeps what was typed; by default this one @throws ApiFailure
 */
export const beginSingleSignOn = async (email: string, staysSignedIn: boolean, tab: Window = window): Promise<void> => {
  const verifier = base64Url(crypto.getRandomValues(new Uint8Array(VERIFIER_BYTES)));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const { authorize_url } = await publicRequest('POST /v1/auth/sso', {
    email,
    code_challenge: base64Url(new Uint8Array(digest)),
    return_to: location.pathname + location.search,
  });
  const begun: Begun = { verifier, email, staysSignedIn, isForOtherTab: tab !== window };
  tab.sessionStorage.setItem(STORED, JSON.stringify(begun));
  tab.location.assign(authorize_url);
};

/**
 * Exchanges the code of a single sign-on for a session or a challenge, once.
 * @returns the result, with what was typed at the beginning
 * @throws ApiFailure, or Error if this tab began none
 */
export const finishSingleSignOn = async (code: string) => {
  const stored = sessionStorage.getItem(STORED);
  sessionStorage.removeItem(STORED);
  if (stored === null) throw new Error('This login was not started in this tab. Sign in again here.');
  const { verifier, email, staysSignedIn, isForOtherTab } = JSON.parse(stored) as Begun;
  const result = await callWithCookie('POST /v1/auth/browser/sso', { code, code_verifier: verifier, stay_signed_in: staysSignedIn });
  return { result, email, staysSignedIn, isForOtherTab };
};

/**
 * Shows a page of the console in place of the one at which logins come back.
 * @param path as the service has checked it
 */
export const leaveReturnPage = (path: string | null): void => history.replaceState(null, '', path ?? `${consolePath}/`);
