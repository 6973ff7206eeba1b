import type { DeploymentState } from '../../shared/deployments/state.ts';
import type { DeploymentFindings, DeploymentToValidate } from '../../shared/deployments/validation.ts';
import { logError, logInfo } from '../../shared/logging/log.ts';
import type { MessageWork } from '../../shared/middleware/queue-messages.ts';
import { countStates } from './count-states.ts';
import { deploymentOf, readEvent, readMessage } from './events.ts';
import type { Pass } from './reconcile/reconcile.ts';
import type { Reconciliations } from './reconciliations.ts';

export interface HandlerDependencies {
  reconcile: (id: string, hasTime: () => boolean) => Promise<Pass>;
  /** Starts the deployment's benchmark if it waits for a function, and compares its requests with the result. */
  attendBenchmark: (id: string, pass: Pass) => Promise<void>;
  validate: (question: DeploymentToValidate) => Promise<DeploymentFindings>;
  reconciliations: Reconciliations;
  /** The ids of all deployments that are not deleted. */
  listLive: () => AsyncIterable<string>;
  /** The state of a deployment; undefined if it does not exist. */
  stateOf: (id: string) => Promise<DeploymentState | undefined>;
  /** The prefix of this installation's names. */
  installation: string;
  now: () => number;
}

type TimedDependencies = HandlerDependencies & { hasTime: () => boolean };

const PARALLEL_SENDS = 25;

type PassDependencies = Pick<HandlerDependencies, 'reconcile' | 'attendBenchmark'>;

// A pass that fails is repeated, and so is this.
const pass = async ({ reconcile, attendBenchmark }: PassDependencies, id: string, hasTime: () => boolean): Promise<void> => {
  await attendBenchmark(id, await reconcile(id, hasTime));
};

/** The work of the function's queue: each message has the id of a deployment. */
export const queuedReconciliations = (deps: PassDependencies): MessageWork<string> => ({
  read: ({ body }) => readMessage(body),
  handle: (id, hasTime) => pass(deps, id, hasTime),
  failure: 'reconciliation_failed',
  factsOf: (id) => ({ deployment: id }),
});

// It is only a metric, so no pass depends on it.
const logStates = async (deps: TimedDependencies, ids: readonly string[]): Promise<void> => {
  try {
    const states = await countStates(deps, ids);
    if (states) logInfo('deployments_counted', { states });
  } catch (error) {
    logError('deployments_not_counted', error);
  }
};

// Deployments that are left when the time ends get a message a minute later.
const reconcileAll = async (deps: TimedDependencies): Promise<void> => {
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
    if (batch.push(id) === PARALLEL_SENDS) await send();
  }
  await send();
  logInfo('reconciliations_sent', { deployments: sent.length });
  await logStates(deps, sent);
};

/** Handles an event that is not the queue's. @returns the findings of a validation, for the invoker */
export const handleEvent = async (
  deps: HandlerDependencies,
  event: unknown,
  hasTime: () => boolean,
): Promise<DeploymentFindings | undefined> => {
  const read = readEvent(event);
  switch (read.kind) {
    case 'reconcile':
      await pass(deps, read.id, hasTime);
      return undefined;
    case 'validate':
      return deps.validate(read.question);
    case 'endpoint_changed': {
      const id = deploymentOf(deps.installation, read.endpoint);
      if (id !== undefined) await pass(deps, id, hasTime);
      return undefined;
    }
    case 'schedule':
      await reconcileAll({ ...deps, hasTime });
      return undefined;
  }
};
