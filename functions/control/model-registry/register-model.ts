import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { Conflict, InvalidValue } from '../../../shared/http/errors.ts';
import { ModelExists } from '../../../shared/models/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { priceAt } from '../../../shared/prices/price.ts';
import { type Actor, requireActive } from '../access/actor.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import { checkFallbacks } from './check-fallbacks.ts';
import type { CheckModel } from './check-targets.ts';
import { ChecksFailed } from './errors.ts';
import { modelIn, poolOf } from './find-model.ts';
import { auditedFields, organizationOf, type RegisteredModel, toResource } from './model-resource.ts';
import { checkCounted } from './model-task.ts';
import { type ModelRegistration, type ModelToCheck, toModel } from './registration.ts';
import type { RegistrationReport } from './registration-report.ts';

export interface ModelDependencies extends AuditDependencies {
  models: ModelStore;
  organizations: OrganizationStore;
  checkModel: CheckModel;
}

// Every inventory refresh reads a whole pool. Concurrent registrations can exceed it slightly.
const MAX_MODELS = 1_000;

/** Checks that a pool has room for a model. @throws 409 if the name is in use or the pool is full */
export const checkRoom = async ({ models }: Pick<ModelDependencies, 'models'>, pool: string, name: string): Promise<void> => {
  const registered = await models.list(pool);
  if (registered.has(name)) throw new ModelExists(name);
  if (registered.size >= MAX_MODELS)
    throw new Conflict({
      code: 'too_many_models',
      message: `There can be at most ${MAX_MODELS} shared models, and ${MAX_MODELS} of each organization. Delete a model first.`,
    });
};

/** Checks a model's sizes against each other. @throws 400 */
export const checkSizes = ({
  context_length,
  max_output_tokens,
  default_output_tokens,
}: Pick<Model, 'context_length' | 'max_output_tokens' | 'default_output_tokens'>): void => {
  if (max_output_tokens > context_length)
    throw new InvalidValue('max_output_tokens', `expected at most context_length (${context_length})`);
  if (default_output_tokens > max_output_tokens)
    throw new InvalidValue('default_output_tokens', `expected at most max_output_tokens (${max_output_tokens})`);
};

/**
 * Registers a shared model or an organization's own, and reports on its checks.
 * @throws 400, 403 and 404 for its organization, 409 if its name is in use or a check fails that the request does not
 * accept, 503
 */
export const registerModel = async (deps: ModelDependencies, actor: Actor, body: ModelRegistration): Promise<RegisteredModel> => {
  const { origin } = actor;
  const pool = poolOf(body.organization);
  const model = toModel(body, origin.nowMs);
  const { name } = model;
  checkSizes(model);
  checkCounted(model);
  if (!priceAt(model.prices, origin.nowMs)) throw new InvalidValue('prices', 'expected at least one price that is already in effect');
  // The transaction below verifies this; checking here too reports the error before the slow checks.
  if (pool !== SERVERLESS_POOL) await requireActive(deps.organizations, pool);
  await checkFallbacks(deps, pool, model);
  await checkRoom(deps, pool, name);
  const report = await deps.checkModel(model);
  if (!report.passed && !body.accept_failed_checks) throw new ChecksFailed(report);
  const change = {
    action: 'model.registered',
    organization: organizationOf(pool),
    target: { type: 'model', id: name },
    after: auditedFields(pool, model),
  };
  await commit(deps, origin, change, [
    ...(pool === SERVERLESS_POOL ? [] : [deps.organizations.toCheckActive(pool)]),
    deps.models.toCreate(pool, model),
  ]);
  return { ...toResource(model, { pool, isAdmin: true, nowMs: origin.nowMs }), report };
};

/** Checks a registered model again without changing it. @throws 404, 503 */
export const checkAgain = async (deps: ModelDependencies, { model, organization }: ModelToCheck): Promise<RegistrationReport> =>
  deps.checkModel(await modelIn(deps, poolOf(organization), model));
