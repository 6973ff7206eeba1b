import * as z from 'zod';
import type { RetentionDays } from './settings.ts';

// A string if it isn't JSON.
const Content = z.object({
  content: z.unknown(),
  /** A part was left out because it was too large. */
  is_truncated: z.boolean(),
});

/** The content of a request and of its reply, after redaction, as the bucket has it. */
export const Payload = z.object({
  request_id: z.string(),
  api_key_id: z.string(),
  route: z.string(),
  /** Unix times in seconds. */
  created_at: z.int(),
  expires_at: z.int(),
  request: Content,
  response: Content.extend({ status: z.int(), stream: z.boolean() }),
  /** The number of replacements of each kind of content. */
  redactions: z.record(z.string(), z.int()),
});
export type Payload = z.infer<typeof Payload>;

/** The keys of all payloads of an organization begin with this. */
export const payloadPrefix = (organization: string): string => `${organization}/`;

/** The key of a request's payload in the bucket: gzipped JSON under the organization's prefix. */
export const payloadKeyOf = (organization: string, requestId: string): string => `${payloadPrefix(organization)}${requestId}.json.gz`;

/** The object tag that decides when the bucket deletes a payload. */
export const RETENTION_TAG = 'retention-days';

/** The value of a tag as lifecycle rules have it. */
export const retentionTagOf = (days: RetentionDays): string => String(days);
