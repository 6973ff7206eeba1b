import { isDeepStrictEqual } from 'node:util';
import type { AuditStore } from '../../../shared/audit/audit-store.ts';
import { commit } from '../../../shared/audit/commit.ts';
import { systemOrigin } from '../../../shared/audit/origin.ts';
import { transact, type Write } from '../../../shared/database/transaction.ts';
import type { WorkShares } from '../../../shared/database/work-shares.ts';
import { type Deployment, isActive, type Start } from '../../../shared/deployments/deployment.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { openShadow } from '../../../shared/deployments/shadow.ts';
import type { ShadowStore } from '../../../shared/deployments/shadow-store.ts';
import { isTransitional, SERVING } from '../../../shared/deployments/state.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import { ModelExists } from '../../../shared/models/errors.ts';
import type { ModelStore } from '../../../shared/models/model-store.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import type { Price } from '../../../shared/prices/price.ts';
import { isRetryable } from '../aws/errors.ts';
import { MeteringFailed, type MeterPass } from '../gpu-time/gpu-time.ts';
import { reasonFor } from '../reasons.ts';
import type { Reconciliations } from '../reconciliations.ts';
import { adapterTraffic, hasAdapterWork, isChangingAdapters } from './adapters.ts';
import { type AppliedSchedule, applySchedule, type ScheduleDependencies, withSchedule } from './apply-schedule.ts';
import { PASS_MS } from './generations.ts';
import { type InventoryRows, isNameInUse, namesInUse, readInventory, toRemoveFromInventory, toUpdateInventory } from './inventory.ts';
import { isIdle, type Use } from './next-state.ts';
import { type AwsReader, type Observed, observe } from './observe.ts';
import { packNext } from './pack-next.ts';
import { notificationsOf } from './pass-notifications.ts';
import { type AwsWriter, perform } from './perform.ts';
import { isProvenEmpty, type Plan, planPass } from './plan.ts';
import { withRejections } from './rejections.ts';
import { isStarting, runningInstances } from './running-instances.ts';

export interface ReconcileDependencies extends Omit<ScheduleDependencies, 'deployments'> {
  deployments: DeploymentStore;
  models: ModelStore;
  audit: AuditStore;
  outbox: Outbox;
  aws: Omit<AwsReader, 'installation'> & AwsWriter;
  /** The surcharges on the tokens of all adapters. */
  adapterPrices: () => Promise<readonly Price[]>;
  meterPass: MeterPass;
  /** Repeats an attempt while requests use the credit that it is about to take. `canDraw` is false for the last one. */
  repeatForCredit: <Result>(attempt: (canDraw: boolean) => Promise<Result>) => Promise<Result>;
  /** The end of the last known request to a deployment. */
  lastEventAt: (deployment: Deployment) => Promise<number | undefined>;
  /** The longest time from the end of a request until `lastEventAt` knows it. */
  usageLagMs: number;
  /** True if requests for a deployment are in flight or wait for it. */
  isInUse: (deployment: Deployment) => Promise<boolean>;
  shadows: Pick<ShadowStore, 'read'>;
  packingShares: WorkShares;
  /** Records the duration of a wake, to predict those of other deployments on the same type. */
  recordStart: (instanceType: string, start: Start) => Promise<void>;
  reconciliations: Reconciliations;
  /** Queues an evaluation of the organization's alerts, after its deployment has used credit. */
  evaluateAlerts: (organization: string) => Promise<void>;
}

/**
 * Outcome of a pass. `settled`: no AWS resources exist or should. `overtaken`: another write to the row won, and its
 * own pass follows. `delayed`: AWS or the database did not reply, so a later pass tries again.
 */
export type PassOutcome = 'done' | 'unknown' | 'settled' | 'overtaken' | 'delayed';

// Nothing can change any more: the deployment is deleted, or it has nothing on AWS and should have nothing.
const isSettled = (deployment: Deployment, nowMs: number): boolean => {
  const { wanted, state, generations } = deployment;
  if (state === 'deleted') return true;
  if (hasAdapterWork(deployment)) return false;
  if (wanted === 'stopped' && state === 'stopped') return true;
  return wanted === 'running' && state === 'failed' && !generations.some(isActive) && isProvenEmpty(deployment, nowMs);
};

const readUse = async (
  { lastEventAt, usageLagMs, isInUse }: ReconcileDependencies,
  { stored: deployment, scheduled }: AppliedSchedule,
  nowMs: number,
): Promise<Use> => {
  const unused = { isInUse: false, isWindowOver: deployment.scheduled !== undefined && !scheduled, lagMs: usageLagMs };
  if (!SERVING.includes(deployment.state)) return unused;
  const use = { ...unused, lastEventAtMs: await lastEventAt(deployment) };
  // Before it may sleep: the end of a request that is in flight now can still be unknown then.
  const isNearlyIdle = !scheduled && isIdle(deployment, { ...use, lagMs: 0 }, nowMs);
  return isNearlyIdle ? { ...use, isInUse: await isInUse(deployment) } : use;
};

// A comparison that is not kept any more can't go on.
const readShadow = async ({ shadows }: ReconcileDependencies, deployment: Deployment): Promise<boolean> => {
  const open = openShadow(deployment);
  if (!open) return false;
  const { requests = open.max_requests, isUsedUp = true } = (await shadows.read(deployment.id, open.number)) ?? {};
  return isUsedUp || requests >= open.max_requests;
};

interface PlannedPass extends Plan {
  before: Deployment;
  observed: Observed;
  rows: InventoryRows;
  surcharges: readonly Price[];
  writes: readonly Write[];
}

interface Snapshot {
  before: Deployment;
  schedule: AppliedSchedule;
  observed: Observed;
  rows: InventoryRows;
  surcharges: readonly Price[];
  use: Use;
  isShadowUsedUp: boolean;
  nowMs: number;
}

const takeSnapshot = async (deps: ReconcileDependencies, found: Deployment): Promise<Snapshot> => {
  const { aws, models, adapterPrices } = deps;
  const schedule = await applySchedule(deps, found);
  const { stored: before } = schedule;
  const [observed, rows, surcharges, isShadowUsedUp] = await Promise.all([
    observe({ ...aws, installation: aws.installation.name }, before),
    readInventory(models, before),
    before.adapters ? adapterPrices() : [],
    readShadow(deps, before),
  ]);
  const nowMs = deps.now();
  return { before, schedule, observed, rows, surcharges, nowMs, isShadowUsedUp, use: await readUse(deps, schedule, nowMs) };
};

// Without credit, the deployment is stopped until its owner starts it again.
const meterAndPlan = async (
  meterPass: MeterPass,
  { before, schedule, observed, rows, surcharges, use, isShadowUsedUp, nowMs }: Snapshot,
  canDraw: boolean,
): Promise<PlannedPass> => {
  const running = runningInstances(before, observed);
  const { meter, writes, stop, warning } = await meterPass({ deployment: before, running, nowMs, isStarting: isStarting(before), canDraw });
  const isStopped = stop !== undefined && before.wanted === 'running';
  const { meter: _, ...unmetered } = before;
  const metered: Deployment = {
    ...withSchedule(unmetered, schedule),
    ...(meter && { meter }),
    ...(isStopped && { wanted: 'stopped' as const, reason: reasonFor(stop) }),
  };
  const names = { isNameInUse: isNameInUse(before, rows), namesInUse: namesInUse(before, rows) };
  const canMeter = meterPass !== withoutMetering;
  const input = { observed, use, ...names, isCreditLow: warning !== undefined, isShadowUsedUp, canMeter, nowMs };
  return { before, observed, rows, surcharges, writes, ...planPass(metered, input) };
};

// A stop without credit is the system's decision, so it is recorded in the owner's audit log.
const write = (deps: ReconcileDependencies, { before, next }: PlannedPass, writes: readonly Write[]): Promise<void> => {
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

// One transaction: the row with its lock, GPU time, the inventory, and the notification of a new state.
const store = async (deps: ReconcileDependencies, pass: PlannedPass): Promise<Deployment> => {
  const { deployments, models, aws, outbox } = deps;
  const { before, next, observed, rows, surcharges, writes } = pass;
  const isDeleted = next.state === 'deleted';
  const inventory = isDeleted
    ? await toRemoveFromInventory(models, next, rows)
    : await toUpdateInventory(models, aws.installation.name, next, rows, {
        trafficOf: (id) => adapterTraffic(next, observed, id),
        surcharges,
      });
  const gone = (before.adapters ?? []).filter(({ id }) => !next.adapters?.some((other) => other.id === id));
  const cleared = [...(isDeleted ? deployments.toClear(next) : []), ...gone.map((adapter) => deployments.toFreeName(next, adapter))];
  if (isDeepStrictEqual(before, next) && inventory.length === 0 && writes.length === 0) return next;
  const notified = notificationsOf(before, next, deps.now()).map(outbox.toEmit);
  await write(deps, pass, [deployments.toReplace(next), ...cleared, ...writes, ...inventory, ...notified]);
  return { ...next, version: next.version + 1 };
};

const withoutMetering: MeterPass = async ({ deployment: { meter } }) => ({ meter, writes: [] });

// If GPU time can't be metered, the pass continues without it: a deployment that could be neither stopped nor deleted
// would cost more than the uncharged time.
const planAndStore = async (deps: ReconcileDependencies, snapshot: Snapshot): Promise<{ planned: PlannedPass; stored: Deployment }> => {
  const attempt = async (meterPass: MeterPass, canDraw: boolean) => {
    const planned = await meterAndPlan(meterPass, snapshot, canDraw);
    return { planned, stored: await store(deps, planned) };
  };
  try {
    return await deps.repeatForCredit((canDraw) => attempt(deps.meterPass, canDraw));
  } catch (error) {
    if (!(error instanceof MeteringFailed)) throw error;
    logError('gpu_time_not_metered', error, { deployment: snapshot.before.id, organization: snapshot.before.organization });
    return attempt(withoutMetering, false);
  }
};

// Best effort: statistics must not delay AWS calls.
const recordWakes = async ({ recordStart }: ReconcileDependencies, { before, started, next }: PlannedPass): Promise<void> => {
  const [type] = before.meter?.running.map(({ instance_type }) => instance_type) ?? [];
  const [first = ''] = next.generations.at(-1)?.instance_types ?? [];
  const wakes = started.filter(({ kind }) => kind === 'wake').map((start) => recordStart(type ?? first, start));
  await Promise.all(wakes).catch((error: unknown) => logError('start_not_recorded', error, { deployment: next.id }));
};

// A failed alert is not retried here: the next credit use evaluates alerts again.
const alertOfCredit = async ({ evaluateAlerts }: ReconcileDependencies, { before, writes }: PlannedPass): Promise<void> => {
  if (writes.length === 0) return;
  const { id: deployment, organization } = before;
  await evaluateAlerts(organization).catch((error: unknown) => logError('alerts_not_evaluated', error, { deployment, organization }));
};

const runPass = async (deps: ReconcileDependencies, found: Deployment): Promise<Deployment> => {
  const startMs = deps.now();
  const until = startMs + PASS_MS;
  const snapshot = await takeSnapshot(deps, found);
  const { before } = snapshot;
  const { planned, stored } = await planAndStore(deps, snapshot);
  if (stored.state !== before.state)
    logInfo('deployment_state', { deployment: stored.id, state: stored.state, reason: stored.reason?.code });
  await recordWakes(deps, planned);
  await alertOfCredit(deps, planned);
  const rejections = await perform({ ...deps.aws, hasTime: () => deps.aws.hasTime() && deps.now() < until }, stored, planned.calls);
  const noted = withRejections(stored, rejections, deps.now());
  if (noted !== stored) await transact(deps.database, [deps.deployments.toReplace(noted)]);
  // Each pass that has made a call is followed by one that sees its effect.
  const isBeingRemoved = stored.state === 'failed' && stored.empty_since === undefined;
  const goesOn = isTransitional(stored.state) || isBeingRemoved || isChangingAdapters(stored) || planned.calls.length > 0;
  if (goesOn) await deps.reconciliations.send(stored.id, deps.now());
  await packNext(deps, stored, startMs);
  return noted;
};

// The row or the deployment's model was changed meanwhile.
const isOvertaken = (error: unknown): boolean => error instanceof PreconditionFailed || error instanceof ModelExists;

/** A pass, and the deployment after it, if it was done. */
export interface Pass {
  outcome: PassOutcome;
  deployment?: Deployment;
}

/**
 * Reconciles a deployment once: reads its row, observes AWS, stores the next row, makes the next calls, and queues the
 * next pass while the deployment's state is transitional. Passes can be lost, repeated, and run in parallel.
 * @throws errors that another attempt is not expected to solve
 */
export const reconcile = async (deps: ReconcileDependencies, id: string): Promise<Pass> => {
  const before = await deps.deployments.find(id);
  if (!before) return { outcome: 'unknown' };
  if (isSettled(before, deps.now())) return { outcome: 'settled' };
  try {
    return { outcome: 'done', deployment: await runPass(deps, before) };
  } catch (error) {
    if (!isOvertaken(error) && !isRetryable(error)) throw error;
    logError('pass_ended', error, { deployment: id });
    await deps.reconciliations.send(id, deps.now());
    return { outcome: isOvertaken(error) ? 'overtaken' : 'delayed' };
  }
};
