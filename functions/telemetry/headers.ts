import * as z from 'zod';
import type { AwsCredentials } from '../../shared/aws/credentials.ts';
import { createSigner } from '../../shared/aws/signer.ts';
import type { Destination } from './destinations.ts';

// A replaced secret is used after this time at the latest.
const SECRET_CACHE_MS = 5 * 60_000;
const MAX_HEADERS = 20;

// Such as `{"authorization":"Bearer …"}`. Headers that describe the body can't be replaced.
const SecretHeaders = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z0-9-]{1,100}$/, 'expected the name of a header')
      .refine((name) => !/^(content-.*|host|connection|transfer-encoding)$/i.test(name), 'expected another header than those of the body'),
    z.string().regex(/^[\x20-\x7e]{0,8192}$/, 'expected printable ASCII characters'),
  )
  .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, `expected at most ${MAX_HEADERS} headers`);

export interface HeadersDependencies {
  readSecret: (arn: string) => Promise<string>;
  credentials: () => AwsCredentials;
  now: () => number;
}

/**
 * The headers of a request: those of its body, and the sender's credentials.
 * @throws ZodError or SyntaxError, without the value, if the secret is not such an object; the errors of Secrets
 * Manager
 */
export const createHeaders = ({ readSecret, credentials, now }: HeadersDependencies) => {
  const secrets = new Map<string, { headers: Record<string, string>; readAtMs: number }>();
  const signers = new Map<string, ReturnType<typeof createSigner>>();

  const ofSecret = async (arn: string): Promise<Record<string, string>> => {
    const known = secrets.get(arn);
    if (known && now() - known.readAtMs < SECRET_CACHE_MS) return known.headers;
    const headers = SecretHeaders.parse(JSON.parse(await readSecret(arn)));
    secrets.set(arn, { headers, readAtMs: now() });
    return headers;
  };

  const signed = ({ url, aws }: Destination, headers: Record<string, string>, body: Buffer): Record<string, string> => {
    if (!aws) return headers;
    const sign = signers.get(url) ?? createSigner(aws);
    signers.set(url, sign);
    const { host, pathname } = new URL(url);
    const added = sign(
      { method: 'POST', path: pathname, headers: [['host', host], ...Object.entries(headers)], body },
      credentials(),
      now(),
    );
    for (let i = 0; i < added.length; i += 2) headers[added[i] as string] = added[i + 1] as string;
    return headers;
  };

  return async (destination: Destination, body: Buffer): Promise<Record<string, string>> => {
    const { headersSecretArn } = destination;
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const own = headersSecretArn === undefined ? {} : await ofSecret(headersSecretArn);
    return signed(destination, { ...own, ...headers }, body);
  };
};
export type Headers = ReturnType<typeof createHeaders>;
