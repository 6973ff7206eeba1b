import { isDeepStrictEqual } from 'node:util';
import { commit } from '../../../shared/audit/commit.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import type { Model } from '../../../shared/models/model.ts';
import { toRetirePrices } from '../../../shared/models/retire-prices.ts';
import type { Actor } from '../access/actor.ts';
import { checkFallbacks } from './check-fallbacks.ts';
import { ChecksFailed, ModelOfDeployment, ModelPublished } from './errors.ts';
import { changeableModel, poolOf } from './find-model.ts';
import { auditedFields, type ModelResource, organizationOf, toResource } from './model-resource.ts';
import { checkCounted, checkTask } from './model-task.ts';
import { checkSizes, type ModelDependencies } from './register-model.ts';
import type { ModelUpdate } from './registration.ts';

interface ModelAddress {
  name: string;
  organization: string | undefined;
  expected: readonly number[] | undefined;
}

const updated = (before: Model, { accept_failed_checks: _, capabilities, tokenizer, deprecation, ...fields }: ModelUpdate): Model => {
  const { tokenizer: oldTokenizer, deprecation: oldDeprecation, ...rest } = before;
  const newTokenizer = tokenizer === undefined ? oldTokenizer : tokenizer;
  const newDeprecation = deprecation === undefined ? oldDeprecation : deprecation;
  return {
    ...rest,
    ...(fields as Partial<Model>),
    capabilities: { ...before.capabilities, ...capabilities } as Model['capabilities'],
    ...(newTokenizer && { tokenizer: newTokenizer }),
    ...(newDeprecation && { deprecation: newDeprecation }),
  };
};

const servingOf = ({ targets, dialect, tokenizer, embedding }: Model) => ({ targets, dialect, tokenizer, embedding });

// A capability can be switched off while its containers fail.
const isToCheck = (before: Model, after: Model): boolean =>
  !isDeepStrictEqual(servingOf(before), servingOf(after)) ||
  (after.capabilities.structured_outputs && !before.capabilities.structured_outputs);

const checkSuccessor = async ({ models }: ModelDependencies, pool: string, model: Model): Promise<void> => {
  const successor = model.deprecation?.successor;
  if (successor === undefined) return;
  if (successor === model.name || !(await models.get(pool, successor)))
    throw new InvalidValue('deprecation.successor', 'expected another model of the same organization, or another shared one');
};

/**
 * Changes a model; absent fields keep their values. Requests see the change within 30 s.
 * @throws 400, 404, 409 if a new target, dialect, tokenizer, embedding or capability fails its check, or belongs to a
 * deployment, 412, 503
 */
export const updateModel = async (
  deps: ModelDependencies,
  actor: Actor,
  address: ModelAddress,
  fields: ModelUpdate,
): Promise<ModelResource> => {
  const { origin } = actor;
  const pool = poolOf(address.organization);
  const before = checkVersion(await changeableModel(deps, pool, address.name), address.expected);
  if (before.deployment && (fields.targets || fields.dialect)) throw new ModelOfDeployment(before.name, before.deployment.id);
  const after = updated(before, fields);
  checkTask(after, fields);
  checkCounted(after);
  checkSizes(after);
  if (fields.deprecation) await checkSuccessor(deps, pool, after);
  if (fields.fallbacks) await checkFallbacks(deps, pool, after);
  if (!fields.accept_failed_checks && isToCheck(before, after)) {
    const report = await deps.checkModel(after);
    if (!report.passed) throw new ChecksFailed(report);
  }
  const change = {
    action: 'model.updated',
    organization: organizationOf(pool),
    target: { type: 'model', id: before.name },
    before: auditedFields(pool, before),
    after: auditedFields(pool, after),
  };
  await commit(deps, origin, change, [deps.models.toReplace(pool, after)]);
  return toResource({ ...after, version: after.version + 1 }, { pool, isAdmin: true, nowMs: origin.nowMs });
};

/** Deletes an unpublished model. @throws 404, 409, 412 */
export const deleteModel = async (deps: ModelDependencies, actor: Actor, address: ModelAddress): Promise<void> => {
  const pool = poolOf(address.organization);
  const model = checkVersion(await changeableModel(deps, pool, address.name), address.expected);
  if (model.deployment) throw new ModelOfDeployment(model.name, model.deployment.id);
  if (model.status === 'published') throw new ModelPublished(model.name);
  const change = {
    action: 'model.deleted',
    organization: organizationOf(pool),
    target: { type: 'model', id: model.name },
    before: auditedFields(pool, model),
  };
  await commit(deps, actor.origin, change, [deps.models.toDelete(pool, model), await toRetirePrices(deps.models, pool, model)]);
};
