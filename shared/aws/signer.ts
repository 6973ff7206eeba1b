import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import type { Credentials } from './credentials.ts';

type Header = readonly [name: string, value: string];

/** A request to sign. */
export interface Signable {
  method: string;
  /** As it is sent: URI-encoded, without a query. */
  path: string;
  /** Every header to sign except `x-amz-date` and `x-amz-security-token`: lower-case names with `host` among them. */
  headers: readonly Header[];
  body: string | Uint8Array;
}

/** The algorithm of Signature Version 4. */
export const ALGORITHM = 'AWS4-HMAC-SHA256';

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** What a signing key is good for: a day such as `20261122`, a region and a service. */
export const scopeOf = (amzDate: string, region: string, service: string): string[] => [
  amzDate.slice(0, 8),
  region,
  service,
  'aws4_request',
];

/** The key that signs within a scope. */
export const signingKeyOf = (secretAccessKey: string, scope: readonly string[]): Buffer =>
  scope.reduce<Buffer | string>(hmac, `AWS4${secretAccessKey}`) as Buffer;

/** `20261122T095500Z` */
export const amzDateOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;

const UNRESERVED = /^[\w.~/-]*$/;

/** The path encoded once more, as every service but S3 expects it. */
const canonicalPath = (path: string): string =>
  UNRESERVED.test(path)
    ? path
    : encodeURIComponent(path)
        .replace(/%2F/g, '/')
        .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

/** Inserts a header before those with later names. A request has few headers, so this costs less than to sort them. */
const insert = (sorted: Header[], header: Header): void => {
  let at = sorted.length;
  for (; at > 0 && (sorted[at - 1] as Header)[0] > header[0]; at--) sorted[at] = sorted[at - 1] as Header;
  sorted[at] = header;
};

const MANY_SPACES = /\s+/g;

/**
 * Signs requests to one service in one region with Signature Version 4
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). The signing key is derived once for a day and
 * credentials. Paths with `.` or `..` segments are not supported.
 * @returns the headers that the signature adds, as a flat list of names and values
 */
export const createSigner = ({ service, region }: { service: string; region: string }) => {
  let derived: { secret: string; day: string; scope: string; key: KeyObject } | undefined;
  let lastDate: { second: number; amzDate: string } | undefined;

  const keyOf = (secret: string, amzDate: string): { scope: string; key: KeyObject } => {
    if (derived?.secret !== secret || !amzDate.startsWith(derived.day)) {
      const scope = scopeOf(amzDate, region, service);
      const [day = ''] = scope;
      // With bytes as its key, each signature would take five times as long.
      derived = { secret, day, scope: scope.join('/'), key: createSecretKey(signingKeyOf(secret, scope)) };
    }
    return derived;
  };

  const dateOf = (ms: number): string => {
    const second = Math.floor(ms / 1_000);
    if (lastDate?.second !== second) lastDate = { second, amzDate: amzDateOf(ms) };
    return lastDate.amzDate;
  };

  const pathOf = service === 's3' ? (path: string): string => path : canonicalPath;

  return (
    { method, path, headers, body }: Signable,
    { accessKeyId, secretAccessKey, sessionToken }: Credentials,
    nowMs: number,
  ): string[] => {
    const amzDate = dateOf(nowMs);
    const added = ['x-amz-date', amzDate];
    const sorted: Header[] = [['x-amz-date', amzDate]];
    if (sessionToken !== undefined) {
      added.push('x-amz-security-token', sessionToken);
      insert(sorted, ['x-amz-security-token', sessionToken]);
    }
    for (const header of headers) insert(sorted, header);
    let canonicalHeaders = '';
    let names = '';
    for (const [name, value] of sorted) {
      canonicalHeaders += `${name}:${value.trim().replace(MANY_SPACES, ' ')}\n`;
      names += names === '' ? name : `;${name}`;
    }
    const request = `${method}\n${pathOf(path)}\n\n${canonicalHeaders}\n${names}\n${hash('sha256', body)}`;
    const { scope, key } = keyOf(secretAccessKey, amzDate);
    const signature = createHmac('sha256', key)
      .update(`${ALGORITHM}\n${amzDate}\n${scope}\n${hash('sha256', request)}`)
      .digest('hex');
    added.push('authorization', `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`);
    return added;
  };
};
