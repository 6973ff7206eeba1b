import type { IncomingHttpHeaders } from 'node:http';
import type { AwsCredentials } from '../../../shared/aws/credentials.ts';
import { createSigner } from '../../../shared/aws/signer.ts';

interface Signed {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const MAX_SKEW_MS = 5 * 60_000;
const AUTHORIZATION = /^AWS4-HMAC-SHA256 Credential=[^/]+\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=/;
const ADDED = new Set(['x-amz-date', 'x-amz-security-token']);

/**
 * Returns `wrong` for a request that was changed on the way or signed with other credentials, and `expired` for one
 * that was signed more than five minutes from the server's time.
 */
export const signatureFault = (
  { method, path, headers, body }: Signed,
  credentials: AwsCredentials,
  serverMs: number,
): 'wrong' | 'expired' | undefined => {
  const { authorization = '' } = headers;
  const [, region, service, names] = AUTHORIZATION.exec(authorization) ?? [];
  const date = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date']));
  if (!region || !service || !names || !date) return 'wrong';
  const [, year, month, day, hour, minute, second] = date.map(Number) as [number, number, number, number, number, number, number];
  const signedMs = Date.UTC(year, month - 1, day, hour, minute, second);
  const named = names.split(';').filter((name) => !ADDED.has(name));
  const signable = { method, path, headers: named.map((name) => [name, String(headers[name])] as const), body };
  const added = createSigner({ service, region })(signable, credentials, signedMs);
  if (added[added.indexOf('authorization') + 1] !== authorization) return 'wrong';
  return Math.abs(signedMs - serverMs) > MAX_SKEW_MS ? 'expired' : undefined;
};
