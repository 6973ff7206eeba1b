import type { IncomingMessage } from 'node:http';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { accessDenied, incompleteSignature, requestExpired, type S3Error } from './errors.ts';

const SIGNATURE_PARAMETERS = [
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-SignedHeaders',
  'X-Amz-Signature',
];
const DATE = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;
// A week: S3's most.
const MAX_EXPIRES_SECONDS = 604_800;

/**
 * Why a read is refused: it needs a signature, in a header or in its URL, and a URL expires
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html). The signature itself is not
 * checked, since the local run has no secrets.
 */
export const signatureFault = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  parameters: URLSearchParams,
  nowMs: number,
): S3Error | undefined => {
  const signed = SIGNATURE_PARAMETERS.filter((name) => parameters.get(name));
  if (signed.length === 0) return headers.authorization === undefined ? accessDenied : undefined;
  if (signed.length < SIGNATURE_PARAMETERS.length) return incompleteSignature;
  const [, year, month, day, hour, minute, second] = DATE.exec(parameters.get('X-Amz-Date') ?? '') ?? [];
  const signedAtMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const expiresSeconds = Number(parameters.get('X-Amz-Expires'));
  const isValid = Number.isFinite(signedAtMs) && expiresSeconds >= 1 && expiresSeconds <= MAX_EXPIRES_SECONDS;
  if (!isValid) return incompleteSignature;
  return nowMs >= signedAtMs + expiresSeconds * SECOND_MS ? requestExpired : undefined;
};
