import { JwtVerifier } from 'aws-jwt-verify';
import { JwtExpiredError } from 'aws-jwt-verify/error';
import * as z from 'zod';
import { expiredToken, IdentityUnavailable, InvalidToken, wrongToken } from '../../../shared/identity/errors.ts';
import type { PoolClient, PoolClientIds } from '../../../shared/identity/pool-clients.ts';
import { sessionIdOf } from '../../../shared/identity/sign-in.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { createKeySet, type FetchJwks, fetchJwks } from './key-set.ts';

const MAX_TOKEN_LENGTH = 8_192;

export interface TokenVerifierOptions {
  /** The `iss` claim of its tokens, for example `https://cognito-idp.us-east-1.amazonaws.com/us-east-1_123456789` */
  issuer: string;
  /** The URL of the issuer's public keys; see jwksUriOf. */
  jwksUri: string;
  /** The clients of the user pool, to one of which an access token must belong. */
  clientIds: PoolClientIds;
  /** Replaces the HTTP request for the key set. */
  fetchJwks?: FetchJwks;
  /** Milliseconds since the epoch, to determine the age of the keys. */
  now?: () => number;
}

interface VerifiedToken {
  subject: string;
  issuer: string;
  issuedAtMs: number;
  /** When the user signed in, in milliseconds since the epoch; 0 if the token doesn't say it. */
  authenticatedAtMs: number;
  /** See sessionIdOf. */
  sessionId: string | undefined;
  client: PoolClient;
}

export interface TokenVerifier {
  /** Throws InvalidToken (401), or IdentityUnavailable (503) until the issuer's keys have been fetched. */
  verify(token: string): Promise<VerifiedToken>;
}

// `exp` is required: a token without it would be valid forever.
const Claims = z.object({
  sub: z.string().min(1).max(255),
  iss: z.string(),
  iat: z.number(),
  exp: z.number(),
  auth_time: z.number().default(0),
  origin_jti: z.string().min(1).max(255).optional(),
  client_id: z.string().optional(),
});

const clientOf = (clientIds: PoolClientIds, id: string | undefined): PoolClient => {
  const [client] = Object.entries(clientIds).find(([, clientId]) => clientId === id) ?? [];
  if (client === undefined) throw wrongToken();
  return client as PoolClient;
};

/**
 * Verifies the access tokens of a user pool: signed with RS256 by one of its keys, issued for one of our clients, and
 * not expired.
 */
export const createTokenVerifier = (options: TokenVerifierOptions): TokenVerifier => {
  const { issuer, jwksUri, clientIds, now = Date.now } = options;
  const verifier = JwtVerifier.create(
    {
      issuer,
      jwksUri,
      // Access tokens of a user pool name their client instead.
      audience: null,
      customJwtCheck: ({ header, payload }) => {
        if (header.alg !== 'RS256' || payload.token_use !== 'access') throw wrongToken();
      },
    },
    { jwksCache: createKeySet(options.fetchJwks ?? fetchJwks, now) },
  );
  return {
    async verify(token) {
      if (token.length > MAX_TOKEN_LENGTH) throw wrongToken();
      try {
        const { sub, iss, iat, auth_time, origin_jti, client_id } = Claims.parse(await verifier.verify(token));
        return {
          subject: sub,
          issuer: iss,
          issuedAtMs: iat * SECOND_MS,
          authenticatedAtMs: auth_time * SECOND_MS,
          sessionId: sessionIdOf(origin_jti),
          client: clientOf(clientIds, client_id),
        };
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
