import { AwsError, CallTimeout } from './errors.ts';

interface SdkError extends Error {
  /** Node's. */
  code?: string;
  /** Only of an error that AWS sent. */
  $fault?: 'client' | 'server';
  $metadata?: { httpStatusCode?: number };
}

// AWS's errors within a stream have the status of their reply.
const OK = 200;

const BROKEN = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Converts an error of the SDK to the one that our own client throws; anything that AWS did not send stays as it is.
 */
export const fromSdk = (error: unknown): unknown => {
  if (typeof error !== 'object' || error === null) return error;
  const { $fault, $metadata, name, message, code, ...facts } = error as SdkError;
  if ($fault) return new AwsError(name, $metadata?.httpStatusCode ?? OK, { ...facts, message });
  if (name !== 'TimeoutError') return error;
  // The SDK gives this name to broken connections, too.
  return BROKEN.has(code ?? '') ? Object.assign(new Error(message, { cause: error }), { code }) : new CallTimeout(message);
};
