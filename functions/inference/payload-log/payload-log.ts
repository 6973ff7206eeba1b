import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Payload, payloadKeyOf, RETENTION_TAG, retentionTagOf } from '../../../shared/payload-log/payload.ts';
import type { RedactionRules } from '../../../shared/payload-log/settings.ts';
import type { PayloadLogStore } from '../../../shared/payload-log/settings-store.ts';
import type { PutObject } from './put-object.ts';
import { type Redacted, redactValue } from './redaction/redact-value.ts';

/** Of each direction, before compression. */
const MAX_BYTES = 1_000_000;
const MS = 1_000;
const DAY_SECONDS = 86_400;

/** A request whose reply was sent, and that reply. */
export interface Exchange {
  organization: string;
  keyId: string;
  requestId: string;
  route: string;
  receivedAtMs: number;
  /** The body as it was received. */
  request: string;
  /** The content of a stream is the whole reply that its chunks make; null if that is not known. `isCut`: more was sent than the content has. */
  response: { status: number; stream: boolean; isCut: boolean; content: unknown };
}

/** Writes the content of a request to the payload log, if its owner still wants that. @throws if the settings can't be read or S3 rejects it */
export type LogPayload = (exchange: Exchange) => Promise<void>;

const compress = promisify(gzip);

/** What JSON says, or the text itself. */
const parsed = (text: unknown): unknown => {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const sumOf = (...all: readonly Redacted[]): Record<string, number> => {
  const sum: Record<string, number> = {};
  for (const { counts } of all) for (const [name, times] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + times;
  return sum;
};

/** What the bucket gets: the content of both directions after redaction. */
const payloadOf = (
  { requestId, keyId, route, receivedAtMs, request, response }: Exchange,
  rules: RedactionRules,
  retentionDays: number,
): Payload => {
  const redactedRequest = redactValue(parsed(request), rules, MAX_BYTES);
  const redactedResponse = redactValue(parsed(response.content), rules, MAX_BYTES);
  const createdAt = Math.floor(receivedAtMs / MS);
  return {
    request_id: requestId,
    api_key_id: keyId,
    route,
    created_at: createdAt,
    expires_at: createdAt + retentionDays * DAY_SECONDS,
    request: { content: redactedRequest.value, is_truncated: redactedRequest.isTruncated },
    response: {
      status: response.status,
      stream: response.stream,
      content: redactedResponse.value,
      is_truncated: redactedResponse.isTruncated || response.isCut,
    },
    redactions: sumOf(redactedRequest, redactedResponse),
  };
};

/**
 * The payload log. It reads the settings again for each payload, so that nothing is written once an owner has switched it off, even if that has not
 * reached the item of the key.
 */
export const createPayloadLog =
  ({ settings, put }: { settings: PayloadLogStore; put: PutObject }): LogPayload =>
  async (exchange) => {
    const { organization, keyId, requestId } = exchange;
    const current = await settings.ofKey(organization, keyId);
    if (!current?.enabled) return;
    const body = await compress(JSON.stringify(payloadOf(exchange, current, current.retention_days)));
    const tags = { [RETENTION_TAG]: retentionTagOf(current.retention_days) };
    await put({ key: payloadKeyOf(organization, requestId), body, contentType: 'application/gzip', tags });
  };
