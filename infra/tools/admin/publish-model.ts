import { auditedFields, organizationOf } from '../../../functions/control/model-registry/model-resource.ts';
import { checkCounted } from '../../../functions/control/model-registry/model-task.ts';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import type { Model } from '../../../shared/models/model.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { editedPrices } from '../../../shared/prices/price.ts';

interface PublishDependencies extends AuditDependencies {
  models: ModelStore;
}

/** Published prices were removed or changed. */
export class PricesEdited extends Error {
  constructor(versions: readonly string[]) {
    super(`Published prices can't be changed. Keep ${versions.join(', ')} as published, and add a new version.`);
  }
}

/** The task of a published model was changed. */
export class TaskChanged extends Error {
  constructor({ name, task }: Model) {
    super(`The published model '${name}' has the task '${task}', which can't be changed. Publish the new one under another name.`);
  }
}

/**
 * Creates or replaces a shared model from an operator's file, without checking its targets. A tokenizer or
 * deprecation that is missing in the file stays. Requests see the change within 30 s.
 * @throws PricesEdited, TaskChanged; 400 if its runtime needs a tokenizer, 412 after a concurrent change
 */
export const publishModel = async (deps: PublishDependencies, origin: Origin, model: Model): Promise<void> => {
  const before = await deps.models.get(SERVERLESS_POOL, model.name);
  if (before && before.task !== model.task) throw new TaskChanged(before);
  const retired = await deps.models.retiredPrices(SERVERLESS_POOL, model.name);
  const named = new Set(model.prices.map(({ version }) => version));
  const edited = editedPrices([...(before?.prices ?? []), ...retired.filter(({ version }) => named.has(version))], model.prices);
  if (edited.length > 0) throw new PricesEdited(edited);
  const tokenizer = model.tokenizer ?? before?.tokenizer;
  const deprecation = model.deprecation ?? before?.deprecation;
  const after: Model = {
    ...model,
    ...(before && { created: before.created, version: before.version }),
    ...(tokenizer && { tokenizer }),
    ...(deprecation && { deprecation }),
  };
  checkCounted(after);
  const change = {
    action: before ? 'model.updated' : 'model.registered',
    organization: organizationOf(SERVERLESS_POOL),
    target: { type: 'model', id: model.name },
    ...(before && { before: auditedFields(SERVERLESS_POOL, before) }),
    after: auditedFields(SERVERLESS_POOL, after),
  };
  await commit(deps, origin, change, [
    before ? deps.models.toReplace(SERVERLESS_POOL, after) : deps.models.toCreate(SERVERLESS_POOL, { ...after, version: 1 }),
  ]);
};
