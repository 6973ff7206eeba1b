import { createHmac } from 'node:crypto';
import { SECRET_PREFIX, type Webhook } from '../../../shared/notifications/webhook.ts';
import { unixSeconds } from '../../../shared/time/units.ts';

const signature = (secret: string, content: string): string => {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
};

/**
 * The headers of an attempt by Standard Webhooks
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md). During the overlap of a
 * rotation, both secrets sign.
 */
export const signedHeaders = (
  { secret, previous_secret, previous_secret_until }: Webhook,
  { event, body }: { event: string; body: string },
  nowMs: number,
): Record<string, string> => {
  const timestamp = unixSeconds(nowMs);
  const isOverlapping = previous_secret !== null && previous_secret_until !== null && previous_secret_until > nowMs;
  const secrets = isOverlapping ? [secret, previous_secret] : [secret];
  return {
    'webhook-id': event,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((key) => signature(key, `${event}.${timestamp}.${body}`)).join(' '),
  };
};
