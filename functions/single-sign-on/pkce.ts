import { createHash } from 'node:crypto';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** The S256 challenge of a code verifier (RFC 7636, section 4.2): 43 base64url characters. */
export const challengeOf = (verifier: string): string => sha256(verifier);

interface LoginSecrets {
  codeVerifier: string;
  nonce: string;
}

/**
 * Derives the code verifier and the nonce of a login from its state and from the cookie of its browser. So nothing
 * that is stored is enough to finish somebody's login.
 */
export const secretsOf = (state: string, cookie: string): LoginSecrets => ({
  codeVerifier: sha256(`code_verifier\n${cookie}\n${state}`),
  nonce: sha256(`nonce\n${cookie}\n${state}`),
});
