import { isDeepStrictEqual } from 'node:util';
import type { Deployment, Generation } from '../../../shared/deployments/deployment.ts';
import { nextShadowNumber } from '../../../shared/deployments/shadow.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import type { Actor } from '../access/actor.ts';
import { type ChangeDependencies, changeDeployment, type DeploymentAddress } from './change-deployment.ts';
import { checkGeneration, checkServing, type GenerationCheckDependencies } from './check-generation.ts';
import type { DeploymentResource } from './deployment-resource.ts';
import { TENSOR_PARALLEL_SIZE } from './environment.ts';
import { WrongState } from './errors.ts';
import { visibleDeployment } from './find-deployment.ts';
import type { DeploymentUpdate } from './new-deployment.ts';
import { type GenerationFields, type PlanDependencies, type PlannedGeneration, planGeneration } from './plan-generation.ts';
import { beginRollout, contentOf, generationsAfter, liveNumbers, shiftTraffic, wantedGeneration } from './rollout.ts';
import { checkSchedule } from './schedule-settings.ts';
import { changedServing, copiesOf } from './settings.ts';
import type { ShadowReads } from './shadow/report.ts';
import { changeShadow } from './shadow/settings.ts';

export type UpdateDependencies = ChangeDependencies & GenerationCheckDependencies & PlanDependencies & Pick<ShadowReads, 'shadows'>;

const fieldsOf = ({ runtime, model, instance_types, accelerators, environment, allows_code, adapters }: Generation): GenerationFields => ({
  runtime: runtime.id,
  model,
  instance_types,
  accelerators,
  environment,
  allow_code: allows_code,
  adapters,
});

// A generation that used all accelerators of a copy uses all of the new number, too.
const updatedFields = (current: Generation, given: Partial<GenerationFields>): GenerationFields => {
  const { accelerators = current.accelerators } = given;
  const { [TENSOR_PARALLEL_SIZE]: parallel, ...others } = current.environment;
  const usedAll = accelerators !== current.accelerators && parallel === String(current.accelerators);
  return { ...fieldsOf(current), ...(usedAll && { environment: others }), ...given };
};

const givenFields = (update: DeploymentUpdate): Partial<GenerationFields> => {
  const { runtime, model, instance_types, accelerators, environment, allow_code, adapters } = update;
  const given = Object.entries({ runtime, model, instance_types, accelerators, environment, allow_code, adapters });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
};

// Undefined if the deployment runs the requested content already.
const planUpdate = async (
  deps: UpdateDependencies,
  actor: Actor,
  before: Deployment,
  update: DeploymentUpdate,
): Promise<PlannedGeneration | undefined> => {
  const given = givenFields(update);
  if (Object.keys(given).length === 0) return undefined;
  const { organization, starts, serving } = before;
  if (given.adapters && serving.task !== 'generate')
    throw new InvalidValue('adapters', "expected none for this deployment, because only the task 'generate' can have adapters");
  const current = wantedGeneration(before);
  const { generation, types } = await planGeneration(deps, actor, organization, updatedFields(current, given));
  if (isDeepStrictEqual(generation, contentOf(current)) && current.status !== 'failed') return undefined;
  const copies = copiesOf(update.copies ?? {}, before.copies);
  await checkGeneration(deps, { organization, generation, types, copies, starts, nowMs: actor.origin.nowMs });
  return generation;
};

// A new schedule's windows begin early by their own time, and each is reported if it is not paid.
const withSchedule = (before: Deployment, schedule: NonNullable<DeploymentUpdate['schedule']>, nowMs: number): Deployment => {
  const { schedule: _, unpaid_window: __, scheduled, ...rest } = before;
  return {
    ...rest,
    ...(schedule.length > 0 && { schedule }),
    ...(scheduled && { scheduled: { ...scheduled, starts_at: Math.min(scheduled.starts_at, nowMs) } }),
  };
};

const withSettings = (before: Deployment, update: DeploymentUpdate, planned: PlannedGeneration | undefined, nowMs: number): Deployment => {
  const { scale_to_zero_after_seconds: idle, max_concurrency_per_copy: concurrency, tags } = update;
  const schedule = update.schedule === undefined ? (before.schedule ?? []) : (update.schedule ?? []);
  const copies = copiesOf(update.copies ?? {}, before.copies);
  checkSchedule(schedule, copies, update.schedule !== undefined);
  return {
    ...(isDeepStrictEqual(schedule, before.schedule ?? []) ? before : withSchedule(before, schedule, nowMs)),
    copies,
    ...(idle !== undefined && { scale_to_zero_after_seconds: idle }),
    ...(concurrency !== undefined && { max_concurrency_per_copy: concurrency }),
    ...(tags !== undefined && { tags }),
    serving: changedServing(before.serving, update, generationsAfter(before, planned)),
  };
};

// Adapters that the new generation couldn't load would get no requests any more.
const checkAdapters = ({ adapters = [] }: Deployment, planned: PlannedGeneration): void => {
  const maxRank = planned.adapters?.max_rank ?? 0;
  const lost = adapters.find(
    (adapter) => adapter.state !== 'failed' && adapter.state !== 'deleting' && (adapter.packed?.rank ?? 1) > maxRank,
  );
  if (lost)
    throw new WrongState(
      'adapters_exist',
      `The new generation could not load the adapter '${lost.name}' (rank ${lost.packed?.rank ?? 1}). Delete the adapter, or send a higher adapters.max_rank.`,
    );
};

const withTraffic = (changed: Deployment, update: DeploymentUpdate, planned: PlannedGeneration | undefined, nowMs: number): Deployment => {
  const { traffic_percent: percent, shadow } = update;
  if (planned) return beginRollout(changed, planned, percent ?? (shadow ? 0 : 100), nowMs);
  if (percent === undefined) return changed;
  // The new generation goes on running, to be compared.
  const staysWithout = percent === 0 && shadow && liveNumbers(changed).length > 1;
  return staysWithout ? { ...changed, traffic_percent: 0 } : shiftTraffic(changed, percent, nowMs);
};

const applied = (before: Deployment, update: DeploymentUpdate, planned: PlannedGeneration | undefined, nowMs: number): Deployment => {
  const { shadow } = update;
  if (planned) checkAdapters(before, planned);
  const routed = withTraffic(withSettings(before, update, planned, nowMs), update, planned, nowMs);
  const after = shadow === undefined ? routed : changeShadow(routed, shadow, liveNumbers(routed), nowMs);
  return isDeepStrictEqual(after, before) ? before : after;
};

const isBegun = (before: Deployment, after: Deployment): boolean => nextShadowNumber(after) > nextShadowNumber(before);

/**
 * Changes a deployment; absent fields keep their values. New content makes a new generation, which gets
 * `traffic_percent` of the requests once it is ready.
 * @throws 400, 403, 404, 409, 412, 503
 */
export const updateDeployment = async (
  deps: UpdateDependencies,
  actor: Actor,
  { id, expected }: DeploymentAddress,
  update: DeploymentUpdate,
): Promise<DeploymentResource> => {
  const current = await visibleDeployment(deps, actor, id);
  checkVersion({ version: current.changes }, expected);
  const planned = await planUpdate(deps, actor, current, update);
  if (update.tokenizer && !isDeepStrictEqual(update.tokenizer, current.serving.tokenizer))
    await checkServing(deps, current, { tokenizer: update.tokenizer, task: current.serving.task });
  if (planned && update.traffic_percent === 0 && !update.shadow)
    throw new InvalidValue('traffic_percent', 'expected at least 1 with a new generation, or shadow');
  return changeDeployment(
    deps,
    actor,
    // The plan was made from this version.
    { id, expected: [current.changes] },
    {
      action: 'deployment.updated',
      apply: (before) => applied(before, update, planned, actor.origin.nowMs),
      writes: (before, after) => (isBegun(before, after) ? [deps.shadows.toCreate(id, nextShadowNumber(before))] : []),
    },
  );
};
