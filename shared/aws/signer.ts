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
  body: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** `20261122T095500Z` */
const amzDateOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;

const UNRESERVED = /^[\w.~/-]*$/;

/** The path encoded once more, as every service but S3 expects it. */
const canonicalPath = (path: string): string =>
  UNRESERVED.test(path)
    ? path
    : encodeURIComponent(path)
        .replace(/%2F/g, '/')
        .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const byName = ([one]: Header, [other]: Header): number => (one < other ? -1 : 1);
const MANY_SPACES = /\s+/g;

/**
 * Signs requests to one service in one region with Signature Version 4
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). The signing key is derived once for a day and
 * credentials. Paths with `.` or `..` segments are not supported.
 * @returns the headers that the signature adds, as a flat list of names and values
 */
export const createSigner = ({ service, region }: { service: string; region: string }) => {
  let derived: { secret: string; day: string; key: KeyObject } | undefined;
  let lastDate: { second: number; amzDate: string } | undefined;

  const keyOf = (secret: string, day: string): KeyObject => {
    if (derived?.secret !== secret || derived.day !== day) {
      const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secret}`) as Buffer;
      // With bytes as its key, each signature would take five times as long.
      derived = { secret, day, key: createSecretKey(key) };
    }
    return derived.key;
  };

  const dateOf = (ms: number): string => {
    const second = Math.floor(ms / 1_000);
    if (lastDate?.second !== second) lastDate = { second, amzDate: amzDateOf(ms) };
    return lastDate.amzDate;
  };

  return (
    { method, path, headers, body }: Signable,
    { accessKeyId, secretAccessKey, sessionToken }: Credentials,
    nowMs: number,
  ): string[] => {
    const amzDate = dateOf(nowMs);
    const day = amzDate.slice(0, 8);
    const added: Header[] = [['x-amz-date', amzDate]];
    if (sessionToken !== undefined) added.push(['x-amz-security-token', sessionToken]);
    let canonicalHeaders = '';
    let names = '';
    for (const [name, value] of [...headers, ...added].sort(byName)) {
      canonicalHeaders += `${name}:${value.trim().replace(MANY_SPACES, ' ')}\n`;
      names += names === '' ? name : `;${name}`;
    }
    const request = `${method}\n${canonicalPath(path)}\n\n${canonicalHeaders}\n${names}\n${hash('sha256', body)}`;
    const scope = `${day}/${region}/${service}/aws4_request`;
    const signature = createHmac('sha256', keyOf(secretAccessKey, day))
      .update(`${ALGORITHM}\n${amzDate}\n${scope}\n${hash('sha256', request)}`)
      .digest('hex');
    added.push(['authorization', `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`]);
    return added.flat();
  };
};
