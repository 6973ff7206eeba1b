import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as z from 'zod';
import type { UserPool, UserPoolClient } from '../../assembly/local-app.ts';
import { PROVIDER_URL } from '../../assembly/resolve.ts';
import type { User } from './backend.ts';

// cognito-local serves the public half at `.well-known/jwks.json`.
const KEY_FILE = 'cognito-local/lib/keys/cognitoLocal.private.json';
const KEY_ID = 'CognitoLocal';

const Key = z.object({ pem: z.string() });

const privateKey = createPrivateKey(Key.parse(JSON.parse(readFileSync(createRequire(import.meta.url).resolve(KEY_FILE), 'utf8'))).pem);

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

const toJwt = (claims: object): string => {
  const text = `${encode({ alg: 'RS256', kid: KEY_ID })}.${encode(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
};

/** A sign-in, which refreshing doesn't change. */
export interface Origin {
  /** The claim `origin_jti`. */
  id: string;
  /** Unix time in seconds. */
  signedInAt: number;
}

/** Creates the access and ID token of a user, with the claims that Cognito gives them. */
export const signTokens = (
  pool: UserPool,
  client: UserPoolClient,
  { subject, email }: User,
  { id, signedInAt }: Origin,
  nowMs: number,
): { AccessToken: string; IdToken: string } => {
  const issuedAt = Math.floor(nowMs / 1_000);
  const common = {
    sub: subject,
    iss: `${PROVIDER_URL}/${pool.id}`,
    origin_jti: id,
    event_id: randomUUID(),
    auth_time: signedInAt,
    iat: issuedAt,
  };
  return {
    AccessToken: toJwt({
      ...common,
      client_id: client.id,
      token_use: 'access',
      scope: 'aws.cognito.signin.user.admin',
      username: subject,
      jti: randomUUID(),
      exp: issuedAt + client.accessTokenSeconds,
    }),
    IdToken: toJwt({
      ...common,
      aud: client.id,
      token_use: 'id',
      'cognito:username': subject,
      email,
      email_verified: true,
      jti: randomUUID(),
      exp: issuedAt + client.idTokenSeconds,
    }),
  };
};
