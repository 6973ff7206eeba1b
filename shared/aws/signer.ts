import type { AwsCredentials } from './credentials.ts';

// In a bundle, a name that is imported from a module of Node is a getter.
const { createHmac, hash } = process.getBuiltinModule('node:crypto');

type Header = readonly [name: string, value: string];

/** A request to sign. */
export interface Signable {
  method: string;
  /** As it is sent: URI-encoded, without a query. */
  path: string;
  /**
   * Every header to sign except `x-amz-date` and `x-amz-security-token`: lower-case names with `host` among them.
   * Most of the work for a frozen list is done once in a second.
   */
  headers: readonly Header[];
  body: string | Uint8Array;
}

/** The algorithm of Signature Version 4. */
export const ALGORITHM = 'AWS4-HMAC-SHA256';

const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The scope in which a signing key is valid: a day such as `20261122`, a region and a service. */
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

const BLOCK_BYTES = 64;
// A text to sign has about 150: the algorithm, a date, a scope and a digest.
const MAX_TEXT_BYTES = 1_024;
const DIGEST_BYTES = 32;
const INNER = 0x36;
const OUTER = 0x5c;

// HMAC-SHA256 (https://www.rfc-editor.org/rfc/rfc2104) of texts of at most `MAX_TEXT_BYTES`. As two hashes it takes a
// tenth of the time of `createHmac`, which makes several objects for each signature.
const createSha256Hmac = (key: Buffer): ((text: string) => string) => {
  const inner = Buffer.alloc(BLOCK_BYTES + MAX_TEXT_BYTES, INNER);
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, OUTER);
  for (const [i, byte] of key.entries()) {
    inner[i] = byte ^ INNER;
    outer[i] = byte ^ OUTER;
  }
  return (text) => {
    const end = BLOCK_BYTES + inner.write(text, BLOCK_BYTES);
    // Written from hexadecimal, because a digest as a buffer takes twice as long.
    outer.write(hash('sha256', inner.subarray(0, end)), BLOCK_BYTES, 'hex');
    return hash('sha256', outer);
  };
};

const UNRESERVED = /^[\w.~/-]*$/;

// Every service but S3 expects the path to be encoded once more.
const canonicalPath = (path: string): string =>
  UNRESERVED.test(path)
    ? path
    : encodeURIComponent(path)
        .replace(/%2F/g, '/')
        .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const MANY_SPACES = /\s+/g;

// The canonical request without its body, and the parts that it is made of besides the headers.
interface Head {
  method: string;
  path: string;
  amzDate: string;
  sessionToken: string | undefined;
  text: string;
  /** The names of the signed headers. */
  names: string;
}

const toHead = (
  headers: readonly Header[],
  { path, ...request }: Omit<Head, 'text' | 'names'>,
  canonical: (path: string) => string,
): Head => {
  const sorted: Header[] = [...headers, ['x-amz-date', request.amzDate]];
  if (request.sessionToken !== undefined) sorted.push(['x-amz-security-token', request.sessionToken]);
  sorted.sort(([one], [other]) => (one < other ? -1 : 1));
  const lines = sorted.map(([name, value]) => `${name}:${value.trim().replace(MANY_SPACES, ' ')}\n`).join('');
  const names = sorted.map(([name]) => name).join(';');
  return { ...request, path, names, text: `${request.method}\n${canonical(path)}\n\n${lines}\n${names}\n` };
};

/**
 * Signs requests to one service in one region with Signature Version 4
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). The signing key is
 * derived once for a day and credentials. Paths with `.` or `..` segments are not supported.
 * @returns the headers that the signature adds, as a flat list of names and values
 */
export const createSigner = ({ service, region }: { service: string; region: string }) => {
  let derived: { secret: string; day: string; scope: string; hmac: (text: string) => string } | undefined;
  let lastDate: { second: number; amzDate: string } | undefined;

  const keyOf = (secret: string, amzDate: string): { scope: string; hmac: (text: string) => string } => {
    if (derived?.secret !== secret || !amzDate.startsWith(derived.day)) {
      const scope = scopeOf(amzDate, region, service);
      const [day = ''] = scope;
      derived = { secret, day, scope: scope.join('/'), hmac: createSha256Hmac(signingKeyOf(secret, scope)) };
    }
    return derived;
  };

  const dateOf = (ms: number): string => {
    const second = Math.floor(ms / 1_000);
    if (lastDate?.second !== second) lastDate = { second, amzDate: amzDateOf(ms) };
    return lastDate.amzDate;
  };

  const pathOf = service === 's3' ? (path: string): string => path : canonicalPath;
  const heads = new WeakMap<readonly Header[], Head>();

  const headOf = ({ method, path, headers }: Signable, amzDate: string, sessionToken: string | undefined): Head => {
    const known = heads.get(headers);
    if (known?.amzDate === amzDate && known.sessionToken === sessionToken && known.path === path && known.method === method) return known;
    const head = toHead(headers, { method, path, amzDate, sessionToken }, pathOf);
    if (Object.isFrozen(headers)) heads.set(headers, head);
    return head;
  };

  return (signable: Signable, { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials, nowMs: number): string[] => {
    const amzDate = dateOf(nowMs);
    const { text, names } = headOf(signable, amzDate, sessionToken);
    const { scope, hmac } = keyOf(secretAccessKey, amzDate);
    const signature = hmac(`${ALGORITHM}\n${amzDate}\n${scope}\n${hash('sha256', text + hash('sha256', signable.body))}`);
    return [
      'x-amz-date',
      amzDate,
      ...(sessionToken === undefined ? [] : ['x-amz-security-token', sessionToken]),
      'authorization',
      `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
    ];
  };
};
