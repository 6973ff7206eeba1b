import { createHash } from 'node:crypto';
import { commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { type Deployment, NO_PROGRESS } from '../../../shared/deployments/deployment.ts';
import { CreatedMeanwhile, DeploymentExists, KeyUsed } from '../../../shared/deployments/deployment-store.ts';
import { CreditChanged } from '../../../shared/gpu-time/credit-writes.ts';
import { OutOfCredit } from '../../../shared/gpu-time/start-credit.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { IdempotencyKeyReused } from '../../../shared/http/idempotency-key.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { ModelExists } from '../../../shared/models/errors.ts';
import type { ModelStore } from '../../../shared/models/model-store.ts';
import { type Actor, organizationFor, requireActive } from '../access/actor.ts';
import { retryOvertaken } from '../retry-overtaken.ts';
import { type ChangeDependencies, reconcileSoon } from './change-deployment.ts';
import { checkGeneration, checkServing, type GenerationCheckDependencies } from './check-generation.ts';
import { auditedFields, type DeploymentResource } from './deployment-resource.ts';
import { DeploymentDeleted, MAX_DEPLOYMENTS, TooManyDeployments } from './errors.ts';
import type { Estimate } from './estimate.ts';
import { toResources } from './find-deployment.ts';
import type { NewDeployment } from './new-deployment.ts';
import { type PlanDependencies, planGeneration } from './plan-generation.ts';
import { checkSchedule } from './schedule-settings.ts';
import { copiesOf, newServing } from './settings.ts';

export interface CreateDependencies extends ChangeDependencies, GenerationCheckDependencies, PlanDependencies {
  models: ModelStore;
}

export type Created = { deployment: DeploymentResource; estimate: Estimate | null } | { deployment: null; estimate: Estimate };

// Concurrent creations, and requests that use the organization's credit, can write first this often.
const MAX_TRIES = 5;

// Objects with the same content are the same request, whatever the order of their fields.
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

// A release without tasks has hashed the same request without one.
const hashOf = ({ task, ...body }: NewDeployment): string =>
  createHash('sha256')
    .update(canonical({ ...body, ...(task !== 'generate' && { task }) }))
    .digest('base64url');

interface Request {
  organization: string;
  name: string;
  hash: string;
  key: string | undefined;
}

// Found by its idempotency key, or by its name.
const createdBefore = async ({ deployments }: CreateDependencies, { organization, name, hash, key }: Request) => {
  const byKey = key === undefined ? undefined : await deployments.idOfKey(organization, key);
  if (byKey !== undefined) {
    const earlier = await deployments.get(organization, byKey);
    if (earlier.creation_hash !== hash) throw new IdempotencyKeyReused();
    return earlier;
  }
  const byName = await deployments.idOf(organization, name);
  if (byName === undefined) return undefined;
  const earlier = await deployments.get(organization, byName);
  if (earlier.wanted === 'deleted') throw new DeploymentDeleted(name);
  if (earlier.creation_hash !== hash) throw new DeploymentExists(name);
  return earlier;
};

const newDeployment = (
  actor: Actor,
  { organization, name, hash }: Request,
  body: NewDeployment,
  generation: Awaited<ReturnType<typeof planGeneration>>['generation'],
): Deployment => {
  const { nowMs } = actor.origin;
  const copies = copiesOf(body.copies);
  checkSchedule(body.schedule ?? [], copies, true);
  return {
    id: newTimedId('deployment', nowMs),
    organization,
    name,
    created_at: nowMs,
    created_by: actor.userId,
    updated_at: nowMs,
    version: 1,
    changes: 1,
    wanted: 'running',
    copies,
    scale_to_zero_after_seconds: body.scale_to_zero_after_seconds,
    ...(body.schedule && { schedule: body.schedule }),
    max_concurrency_per_copy: body.max_concurrency_per_copy,
    tags: body.tags,
    serving: newServing(body, generation),
    generations: [{ ...generation, number: 1, created_at: nowMs, status: 'creating' }],
    traffic_percent: 100,
    creation_hash: hash,
    state: 'pending',
    state_since: nowMs,
    progress: NO_PROGRESS,
    transitions: [{ state: 'pending', at: nowMs }],
    starts: [],
  };
};

const checkRoom = async ({ deployments }: CreateDependencies, organization: string): Promise<Write> => {
  const { count, toCheck } = await deployments.count(organization);
  if (count >= MAX_DEPLOYMENTS) throw new TooManyDeployments();
  return toCheck;
};

const store = async (deps: CreateDependencies, actor: Actor, deployment: Deployment, key: string | undefined): Promise<void> => {
  const { id, organization } = deployment;
  const change = { action: 'deployment.created', organization, target: { type: 'deployment', id }, after: auditedFields(deployment) };
  await retryOvertaken({ what: organization, maxTries: MAX_TRIES, by: [CreatedMeanwhile, CreditChanged] }, async () => {
    const toCheck = await checkRoom(deps, organization);
    const { meter, writes: held } = await deps.holdStartCredit(deployment, actor.origin.nowMs);
    await commit(deps, actor.origin, change, [
      ...deps.users.toCheckActor(actor),
      deps.organizations.toCheckActive(organization),
      ...(key === undefined ? [] : [deps.deployments.toUseKey(deployment, key)]),
      ...deps.deployments.toCreate({ ...deployment, ...(meter && { meter }) }),
      ...held,
      deps.models.toCheckAbsent(organization, deployment.name),
      toCheck,
    ]);
  });
};

const withCreditWarning = async (
  { holdStartCredit }: CreateDependencies,
  deployment: Deployment,
  estimate: Estimate,
): Promise<Estimate> => {
  try {
    await holdStartCredit(deployment, deployment.created_at);
    return estimate;
  } catch (error) {
    if (!(error instanceof OutOfCredit)) throw error;
    return { ...estimate, warnings: [...estimate.warnings, error.message] };
  }
};

/**
 * Creates a deployment, or only validates it. Repeating the request, with the same idempotency key or for the same
 * name, returns the same deployment.
 * @throws 400, 403, 404, 409, 422, 503
 */
export const createDeployment = async (
  deps: CreateDependencies,
  actor: Actor,
  { organization: named, validate_only, ...body }: NewDeployment,
  key?: string,
): Promise<Created> => {
  const organization = organizationFor(actor, named);
  const { nowMs } = actor.origin;
  const request: Request = { organization, name: body.name, hash: hashOf({ ...body, organization, validate_only: false }), key };
  const existing = async (): Promise<Created | undefined> => {
    const earlier = await createdBefore(deps, request);
    return earlier && { deployment: (await toResources(deps, actor, [earlier]))[0] as DeploymentResource, estimate: null };
  };
  await requireActive(deps.organizations, organization);
  const before = await existing();
  if (before && !validate_only) return before;
  if (body.adapters && body.task !== 'generate')
    throw new InvalidValue('adapters', "expected none for this deployment, because only the task 'generate' can have adapters");
  const { generation, types } = await planGeneration(deps, actor, organization, body);
  const deployment = newDeployment(actor, request, { ...body, validate_only }, generation);
  const check = async (): Promise<Estimate> => {
    const { copies, schedule, serving } = deployment;
    const toCheck = { organization, generation, types, copies, ...(schedule && { schedule }), nowMs };
    const [estimate] = await Promise.all([checkGeneration(deps, toCheck), checkServing(deps, deployment, serving)]);
    return estimate;
  };
  if (!before) {
    // The transaction verifies this and the credit as well; here, the errors come before the slow checks.
    if (await deps.models.get(organization, body.name)) throw new ModelExists(body.name);
    await checkRoom(deps, organization);
  }
  if (validate_only) return { deployment: null, estimate: await withCreditWarning(deps, deployment, await check()) };
  try {
    await deps.holdStartCredit(deployment, nowMs);
    const estimate = await check();
    await store(deps, actor, deployment, key);
    await reconcileSoon(deps, deployment.id);
    return { deployment: (await toResources(deps, actor, [deployment]))[0] as DeploymentResource, estimate };
  } catch (error) {
    const canBeRepeated = error instanceof DeploymentExists || error instanceof KeyUsed || error instanceof OutOfCredit;
    const earlier = canBeRepeated ? await existing() : undefined;
    if (!earlier) throw error;
    return earlier;
  }
};
