import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Runtime } from '../../../shared/deployments/catalogue.ts';
import type { CatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import { Conflict, ResourceNotFound } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { type Actor, can } from '../access/actor.ts';
import { type NewRuntime, type RuntimeList, type RuntimeResource, type RuntimeUpdate, toResource } from './runtime.ts';

export interface RuntimeDependencies extends AuditDependencies {
  catalogue: CatalogueStore;
}

// Every list reads all of them. Concurrent creations can exceed it slightly.
const MAX_RUNTIMES = 200;

const exists = (id: string) => (): Conflict =>
  new Conflict({
    code: 'runtime_exists',
    param: 'id',
    message: `There is already a runtime '${id}'. Its image never changes: choose another id for another image.`,
  });

const find = async ({ catalogue }: RuntimeDependencies, id: string): Promise<Runtime> => {
  const runtime = await catalogue.runtimes.get(id);
  if (!runtime) throw new ResourceNotFound('runtime', id);
  return runtime;
};

/** Lists the catalogue, including retired entries. */
export const listRuntimes = async ({ catalogue }: RuntimeDependencies, actor: Actor): Promise<RuntimeList> => ({
  object: 'list',
  data: (await catalogue.runtimes.list()).map((runtime) => toResource(runtime, can(actor, 'catalogue:write'))),
});

/** Returns a runtime. @throws 404 */
export const retrieveRuntime = async (deps: RuntimeDependencies, actor: Actor, id: string): Promise<RuntimeResource> =>
  toResource(await find(deps, id), can(actor, 'catalogue:write'));

/** Adds a runtime to the catalogue. @throws 409 */
export const createRuntime = async (
  deps: RuntimeDependencies,
  { origin }: Actor,
  { ami, ...fields }: NewRuntime,
): Promise<RuntimeResource> => {
  const runtimes = await deps.catalogue.runtimes.list();
  if (runtimes.some(({ id }) => id === fields.id)) throw exists(fields.id)();
  if (runtimes.length >= MAX_RUNTIMES)
    throw new Conflict({
      code: 'too_many_runtimes',
      message: `The catalogue can have at most ${MAX_RUNTIMES} runtimes, including retired ones. Change an existing one instead.`,
    });
  const runtime: Runtime = { ...fields, ...(ami !== undefined && { ami }), status: 'available', version: 1 };
  const resource = toResource(runtime, true);
  const change = { action: 'runtime.created', organization: null, target: { type: 'runtime', id: runtime.id }, after: resource };
  await commit(deps, origin, change, [deps.catalogue.runtimes.toCreate(runtime, exists(runtime.id))]);
  return resource;
};

/** Changes or retires a runtime. Deployments that use it keep their copy of it. @throws 404, 412 */
export const updateRuntime = async (
  deps: RuntimeDependencies,
  { origin }: Actor,
  id: string,
  { ami, description, status }: RuntimeUpdate,
  expected?: readonly number[],
): Promise<RuntimeResource> => {
  const before = checkVersion(await find(deps, id), expected);
  const { ami: oldAmi, ...rest } = before;
  const newAmi = ami === undefined ? oldAmi : ami;
  const after: Runtime = {
    ...rest,
    ...(newAmi != null && { ami: newAmi }),
    ...(description !== undefined && { description }),
    ...(status !== undefined && { status }),
  };
  const target = { type: 'runtime', id };
  const change = {
    action: 'runtime.updated',
    organization: null,
    target,
    before: toResource(before, true),
    after: toResource(after, true),
  };
  await commit(deps, origin, change, [deps.catalogue.runtimes.toReplace(after)]);
  return toResource({ ...after, version: after.version + 1 }, true);
};
