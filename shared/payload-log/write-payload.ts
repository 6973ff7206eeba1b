import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { DAY_SECONDS, unixSeconds } from '../time/units.ts';
import { keepEffective } from './effective-fields.ts';
import type { Exchange } from './exchange.ts';
import { type Payload, payloadKeyOf, RETENTION_TAG, retentionTagOf } from './payload.ts';
import type { PutObject } from './put-object.ts';
import { markerOf } from './redaction/redact-text.ts';
import { type Redacted, redactValue } from './redaction/redact-value.ts';
import type { PayloadLogSettings } from './settings.ts';

// The most of each direction, before compression.
const MAX_BYTES = 1_000_000;

const compress = promisify(gzip);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const leftOut = (name: string): Redacted => ({ value: markerOf(name), isTruncated: true, counts: { [name]: 1 } });

const sumOf = (...all: readonly Redacted[]): Record<string, number> => {
  const sum: Record<string, number> = {};
  for (const { counts } of all) for (const [name, times] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + times;
  return sum;
};

// The facts of an exchange, and the content of both directions after redaction.
const payloadOf = (
  { requestId, keyId, route, receivedAtMs, response: { status, stream, isCut } }: Exchange,
  request: Redacted,
  response: Redacted,
  retentionDays: number,
): Payload => {
  const createdAt = unixSeconds(receivedAtMs);
  return {
    request_id: requestId,
    api_key_id: keyId,
    route,
    created_at: createdAt,
    expires_at: createdAt + retentionDays * DAY_SECONDS,
    request: { content: request.value, is_truncated: request.isTruncated },
    response: { status, stream, content: response.value, is_truncated: response.isTruncated || isCut },
    redactions: sumOf(request, response),
  };
};

/** Writes the payloads of exchanges, redacted by their owner's settings. */
export interface WritePayload {
  /** @param maxSteps the most work of each direction's redaction. @throws if S3 rejects it */
  redacted: (exchange: Exchange, settings: PayloadLogSettings, maxSteps?: number) => Promise<void>;
  /** The same with a marker instead of the content. */
  withoutContent: (exchange: Exchange, settings: PayloadLogSettings, marker: string) => Promise<void>;
}

export const createWritePayload = (put: PutObject): WritePayload => {
  const write = async (exchange: Exchange, { retention_days: days }: PayloadLogSettings, request: Redacted, response: Redacted) => {
    const body = await compress(JSON.stringify(payloadOf(exchange, request, response, days)));
    const { organization, requestId } = exchange;
    const tags = { [RETENTION_TAG]: retentionTagOf(days) };
    await put({ key: payloadKeyOf(organization, requestId), body, contentType: 'application/gzip', tags });
  };
  return {
    redacted: (exchange, settings, maxSteps) => {
      const redacted = (value: unknown): Redacted => redactValue(value, settings, MAX_BYTES, maxSteps);
      const request = redacted(keepEffective(parsed(exchange.request), exchange.fields));
      return write(exchange, settings, request, redacted(parsed(exchange.response.content)));
    },
    withoutContent: (exchange, settings, marker) => write(exchange, settings, leftOut(marker), leftOut(marker)),
  };
};
