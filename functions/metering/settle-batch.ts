import type { SQSBatchResponse, SQSRecord } from 'aws-lambda';
import { logError, logInfo } from '../../shared/logging/log.ts';
import { readMessage } from '../../shared/usage/settlement-queue.ts';
import { type Settling, settleQueued } from './settle-queued.ts';

type Message = Pick<SQSRecord, 'messageId' | 'body'> & { attributes: Pick<SQSRecord['attributes'], 'MessageGroupId'> };

const settleMessage = async (deps: Settling, body: string): Promise<void> => {
  const settlement = readMessage(body);
  const { request_id, key_id, outcome } = settlement.event;
  const settled = await settleQueued(deps, settlement);
  if (settled === 'settled' && outcome === 'orphaned')
    logError('orphaned', 'The function crashed while a request was in flight.', { request_id, key_id });
  else logInfo('settlement', { request_id, key_id, outcome, settled });
};

/**
 * Settles a batch of queued settlements. After a failure, the later messages of the same request are not processed, so that their order stays.
 * @returns the messages to deliver again (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html)
 */
export const settleBatch = async (deps: Settling, messages: readonly Message[], hasTime: () => boolean): Promise<SQSBatchResponse> => {
  const failed: string[] = [];
  const blocked = new Set<string | undefined>();
  for (const { messageId, body, attributes } of messages) {
    const { MessageGroupId: group } = attributes;
    try {
      if (blocked.has(group)) throw new Error('An earlier settlement of this request failed.');
      if (!hasTime()) throw new Error('The function ran out of time.');
      await settleMessage(deps, body);
    } catch (error) {
      logError('queued_settlement_failed', error, { group });
      failed.push(messageId);
      blocked.add(group);
    }
  }
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
};
