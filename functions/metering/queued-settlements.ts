import type { SQSRecord } from 'aws-lambda';
import { logError, logInfo } from '../../shared/logging/log.ts';
import type { MessageWork } from '../../shared/middleware/queue-messages.ts';
import { readMessage } from '../../shared/usage/settlement-queue.ts';
import { type Settling, settleQueued } from './settle-queued.ts';

/** Processes messages of the queue of settlements. Those of one request are a group. */
export const queuedSettlements = (deps: Settling): MessageWork<SQSRecord> => ({
  read: (record) => record,
  handle: async ({ body }) => {
    const settlement = readMessage(body);
    const { request_id, key_id, outcome } = settlement.event;
    const settled = await settleQueued(deps, settlement);
    if (settled === 'settled' && outcome === 'orphaned')
      logError('orphaned', 'The function crashed while a request was in flight.', { request_id, key_id });
    else logInfo('settlement', { request_id, key_id, outcome, settled });
  },
  failure: 'queued_settlement_failed',
  factsOf: ({ attributes }) => ({ group: attributes.MessageGroupId }),
});
