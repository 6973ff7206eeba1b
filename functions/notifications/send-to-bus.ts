import type { Outbox } from '../../shared/notifications/outbox.ts';
import type { QueuedWork } from './messages.ts';
import type { PutEvent } from './put-event.ts';

export interface BusDependencies {
  outbox: Pick<Outbox, 'find'>;
  /** Puts an event on EventBridge's bus; undefined if that is not configured. */
  putEvent: PutEvent | undefined;
}

/** Puts a notification on EventBridge's bus, unless it has expired. @throws Error; the SDK's errors */
export const sendToBus = async (
  { outbox, putEvent }: BusDependencies,
  { organization, bus_event }: Extract<QueuedWork, { bus_event: string }>,
): Promise<void> => {
  const notification = await outbox.find(organization, bus_event);
  if (notification) await putEvent?.(notification);
};
