import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { ASLEEP } from '../../../shared/deployments/state.ts';
import { type HoldStartCredit, OutOfCredit, type StartCredit } from '../../../shared/gpu-time/start-credit.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { logError } from '../../../shared/logging/log.ts';
import type { Actor, ActorChecks } from '../access/actor.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import { auditedFields, type DeploymentResource } from './deployment-resource.ts';
import { DeploymentDeleted } from './errors.ts';
import { type DeploymentReads, toResources, visibleDeployment } from './find-deployment.ts';

export interface ChangeDependencies extends AuditDependencies, DeploymentReads {
  users: ActorChecks;
  organizations: OrganizationStore;
  holdStartCredit: HoldStartCredit;
  /** Queues a pass of the function `deployments` over a deployment. */
  reconcile: (id: string) => Promise<void>;
}

/** The deployment to change, and the versions in the request's If-Match. */
export interface DeploymentAddress {
  id: string;
  expected?: readonly number[] | undefined;
}

interface Change {
  action: string;
  /** Set for changes that save money: a suspended organization can make them too. */
  isOpenToSuspended?: true;
  /** Set for changes that fit any settings: they are repeated also after another request changed the settings. */
  fitsAnySettings?: true;
  /** The deployment after the change; the same object if there is nothing to change. */
  apply: (before: Deployment) => Deployment | Promise<Deployment>;
  writes?: (before: Deployment, after: Deployment) => readonly Write[] | Promise<readonly Write[]>;
}

// Requests that wake the deployment, and passes of the reconciler, can write first this often; then it returns 503.
const MAX_COMMIT_ATTEMPTS = 8;

/**
 * Queues a pass of the reconciler. If that fails, the next scheduled pass finds the change, so the request succeeds.
 */
export const reconcileSoon = async ({ reconcile }: Pick<ChangeDependencies, 'reconcile'>, id: string): Promise<void> => {
  try {
    await reconcile(id);
  } catch (error) {
    logError('reconciliation_not_requested', error, { deployment: id });
  }
};

const NO_CREDIT: StartCredit = { writes: [] };

// True for a deployment that did not run, for a new generation and for more copies.
const startsInstances = (before: Deployment, after: Deployment): boolean => {
  if (after.wanted !== 'running') return false;
  if (after.state === 'pending') return true;
  const isKnown = (number: number): boolean => before.generations.some((generation) => generation.number === number);
  if (after.generations.some(({ number }) => !isKnown(number))) return true;
  if (ASLEEP.includes(before.state)) return after.scale_to_zero_after_seconds === null;
  return before.state !== 'failed' && (after.copies.min > before.copies.min || after.copies.max > before.copies.max);
};

const tryToChange = async (deps: ChangeDependencies, actor: Actor, before: Deployment, change: Change): Promise<Deployment> => {
  const { action, isOpenToSuspended, apply, writes } = change;
  const { id, organization } = before;
  const changed = await apply(before);
  if (changed === before) return before;
  const after = { ...changed, changes: before.changes + 1, updated_at: actor.origin.nowMs };
  const audited = { action, organization, target: { type: 'deployment', id }, before: auditedFields(before), after: auditedFields(after) };
  const { meter, writes: held } = startsInstances(before, after) ? await deps.holdStartCredit(after, actor.origin.nowMs) : NO_CREDIT;
  const stored = { ...after, ...(meter && { meter }) };
  await commit(deps, actor.origin, audited, [
    ...deps.users.toCheckActor(actor),
    ...(isOpenToSuspended ? [] : [deps.organizations.toCheckActive(organization)]),
    deps.deployments.toReplace(stored),
    ...held,
    ...((await writes?.(before, after)) ?? []),
  ]);
  return { ...stored, version: stored.version + 1 };
};

/**
 * Changes an owner's settings of a deployment, and queues a pass of the reconciler. The row also changes without the
 * owner, so a lost race is repeated, unless another request changed the settings and the change depends on them.
 * @throws 403, 404, 409 also without the credit to start instances, 412, and the errors of `apply`
 */
export const changeDeployment = async (
  deps: ChangeDependencies,
  actor: Actor,
  { id, expected }: DeploymentAddress,
  change: Change,
): Promise<DeploymentResource> => {
  let read: number | undefined;
  for (let attempt = 0; attempt < MAX_COMMIT_ATTEMPTS; attempt++) {
    const before = await visibleDeployment(deps, actor, id);
    checkVersion({ version: before.changes }, read === undefined ? expected : [read]);
    if (!change.fitsAnySettings) read = before.changes;
    if (before.wanted === 'deleted' && change.action !== 'deployment.deleted') throw new DeploymentDeleted(before.name);
    try {
      const after = await tryToChange(deps, actor, before, change);
      if (after !== before) await reconcileSoon(deps, id);
      return (await toResources(deps, actor, [after]))[0] as DeploymentResource;
    } catch (error) {
      // A concurrent equal request can have reserved the credit.
      const isOvertaken = error instanceof OutOfCredit && (await deps.deployments.find(id))?.version !== before.version;
      if (!isOvertaken && !(error instanceof PreconditionFailed)) throw error;
    }
  }
  throw new DatabaseUnavailable(new Error(`${id} changed during each of ${MAX_COMMIT_ATTEMPTS} attempts.`));
};
