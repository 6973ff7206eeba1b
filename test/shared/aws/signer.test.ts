import { expect, test } from '@jest/globals';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { createSigner } from '../../../shared/aws/signer.ts';
import { Sha256 } from '../../support/sha256.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 40 });
// With spaces to trim and to collapse.
const headerValue = fc.stringMatching(/^[ \t!-~]{0,40}$/);
const headerName = fc
  .stringMatching(/^x-amz-[a-z0-9-]{1,20}$/)
  .filter((name) => !/^x-amz-(?:date|security-token|content-sha256)$/.test(name));
// As they are sent: encoded, and neither `.` nor `..`.
const path = fc
  .array(fc.string({ minLength: 1, maxLength: 20 }), { maxLength: 5 })
  .map((segments) => `/${segments.map(encodeURIComponent).join('/')}`)
  .filter((encoded) => !/(?:^|\/)\.{1,2}(?:\/|$)/.test(encoded));

const request = fc.record({
  method: fc.constantFrom('POST', 'GET', 'PUT', 'DELETE'),
  path,
  headers: fc.dictionary(headerName, headerValue, { maxKeys: 6, noNullPrototype: true }),
  hasContentType: fc.boolean(),
  host: fc.domain(),
  body: text,
  region: fc.constantFrom('us-east-1', 'eu-central-1', 'cn-north-1', 'us-gov-west-1'),
  service: fc.constantFrom('dynamodb', 'lambda', 'sagemaker', 's3'),
  accessKeyId: fc.stringMatching(/^[A-Z0-9]{16,20}$/),
  secretAccessKey: fc.stringMatching(/^[A-Za-z0-9/+]{20,40}$/),
  sessionToken: fc.option(fc.stringMatching(/^[A-Za-z0-9/+=]{1,200}$/), { nil: undefined }),
  atMs: fc.integer({ min: 0, max: 4_102_444_800_000 }),
});

const pairs = (flat: readonly string[]): Record<string, string> =>
  Object.fromEntries(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] as string]] : [])));

test("signs as AWS's own signer, over 2,000 generated requests", async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, headers, hasContentType, host, body, region, service, atMs, ...credentials }) => {
      const named = { host, ...headers, ...(hasContentType && { 'content-type': 'application/json' }) };
      const added = createSigner({ service, region })({ method, path, headers: Object.entries(named), body }, credentials, atMs);
      const { sessionToken, ...keys } = credentials;
      const theirs = new SignatureV4({
        service,
        region,
        sha256: Sha256,
        applyChecksum: false,
        // As the SDK's client of S3: its paths are signed as they are sent.
        uriEscapePath: service !== 's3',
        credentials: { ...keys, ...(sessionToken !== undefined && { sessionToken }) },
      });
      const signed = await theirs.sign(
        { method, protocol: 'https:', hostname: host, path, headers: named, body },
        { signingDate: new Date(atMs) },
      );
      expect({ ...named, ...pairs(added) }).toEqual(signed.headers);
    }),
    { numRuns: 2_000 },
  );
});

test('signs with a frozen list of headers as with a new one, whatever else changes', () => {
  const headers = Object.freeze([
    ['host', 'a'],
    ['x-amz-target', 'b'],
  ] as const);
  const signers = { service: 'lambda', region: 'us-east-1' };
  const sign = createSigner(signers);
  const times = fc.integer({ min: 0, max: 5_000 });
  const tokens = fc.constantFrom(undefined, 'one', 'two');
  const requests = fc.record({ method: fc.constantFrom('POST', 'PUT'), path: fc.constantFrom('/', '/a'), body: text });
  fc.assert(
    fc.property(requests, tokens, times, (one, sessionToken, atMs) => {
      const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken };
      const fresh = createSigner(signers)({ ...one, headers: [...headers] }, credentials, atMs);
      expect(sign({ ...one, headers }, credentials, atMs)).toEqual(fresh);
    }),
    { numRuns: 500 },
  );
});

test('uses a new key for a new day and for new credentials', () => {
  const sign = createSigner({ service: 'dynamodb', region: 'us-east-1' });
  const signable = { method: 'POST', path: '/', headers: [['host', 'a']] as const, body: '' };
  const credentials = (secretAccessKey: string) => ({ accessKeyId: 'AKID', secretAccessKey });
  const day = Date.UTC(2026, 10, 22);
  const fresh = (secret: string, atMs: number) =>
    createSigner({ service: 'dynamodb', region: 'us-east-1' })(signable, credentials(secret), atMs);
  for (const [secret, atMs] of [
    ['one', day],
    ['one', day + 86_400_000],
    ['two', day + 86_400_000],
    ['two', day],
  ] as const)
    expect(sign(signable, credentials(secret), atMs)).toEqual(fresh(secret, atMs));
});
