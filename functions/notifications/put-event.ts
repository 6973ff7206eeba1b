import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { Notification } from '../../shared/notifications/notification.ts';

const MAX_SDK_ATTEMPTS = 2;
const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 5_000;

/** The source of the events. */
export const TICKET_SOURCE = 'sluice.tickets';

/** Puts a notification on a bus. A repetition has the same id in its detail. @throws Error; the SDK's errors */
export type PutEvent = (notification: Notification) => Promise<void>;

/** EventBridge's default bus (https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html). */
export const createPutEvent = (): PutEvent => {
  const client = new EventBridgeClient({
    maxAttempts: MAX_SDK_ATTEMPTS,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    }),
  });
  return async ({ id, type, organization, at, data }) => {
    const { Entries = [] } = await client.send(
      new PutEventsCommand({
        Entries: [{ Source: TICKET_SOURCE, DetailType: type, Time: new Date(at), Detail: JSON.stringify({ id, organization, ...data }) }],
      }),
    );
    // The call succeeds even if an entry fails.
    const [failed] = Entries.filter(({ ErrorCode }) => ErrorCode !== undefined);
    if (failed) throw new Error(`EventBridge did not take ${id}: ${failed.ErrorCode} ${failed.ErrorMessage ?? ''}`);
  };
};
