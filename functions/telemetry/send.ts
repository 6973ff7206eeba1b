import * as z from 'zod';
import { logError } from '../../shared/logging/log.ts';
import type { Destination } from './destinations.ts';
import type { Headers } from './headers.ts';

// It includes DNS, connection, TLS, request and response.
const TOTAL_MS = 15_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_REASON_CHARACTERS = 200;

// The data itself is wrong, so a repetition would be rejected, too. A key, a URL or an outage can be repaired.
const PERMANENT: ReadonlySet<number> = new Set([400, 413, 415, 422]);

// https://opentelemetry.io/docs/specs/otlp/#partial-success-1. 64-bit integers are text.
const Count = z.union([z.string().regex(/^\d{1,19}$/), z.int().min(0)]).transform(Number);
const ExportResponse = z.object({
  partialSuccess: z
    .object({ rejectedSpans: Count.default(0), rejectedDataPoints: Count.default(0), errorMessage: z.string().default('') })
    .nullish(),
});

class NotAccepted extends Error {
  constructor(status: number) {
    super(`The destination returned the status ${status}.`);
  }
}

// The connection of a longer response is closed.
const readText = async ({ body }: Response): Promise<string> => {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    parts.push(part);
    bytes += part.length;
    if (bytes > MAX_RESPONSE_BYTES) break;
  }
  return Buffer.concat(parts).toString();
};

const partialSuccessOf = (text: string): { rejected: number; reason: string } => {
  let json: unknown;
  try {
    json = JSON.parse(text || '{}');
  } catch {
    // A success without an OTLP response has nothing more to report.
    return { rejected: 0, reason: '' };
  }
  const { rejectedSpans = 0, rejectedDataPoints = 0, errorMessage = '' } = ExportResponse.safeParse(json).data?.partialSuccess ?? {};
  return { rejected: rejectedSpans + rejectedDataPoints, reason: errorMessage.slice(0, MAX_REASON_CHARACTERS) };
};

/**
 * Sends a body to a destination with OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp). Data that the
 * destination rejects for good is logged for an alarm, and lost.
 * @throws Error if another attempt could succeed
 */
export const createSend =
  ({ headersOf, totalMs = TOTAL_MS }: { headersOf: Headers; totalMs?: number }) =>
  async (destination: Destination, body: Buffer): Promise<void> => {
    const { url, signal } = destination;
    const headers = await headersOf(destination, body);
    const request = {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(totalMs),
    } as const;
    const response = await fetch(url, request);
    const text = await readText(response);
    const { status } = response;
    const facts = { signal, host: new URL(url).host, status };
    if (PERMANENT.has(status)) return logError('telemetry_rejected', new Error('A destination rejected a whole export.'), facts);
    if (!response.ok) throw new NotAccepted(status);
    const { rejected, reason } = partialSuccessOf(text);
    if (rejected > 0)
      logError('telemetry_rejected', new Error('A destination rejected parts of an export.'), { ...facts, rejected, reason });
  };
export type Send = ReturnType<typeof createSend>;
