import { JwtVerifier } from 'aws-jwt-verify';
import { JwtExpiredError } from 'aws-jwt-verify/error';
import * as z from 'zod';
import { expiredToken, IdentityUnavailable, InvalidToken, wrongToken } from '../../../shared/identity/errors.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { createKeySet, type FetchJwks, fetchJwks } from './key-set.ts';

const MAX_TOKEN_LENGTH = 8_192;

export interface TokenVerifierOptions {
  /** The `iss` claim of its tokens, for example `https://cognito-idp.us-east-1.amazonaws.com/us-east-1_123456789` */
  issuer: string;
  /** The URL of the issuer's public keys; see jwksUriOf. */
  jwksUri: string;
  /** For a Cognito user pool: the client that the access tokens must belong to. */
  clientId?: string;
  /** For any other issuer: the value that the `aud` claim must contain. */
  audience?: string;
  /** Replaces the HTTP request for the key set. */
  fetchJwks?: FetchJwks;
  /** Milliseconds since the epoch, to determine the age of the keys. */
  now?: () => number;
}

interface VerifiedToken {
  subject: string;
  issuer: string;
  issuedAtMs: number;
}

export interface TokenVerifier {
  /** Throws InvalidToken (401), or IdentityUnavailable (503) until the issuer's keys have been fetched. */
  verify(token: string): Promise<VerifiedToken>;
}

// `exp` is required: a token without it would be valid forever.
const Claims = z.object({ sub: z.string().min(1).max(255), iss: z.string(), iat: z.number(), exp: z.number() });

/**
 * Verifies the access tokens of one OpenID Connect issuer: signed with RS256 by one of its keys, issued for us, and
 * not expired.
 * @throws Error without a client or an audience, because tokens for other services would be accepted too
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
        throw toTokenError(error);
      }
    },
  };
};

const toTokenError = (error: unknown): Error => {
  if (error instanceof InvalidToken || error instanceof IdentityUnavailable) return error;
  return error instanceof JwtExpiredError ? expiredToken() : wrongToken();
};

/**
 * Returns the URL of an issuer's keys.
 * @param endpoint replaces the origin of the issuer's URL
 */
export const jwksUriOf = (issuer: string, endpoint?: string): string => {
  const { origin, pathname } = new URL(issuer);
  return `${(endpoint ?? origin).replace(/\/$/, '')}${pathname.replace(/\/$/, '')}/.well-known/jwks.json`;
};
