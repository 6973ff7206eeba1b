import type { MessageQueue } from '../../shared/aws/message-queue.ts';

// Messages of one deployment within a slot are one, so that the messages that passes send never multiply.
const SLOT_MS = 15_000;

/** Queues passes. */
export interface Reconciliations {
  /** Queues a pass over a deployment, in about 15 s. */
  send(deploymentId: string, nowMs: number): Promise<void>;
}

/** Queues passes in a FIFO queue. @param queue delays each message by 15 s */
export const createReconciliations = (queue: MessageQueue): Reconciliations => ({
  send: (deploymentId, nowMs) =>
    queue.send({
      body: JSON.stringify({ reconcile: deploymentId }),
      group: deploymentId,
      deduplicationId: `${deploymentId}-${Math.floor(nowMs / SLOT_MS)}`,
    }),
});
