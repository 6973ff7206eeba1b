import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type AwsCaller, createCaller } from '../aws/caller.ts';
import { AwsError } from '../aws/errors.ts';
import type { IdentityProvider } from './identity-provider.ts';

const CONNECT_MS = 1_000;
const SILENCE_MS = 5_000;
const MAX_REPLY_BYTES = 128 * 1024;
const MAX_SOCKETS = 5;
// Each call has the same effect if it is repeated: a new version has the id that we chose for it.
const MAX_ATTEMPTS = 3;
const MAX_CACHED = 500;

const Secret = z.object({ SecretString: z.string().min(1) });

const isMissing = (error: unknown): boolean => error instanceof AwsError && error.name === 'ResourceNotFoundException';

/**
 * The client secrets of connections, in Secrets Manager
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_Operations.html): one secret a connection. Its
 * row names the version that counts, so a write that a crash cuts off leaves the earlier secret in place.
 * @param prefix of the names of the secrets
 */
export const createClientSecrets = (prefix: string) => {
  let caller: AwsCaller | undefined;
  const send = (operation: string, input: object): Promise<unknown> => {
    caller ??= createCaller({
      service: 'secretsManager',
      connectMs: CONNECT_MS,
      silenceMs: SILENCE_MS,
      maxReplyBytes: MAX_REPLY_BYTES,
      maxSockets: MAX_SOCKETS,
    });
    const headers = [
      ['content-type', 'application/x-amz-json-1.1'],
      ['x-amz-target', `secretsmanager.${operation}`],
    ] as const;
    return caller.call({ path: '/', headers, body: JSON.stringify(input) }, MAX_ATTEMPTS, ({ body }) => JSON.parse(body.toString()));
  };

  // A version never changes.
  const cached = new Map<string, string>();
  const remember = (key: string, secret: string): void => {
    const [oldest] = cached.keys();
    if (cached.size >= MAX_CACHED && oldest !== undefined) cached.delete(oldest);
    cached.set(key, secret);
  };

  return {
    /** Stores a new version of a connection's secret. @returns the version, which the connection's row must get */
    put: async (id: string, secret: string): Promise<string> => {
      const version = randomUUID();
      const value = { ClientRequestToken: version, SecretString: secret };
      try {
        await send('PutSecretValue', { ...value, SecretId: prefix + id });
      } catch (error) {
        if (!isMissing(error)) throw error;
        await send('CreateSecret', { ...value, Name: prefix + id });
      }
      return version;
    },

    /** Returns the secret of a connection; undefined: it is a public client, or its secret was deleted. */
    read: async ({ id, client_secret_version: version }: Pick<IdentityProvider, 'id' | 'client_secret_version'>) => {
      if (version === null) return undefined;
      const key = `${id}/${version}`;
      const known = cached.get(key);
      if (known !== undefined) return known;
      try {
        const { SecretString } = Secret.parse(await send('GetSecretValue', { SecretId: prefix + id, VersionId: version }));
        remember(key, SecretString);
        return SecretString;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },

    /** Deletes the secret of a connection for good. Does nothing if there is none. */
    delete: async (id: string): Promise<void> => {
      try {
        await send('DeleteSecret', { SecretId: prefix + id, ForceDeleteWithoutRecovery: true });
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
};

export type ClientSecrets = ReturnType<typeof createClientSecrets>;
