import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { UserPool, UserPoolClient } from '../../assembly/local-app.ts';
import { AwsError } from '../http/json-api.ts';
import { notAuthorized } from './errors.ts';

const TOKEN_BYTES = 48;
// The oldest are forgotten.
const MAX_TOKENS = 20_000;

const RefreshToken = z.object({
  poolId: z.string(),
  clientId: z.string(),
  subject: z.string(),
  originId: z.string(),
  signedInAt: z.number(),
  expiresAtMs: z.number(),
  /** When the first of its successors was issued. */
  rotatedAtMs: z.number().optional(),
});
type RefreshToken = z.infer<typeof RefreshToken>;

const Stored = z.record(z.string(), RefreshToken);

/** The refresh tokens of all users, which cognito-local can neither rotate nor issue without a password. */
export interface RefreshTokens {
  /** Starts a session of a user, who has just signed in. */
  start(pool: UserPool, client: UserPoolClient, subject: string): { token: string; session: RefreshToken };
  /** Throws NotAuthorizedException for a token that isn't valid for the client. */
  find(client: UserPoolClient, token: string): RefreshToken;
  /**
   * Returns the next token, which ends when the first one would have. Throws RefreshTokenReuseException after the
   * grace period.
   */
  rotate(client: UserPoolClient, token: string): string;
  /** Ends the session of a token. */
  revoke(client: UserPoolClient, token: string): void;
  revokeAll(poolId: string, subject: string): void;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

const readStored = (file: string): Map<string, RefreshToken> => {
  try {
    return new Map(Object.entries(Stored.parse(JSON.parse(readFileSync(file, 'utf8')))));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw new Error(`The sessions in ${file} cannot be read. Delete the file; users must then sign in again.`, { cause: error });
  }
};

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/**
 * Opens the refresh tokens in a folder, which keeps their hashes.
 * @param now milliseconds since the epoch, by which tokens expire
 * @throws Error naming a file that cannot be read
 */
export const openRefreshTokens = (folder: string, now: () => number): RefreshTokens => {
  const file = path.join(folder, 'refresh-tokens.json');
  const tokens = readStored(file);
  const store = createWriter(file, () => Object.fromEntries([...tokens].filter(([, { expiresAtMs }]) => expiresAtMs > now())));

  const add = (session: RefreshToken): string => {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const [oldest] = tokens.keys();
    if (tokens.size >= MAX_TOKENS && oldest !== undefined) tokens.delete(oldest);
    tokens.set(hashOf(token), session);
    store.changed();
    return token;
  };

  const find: RefreshTokens['find'] = (client, token) => {
    const session = tokens.get(hashOf(token));
    if (session?.clientId !== client.id) throw notAuthorized('Invalid Refresh Token');
    if (session.expiresAtMs <= now()) throw notAuthorized('Refresh Token has expired');
    return session;
  };

  const removeWhere = (isRemoved: (session: RefreshToken) => boolean): void => {
    for (const [hash, session] of tokens) if (isRemoved(session)) tokens.delete(hash);
    store.changed();
  };

  return {
    start(pool, client, subject) {
      const signedInAtMs = now();
      const session = {
        poolId: pool.id,
        clientId: client.id,
        subject,
        originId: randomUUID(),
        signedInAt: Math.floor(signedInAtMs / SECOND_MS),
        expiresAtMs: signedInAtMs + client.refreshTokenSeconds * SECOND_MS,
      };
      return { token: add(session), session };
    },
    find,
    rotate(client, token) {
      const session = find(client, token);
      const { rotatedAtMs = now(), ...next } = session;
      if (now() > rotatedAtMs + (client.rotationGraceSeconds ?? 0) * SECOND_MS)
        throw new AwsError('RefreshTokenReuseException', 'Refresh token has been invalidated');
      session.rotatedAtMs = rotatedAtMs;
      return add(next);
    },
    revoke(client, token) {
      const session = tokens.get(hashOf(token));
      if (session?.clientId === client.id) removeWhere(({ originId }) => originId === session.originId);
    },
    revokeAll: (poolId, subject) => removeWhere((session) => session.poolId === poolId && session.subject === subject),
    close: store.close,
  };
};

// Changes during a write are merged into one more write.
const createWriter = (file: string, content: () => object): { changed: () => void; close: () => Promise<void> } => {
  let isChanged = false;
  let writing: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    while (isChanged) {
      isChanged = false;
      await writeFile(`${file}.new`, JSON.stringify(content()), { mode: 0o600 });
      await rename(`${file}.new`, file);
    }
    writing = undefined;
  };
  return {
    changed() {
      isChanged = true;
      writing ??= write();
    },
    close: async () => writing,
  };
};
