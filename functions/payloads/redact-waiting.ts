import type { SQSRecord } from 'aws-lambda';
import { logError } from '../../shared/logging/log.ts';
import type { MessageWork } from '../../shared/middleware/queue-messages.ts';
import { readExchange } from '../../shared/payload-log/exchange.ts';
import type { PayloadPlaces } from '../../shared/payload-log/payload-places.ts';
import type { PayloadLogStore } from '../../shared/payload-log/settings-store.ts';
import { readMessage, unredactedKeyOf } from '../../shared/payload-log/waiting-payloads.ts';
import type { WritePayload } from '../../shared/payload-log/write-payload.ts';
import type { UnredactedObjects } from './unredacted-objects.ts';

export interface PayloadsDependencies {
  settings: PayloadLogStore;
  objects: UnredactedObjects;
  waiting: PayloadPlaces;
  write: WritePayload;
}

/**
 * The payloads of the queue. Each is redacted and written, unless its owner has switched the log off meanwhile, and
 * its content before redaction is deleted. To do that twice does nothing more.
 */
export const redactWaiting = ({ settings, objects, waiting, write }: PayloadsDependencies): MessageWork<SQSRecord> => ({
  read: (record) => record,
  handle: async ({ body }) => {
    const payload = readMessage(body);
    const { organization, requestId } = payload;
    const key = unredactedKeyOf(payload);
    const content = await objects.get(key);
    if (!content) {
      logError('queued_payload_gone', 'The content of a payload is gone.', { request_id: requestId, org_id: organization });
      return;
    }
    const exchange = readExchange(content);
    const current = await settings.ofKey(organization, exchange.keyId);
    if (current?.enabled) await write.redacted(exchange, current);
    await waiting.release(payload);
    await objects.delete(key);
  },
  failure: 'queued_payload_failed',
  factsOf: ({ attributes, messageId }) => ({ org_id: attributes.MessageGroupId, message_id: messageId }),
});
