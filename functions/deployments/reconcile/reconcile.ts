import { isDeepStrictEqual } from 'node:util';
import type { AuditStore } from '../../../shared/audit/audit-store.ts';
import { commit } from '../../../shared/audit/commit.ts';
import { systemOrigin } from '../../../shared/audit/origin.ts';
import type { Database } from '../../../shared/database/database.ts';
import { transact, type Write } from '../../../shared/database/transaction.ts';
import { type Deployment, isActive, type Start } from '../../../shared/deployments/deployment.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { isTransitional, SERVING } from '../../../shared/deployments/state.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import { ModelExists } from '../../../shared/models/errors.ts';
import type { ModelStore } from '../../../shared/models/model-store.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import { isRetryable } from '../aws/errors.ts';
import { MeteringFailed } from '../gpu-time/gpu-time.ts';
import { reasonFor } from '../reasons.ts';
import type { Reconciliations } from '../reconciliations.ts';
import { PASS_MS } from './generations.ts';
import { type InventoryRows, isNameInUse, readInventory, toRemoveFromInventory, toUpdateInventory } from './inventory.ts';
import { isStarting, type MeterPass, runningInstances } from './metering.ts';
import { isIdle, type Use } from './next-state.ts';
import { type AwsReader, type Observed, observe } from './observe.ts';
import { type AwsWriter, perform } from './perform.ts';
import { isProvenEmpty, type Plan, planPass } from './plan.ts';
import { withRejections } from './rejections.ts';
import { stateNotification } from './state-notification.ts';

export interface Reconciling {
  database: Database;
  deployments: DeploymentStore;
  models: ModelStore;
  audit: AuditStore;
  outbox: Outbox;
  aws: Omit<AwsReader, 'installation'> & AwsWriter;
  meterPass: MeterPass;
  /**
   * Repeats an attempt while requests use the credit that it was about to take. `canDraw` is false for the last one.
   */
  repeatForCredit: <Result>(attempt: (canDraw: boolean) => Promise<Result>) => Promise<Result>;
  /** When the last known request to a deployment ended. */
  lastEventAt: (deployment: Deployment) => Promise<number | undefined>;
  /** How long after the end of a request `lastEventAt` knows of it at the latest. */
  usageLagMs: number;
  /** Whether requests for a deployment are in flight or wait for it. */
  isInUse: (deployment: Deployment) => Promise<boolean>;
  /** Records how long a wake took, for predictions about other deployments on the same type. */
  recordStart: (instanceType: string, start: Start) => Promise<void>;
  reconciliations: Reconciliations;
  /** Has the alerts of an organization evaluated whose deployment has used credit. */
  evaluateAlerts: (organization: string) => Promise<void>;
  now: () => number;
}

/**
 * What became of a pass. `settled`: nothing of it is on AWS, and nothing should be. `overtaken`: another change of
 * the row came first, whose pass follows. `delayed`: AWS or the database did not answer, so a later pass tries again.
 */
export type PassOutcome = 'done' | 'unknown' | 'settled' | 'overtaken' | 'delayed';

/** Whether nothing can have changed: the deployment is deleted, or nothing of it is on AWS nor should be. */
const isSettled = (deployment: Deployment, nowMs: number): boolean => {
  const { wanted, state, generations } = deployment;
  if (state === 'deleted' || (wanted === 'stopped' && state === 'stopped')) return true;
  return wanted === 'running' && state === 'failed' && !generations.some(isActive) && isProvenEmpty(deployment, nowMs);
};

const readUse = async ({ lastEventAt, usageLagMs, isInUse }: Reconciling, deployment: Deployment, nowMs: number): Promise<Use> => {
  const unused = { isInUse: false, lagMs: usageLagMs };
  if (!SERVING.includes(deployment.state)) return unused;
  const use = { ...unused, lastEventAtMs: await lastEventAt(deployment) };
  return isIdle(deployment, use, nowMs) ? { ...use, isInUse: await isInUse(deployment) } : use;
};

/** A pass with everything that it has read and planned. */
interface Pass extends Plan {
  before: Deployment;
  rows: InventoryRows;
  writes: readonly Write[];
}

/** What a pass has read. */
interface Read {
  before: Deployment;
  observed: Observed;
  rows: InventoryRows;
  use: Use;
  nowMs: number;
}

const read = async (deps: Reconciling, before: Deployment): Promise<Read> => {
  const { aws, models } = deps;
  const [observed, rows] = await Promise.all([
    observe({ ...aws, installation: aws.installation.name }, before),
    readInventory(models, before),
  ]);
  const nowMs = deps.now();
  return { before, observed, rows, nowMs, use: await readUse(deps, before, nowMs) };
};

/** Meters GPU time, then plans: without credit, the deployment is stopped, until its owner starts it again. */
const plan = async (meterPass: MeterPass, { before, observed, rows, use, nowMs }: Read, canDraw: boolean): Promise<Pass> => {
  const running = runningInstances(before, observed);
  const { meter, writes, stop, warning } = await meterPass({ deployment: before, running, nowMs, isStarting: isStarting(before), canDraw });
  const isStopped = stop !== undefined && before.wanted === 'running';
  const { meter: _, ...unmetered } = before;
  const metered: Deployment = {
    ...unmetered,
    ...(meter && { meter }),
    ...(isStopped && { wanted: 'stopped' as const, reason: reasonFor(stop) }),
  };
  const look = { observed, use, isNameInUse: isNameInUse(before, rows), isCreditLow: warning !== undefined, nowMs };
  return { before, rows, writes, ...planPass(metered, look) };
};

/**
 * Makes the writes of a pass. What it does on its own instead of the owner, a stop without credit, is in the owner's
 * audit log.
 */
const write = (deps: Reconciling, { before, next }: Pass, writes: readonly Write[]): Promise<void> => {
  if (next.wanted === before.wanted) return transact(deps.database, writes);
  const { id, organization } = before;
  const change = {
    action: 'deployment.stopped',
    organization,
    target: { type: 'deployment', id },
    reason: next.reason?.message ?? null,
    before: { wanted: before.wanted },
    after: { wanted: next.wanted },
  };
  return commit(deps, systemOrigin('deployments', deps.now()), change, writes);
};

/**
 * Stores what the pass has found, in one transaction: the row with its lock, GPU time, the inventory, and the
 * notification of a new state.
 */
const store = async (deps: Reconciling, pass: Pass): Promise<Deployment> => {
  const { deployments, models, aws, outbox } = deps;
  const { before, next, rows, writes } = pass;
  const isDeleted = next.state === 'deleted';
  const inventory = isDeleted
    ? await toRemoveFromInventory(models, next, rows)
    : toUpdateInventory(models, aws.installation.name, next, rows);
  const cleared = isDeleted ? deployments.toClear(next) : [];
  if (isDeepStrictEqual(before, next) && inventory.length === 0 && writes.length === 0) return next;
  const notification = stateNotification(before, next);
  const notified = notification ? [outbox.toEmit(notification)] : [];
  await write(deps, pass, [deployments.toReplace(next), ...cleared, ...writes, ...inventory, ...notified]);
  return { ...next, version: next.version + 1 };
};

const withoutMetering: MeterPass = async ({ deployment: { meter } }) => ({ meter, writes: [] });

/**
 * Plans and stores. If GPU time can't be metered, the pass goes on without it: a deployment that could be neither
 * stopped nor deleted would cost more than the time that is not charged.
 */
const planAndStore = async (deps: Reconciling, found: Read): Promise<{ planned: Pass; stored: Deployment }> => {
  const attempt = async (meterPass: MeterPass, canDraw: boolean) => {
    const planned = await plan(meterPass, found, canDraw);
    return { planned, stored: await store(deps, planned) };
  };
  try {
    return await deps.repeatForCredit((canDraw) => attempt(deps.meterPass, canDraw));
  } catch (error) {
    if (!(error instanceof MeteringFailed)) throw error;
    logError('gpu_time_not_metered', error, { deployment: found.before.id, organization: found.before.organization });
    return attempt(withoutMetering, false);
  }
};

/** Only statistics, so no call of AWS waits for them to succeed. */
const recordWakes = async ({ recordStart }: Reconciling, { before, started, next }: Pass): Promise<void> => {
  const [type] = before.meter?.running.map(({ instance_type }) => instance_type) ?? [];
  const [first = ''] = next.generations.at(-1)?.instance_types ?? [];
  const wakes = started.filter(({ kind }) => kind === 'wake').map((start) => recordStart(type ?? first, start));
  await Promise.all(wakes).catch((error: unknown) => logError('start_not_recorded', error, { deployment: next.id }));
};

/**
 * What the pass has stored is true, whether or not its organization can be alerted now: the next use of credit
 * evaluates again.
 */
const alertOfCredit = async ({ evaluateAlerts }: Reconciling, { before, writes }: Pass): Promise<void> => {
  if (writes.length === 0) return;
  const { id: deployment, organization } = before;
  await evaluateAlerts(organization).catch((error: unknown) => logError('alerts_not_evaluated', error, { deployment, organization }));
};

const pass = async (deps: Reconciling, before: Deployment): Promise<Deployment> => {
  const until = deps.now() + PASS_MS;
  const found = await read(deps, before);
  const { planned, stored } = await planAndStore(deps, found);
  if (stored.state !== before.state)
    logInfo('deployment_state', { deployment: stored.id, state: stored.state, reason: stored.reason?.code });
  await recordWakes(deps, planned);
  await alertOfCredit(deps, planned);
  const rejections = await perform({ ...deps.aws, hasTime: () => deps.aws.hasTime() && deps.now() < until }, stored, planned.calls);
  const noted = withRejections(stored, rejections, deps.now());
  if (noted !== stored) await transact(deps.database, [deps.deployments.toReplace(noted)]);
  // Each pass that has made a call is followed by one that sees its effect.
  const isBeingRemoved = stored.state === 'failed' && stored.empty_since === undefined;
  if (isTransitional(stored.state) || isBeingRemoved || planned.calls.length > 0) await deps.reconciliations.send(stored.id, deps.now());
  return noted;
};

/** Another change came first: of the row, or of the model that leads to it. */
const isOvertaken = (error: unknown): boolean => error instanceof PreconditionFailed || error instanceof ModelExists;

/**
 * One pass of the reconciler over a deployment: reads its row, looks at AWS, stores what follows, makes the next
 * calls, and sends the next message while the deployment is on its way. Passes can be lost, repeated, and run at the
 * same time.
 * @throws errors that another attempt can't be expected to solve
 */
export const reconcile = async (deps: Reconciling, id: string): Promise<PassOutcome> => {
  const before = await deps.deployments.find(id);
  if (!before) return 'unknown';
  if (isSettled(before, deps.now())) return 'settled';
  try {
    await pass(deps, before);
    return 'done';
  } catch (error) {
    if (!isOvertaken(error) && !isRetryable(error)) throw error;
    logError('pass_ended', error, { deployment: id });
    await deps.reconciliations.send(id, deps.now());
    return isOvertaken(error) ? 'overtaken' : 'delayed';
  }
};
