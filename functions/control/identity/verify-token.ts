import { JwtVerifier } from 'aws-jwt-verify';
import { JwtExpiredError } from 'aws-jwt-verify/error';
import * as z from 'zod';
import { expiredToken, IdentityUnavailable, InvalidToken, wrongToken } from './errors.ts';
import { createKeySet, type FetchJwks, fetchJwks } from './key-set.ts';

const MAX_TOKEN_LENGTH = 8_192;
const SECOND_MS = 1_000;

export interface TokenVerifierOptions {
  /** `iss` of its tokens, for example `https://cognito-idp.us-east-1.amazonaws.com/us-east-1_123456789` */
  issuer: string;
  /** Where the issuer's public keys are; see jwksUriOf. */
  jwksUri: string;
  /** Of a Cognito user pool: tokens must be access tokens of this client. */
  clientId?: string;
  /** Of any other issuer: what `aud` must have. */
  audience?: string;
  /** Fetches the key set in place of HTTP. */
  fetchJwks?: FetchJwks;
  /** Milliseconds since the epoch, for how old the keys are. */
  now?: () => number;
}

/** The claims of a verified token. */
interface VerifiedToken {
  subject: string;
  issuer: string;
  issuedAtMs: number;
}

export interface TokenVerifier {
  /** Throws InvalidToken (401), and IdentityUnavailable (503) as long as the issuer's keys could not be fetched. */
  verify(token: string): Promise<VerifiedToken>;
}

// A token without an expiry would be valid for ever.
const Claims = z.object({ sub: z.string().min(1).max(255), iss: z.string(), iat: z.number(), exp: z.number() });

/**
 * Verifies the access tokens of one OpenID Connect issuer: signed with RS256 by one of its keys, for us, and not expired.
 * @throws Error when neither client nor audience is given: tokens for others would be valid, too
 */
export const createTokenVerifier = (options: TokenVerifierOptions): TokenVerifier => {
  const { issuer, jwksUri, clientId, audience, now = Date.now } = options;
  if (clientId === undefined && audience === undefined) throw new Error('A token verifier needs a clientId or an audience.');
  const verifier = JwtVerifier.create(
    {
      issuer,
      jwksUri,
      audience: audience ?? null,
      customJwtCheck: ({ header, payload }) => {
        if (header.alg !== 'RS256') throw wrongToken();
        if (clientId !== undefined && (payload.token_use !== 'access' || payload.client_id !== clientId)) throw wrongToken();
      },
    },
    { jwksCache: createKeySet(options.fetchJwks ?? fetchJwks, now) },
  );
  return {
    async verify(token) {
      if (token.length > MAX_TOKEN_LENGTH) throw wrongToken();
      try {
        const { sub, iss, iat } = Claims.parse(await verifier.verify(token));
        return { subject: sub, issuer: iss, issuedAtMs: iat * SECOND_MS };
      } catch (error) {
        throw toRefusal(error);
      }
    },
  };
};

const toRefusal = (error: unknown): Error => {
  if (error instanceof InvalidToken || error instanceof IdentityUnavailable) return error;
  return error instanceof JwtExpiredError ? expiredToken() : wrongToken();
};

/**
 * The address of an issuer's keys.
 * @param endpoint the origin to use in place of the issuer's
 */
export const jwksUriOf = (issuer: string, endpoint?: string): string => {
  const { origin, pathname } = new URL(issuer);
  return `${(endpoint ?? origin).replace(/\/$/, '')}${pathname.replace(/\/$/, '')}/.well-known/jwks.json`;
};
