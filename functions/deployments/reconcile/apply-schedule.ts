import type { Database } from '../../../shared/database/database.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { type Deployment, isActive, leastCopies, type Scheduled } from '../../../shared/deployments/deployment.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { windowTimes } from '../../../shared/deployments/schedule.ts';
import { MAX_LEAD_MS, predictStart, windowLeadMs } from '../../../shared/deployments/start-times.ts';
import { ASLEEP } from '../../../shared/deployments/state.ts';
import { type HoldStartCredit, OutOfCredit } from '../../../shared/gpu-time/start-credit.ts';
import { logInfo } from '../../../shared/logging/log.ts';

export interface ScheduleDependencies {
  database: Database;
  deployments: Pick<DeploymentStore, 'toReplace'>;
  holdStartCredit: HoldStartCredit;
  repeatForCredit: <Result>(attempt: (canDraw: boolean) => Promise<Result>) => Promise<Result>;
  isSuspended: (organization: string) => Promise<boolean>;
  /** Durations of the last wakes on an instance type, in seconds, of any deployment. */
  startSecondsOf: (instanceType: string) => Promise<readonly number[]>;
  now: () => number;
}

/** The windows for which a deployment runs in this pass. */
export interface AppliedSchedule {
  /** The row as it is stored now. */
  stored: Deployment;
  scheduled?: Scheduled | undefined;
  /** When the window opens for which the credit doesn't pay. */
  unpaidWindow?: number | undefined;
}

const leadOf = async ({ startSecondsOf }: ScheduleDependencies, { starts, generations }: Deployment): Promise<number> => {
  const [type] = generations.findLast(isActive)?.instance_types ?? [];
  const ofType = starts.length === 0 && type !== undefined ? await startSecondsOf(type) : [];
  return windowLeadMs(predictStart(starts, ofType));
};

/**
 * The windows that a deployment must run for: those that are open or open within `leadMs`, and those for which it has
 * begun, although its starts have become shorter since. Undefined: none.
 */
export const windowsToServe = (
  { schedule = [], scheduled, unpaid_window = 0 }: Pick<Deployment, 'schedule' | 'scheduled' | 'unpaid_window'>,
  leadMs: number,
  nowMs: number,
): Scheduled | undefined => {
  const times = windowTimes(schedule, nowMs, Math.max(nowMs + leadMs, scheduled?.starts_at ?? 0, unpaid_window));
  if (times.length === 0) return undefined;
  return { copies: Math.max(...times.map(({ minCopies }) => minCopies)), starts_at: Math.max(...times.map(({ startMs }) => startMs)) };
};

// More copies than now would have to start.
const startsCopies = (deployment: Deployment, scheduled: Scheduled): boolean =>
  ASLEEP.includes(deployment.state)
    ? scheduled.copies > (deployment.scheduled?.copies ?? 0)
    : leastCopies({ ...deployment, scheduled }) > leastCopies(deployment);

// One transaction: the row, and the credit for the start, as when a request wakes the deployment.
const admit = async (deps: ScheduleDependencies, before: Deployment, scheduled: Scheduled): Promise<Deployment> => {
  const { unpaid_window: _, ...rest } = before;
  const { copies } = before;
  const raised = { ...before, copies: { ...copies, min: leastCopies({ copies, scheduled }) } };
  const { meter, writes } = await deps.holdStartCredit(raised, deps.now());
  const admitted: Deployment = { ...rest, scheduled, ...(meter && { meter }) };
  await transact(deps.database, [deps.deployments.toReplace(admitted), ...writes]);
  logInfo('window_begun', { deployment: before.id, organization: before.organization, copies: scheduled.copies });
  return { ...admitted, version: before.version + 1 };
};

/**
 * Decides for which windows of its schedule a deployment runs, and holds the credit for copies that have to start:
 * without it, the deployment stays as it is. Windows of a deployment that its owner stopped, that has failed, or whose
 * organization is suspended don't count.
 * @throws PreconditionFailed if another write to the row came first
 */
export const applySchedule = async (deps: ScheduleDependencies, before: Deployment): Promise<AppliedSchedule> => {
  const { schedule = [], wanted, generations, organization, scheduled: earlier, unpaid_window: unpaidBefore } = before;
  if (schedule.length === 0 || wanted !== 'running' || !generations.some(isActive)) return { stored: before };
  const nowMs = deps.now();
  if (windowTimes(schedule, nowMs, nowMs + MAX_LEAD_MS).length === 0 || (await deps.isSuspended(organization))) return { stored: before };
  const scheduled = windowsToServe(before, await leadOf(deps, before), nowMs);
  if (!scheduled) return { stored: before };
  if (!startsCopies(before, scheduled)) return { stored: before, scheduled };
  try {
    const admitted = await deps.repeatForCredit(async (canDraw) => (canDraw ? admit(deps, before, scheduled) : undefined));
    // Requests used the credit each time; the next pass tries again.
    if (!admitted) return { stored: before, scheduled: earlier, unpaidWindow: unpaidBefore };
    return { stored: admitted, scheduled };
  } catch (error) {
    if (!(error instanceof OutOfCredit)) throw error;
    return { stored: before, scheduled: earlier, unpaidWindow: scheduled.starts_at };
  }
};

/** The row with the windows for which it runs in this pass. */
export const withSchedule = (deployment: Deployment, { scheduled, unpaidWindow }: AppliedSchedule): Deployment => {
  const { scheduled: _, unpaid_window: __, ...rest } = deployment;
  return { ...rest, ...(scheduled && { scheduled }), ...(unpaidWindow !== undefined && { unpaid_window: unpaidWindow }) };
};
