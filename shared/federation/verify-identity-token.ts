import { compactVerify, decodeJwt, decodeProtectedHeader, type ProtectedHeaderParameters } from 'jose';
import { SECOND_MS } from '../time/units.ts';
import { claimFault, type ExpectedClaims, IdentityClaims } from './claim-fault.ts';
import type { Discovery } from './discovery.ts';
import { IssuerUnavailable, type TokenFault, TokenRejected } from './errors.ts';
import type { KeySets } from './key-sets.ts';

// Some issuers put all groups of a user into a token.
const MAX_TOKEN_CHARACTERS = 16_384;

const ALGORITHMS = ['RS256', 'PS256', 'ES256'];

export interface IdentityTokenDependencies {
  discover: Discovery;
  keySets: KeySets;
  /** Milliseconds since the epoch. */
  now: () => number;
}

export interface ExpectedToken extends ExpectedClaims {
  /** Called before a fetch of the issuer's documents: its error ends the verification. */
  beforeFetch?: (() => Promise<void>) | undefined;
}

// Access tokens (RFC 9068), logout tokens and others have a type of their own; identity tokens have this or none.
const isIdentityType = (type: unknown): boolean => type === undefined || (typeof type === 'string' && type.toUpperCase() === 'JWT');

const headerFault = ({ alg, typ, kid }: ProtectedHeaderParameters): TokenFault | undefined => {
  if (!ALGORITHMS.includes(String(alg))) return 'algorithm_not_allowed';
  if (!isIdentityType(typ)) return 'type_not_allowed';
  return typeof kid !== 'string' || kid === '' ? 'key_id_missing' : undefined;
};

// Before anything is fetched, so that made-up tokens don't cause fetches.
const checkUnverified = (token: string, expected: ExpectedClaims, nowSeconds: number): void => {
  const fault = unverifiedFault(token, expected, nowSeconds);
  if (fault) throw new TokenRejected(fault);
};

const unverifiedFault = (token: string, expected: ExpectedClaims, nowSeconds: number): TokenFault | undefined => {
  if (token.length > MAX_TOKEN_CHARACTERS) return 'malformed';
  try {
    return headerFault(decodeProtectedHeader(token)) ?? claimFault(decodeJwt(token), expected, nowSeconds);
  } catch {
    return 'malformed';
  }
};

/**
 * Creates the verification of identity tokens: the ID tokens of OpenID Connect Core 1.0, section 3.1.3.7, and the
 * tokens of workloads, such as those of GitHub Actions. Clocks may differ by 60 s.
 */
export const createIdentityTokenVerifier =
  ({ discover, keySets, now }: IdentityTokenDependencies) =>
  /** Returns a token's claims. @throws TokenRejected or IssuerUnavailable */
  async (token: string, { beforeFetch, ...expected }: ExpectedToken): Promise<IdentityClaims> => {
    checkUnverified(token, expected, now() / SECOND_MS);
    const { jwks_uri } = await discover(expected.issuer, { beforeFetch });
    try {
      const { payload } = await compactVerify(token, (header) => keySets(jwks_uri, header, { beforeFetch }), { algorithms: ALGORITHMS });
      return IdentityClaims.parse(JSON.parse(Buffer.from(payload).toString()));
    } catch (error) {
      if (error instanceof TokenRejected || error instanceof IssuerUnavailable) throw error;
      throw new TokenRejected('signature_invalid');
    }
  };

export type VerifyIdentityToken = ReturnType<typeof createIdentityTokenVerifier>;
