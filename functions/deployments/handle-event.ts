import type { SQSBatchResponse } from 'aws-lambda';
import type { DeploymentState } from '../../shared/deployments/state.ts';
import type { DeploymentFindings, DeploymentToValidate } from '../../shared/deployments/validation.ts';
import { logError, logInfo } from '../../shared/logging/log.ts';
import { countStates } from './count-states.ts';
import { deploymentOf, readEvent } from './events.ts';
import type { PassOutcome } from './reconcile/reconcile.ts';
import type { Reconciliations } from './reconciliations.ts';

export interface Handling {
  reconcile: (id: string) => Promise<PassOutcome>;
  validate: (question: DeploymentToValidate) => Promise<DeploymentFindings>;
  reconciliations: Reconciliations;
  /** The ids of all deployments that are not deleted. */
  listLive: () => AsyncIterable<string>;
  /** The state of a deployment; undefined if it does not exist. */
  stateOf: (id: string) => Promise<DeploymentState | undefined>;
  /** The prefix of this installation's names. */
  installation: string;
  now: () => number;
  hasTime: () => boolean;
}

/** Messages that are sent at the same time. */
const BATCH = 25;

const reconcileMessages = async (deps: Handling, messages: readonly { messageId: string; id: string }[]): Promise<SQSBatchResponse> => {
  const failed: string[] = [];
  for (const { messageId, id } of messages) {
    try {
      if (!deps.hasTime()) throw new Error('The function ran out of time.');
      await deps.reconcile(id);
    } catch (error) {
      logError('reconciliation_failed', error, { deployment: id });
      failed.push(messageId);
    }
  }
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
};

/** Only a metric, so no pass depends on it. */
const logStates = async (deps: Handling, ids: readonly string[]): Promise<void> => {
  try {
    const states = await countStates(deps, ids);
    if (states) logInfo('deployments_counted', { states });
  } catch (error) {
    logError('deployments_not_counted', error);
  }
};

/** Sends a message for each deployment. What is not sent before the time is up is sent a minute later. */
const reconcileAll = async (deps: Handling): Promise<void> => {
  const { listLive, reconciliations, now, hasTime } = deps;
  const sent: string[] = [];
  let batch: string[] = [];
  const send = async (): Promise<void> => {
    await Promise.all(batch.map((id) => reconciliations.send(id, now())));
    sent.push(...batch);
    batch = [];
  };
  for await (const id of listLive()) {
    if (!hasTime()) break;
    if (batch.push(id) === BATCH) await send();
  }
  await send();
  logInfo('reconciliations_sent', { deployments: sent.length });
  await logStates(deps, sent);
};

/** @returns what the invoker gets: the findings of a validation, or the messages that must be delivered again */
export const handleEvent = async (deps: Handling, event: unknown): Promise<DeploymentFindings | SQSBatchResponse | undefined> => {
  const read = readEvent(event);
  switch (read.kind) {
    case 'reconcile':
      await deps.reconcile(read.id);
      return undefined;
    case 'validate':
      return deps.validate(read.question);
    case 'messages':
      return reconcileMessages(deps, read.messages);
    case 'endpoint_changed': {
      const id = deploymentOf(deps.installation, read.endpoint);
      if (id !== undefined) await deps.reconcile(id);
      return undefined;
    }
    case 'schedule':
      await reconcileAll(deps);
      return undefined;
  }
};
