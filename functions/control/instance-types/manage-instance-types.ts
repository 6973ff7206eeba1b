import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { type InstanceType, MAX_INSTANCE_PRICES } from '../../../shared/deployments/catalogue.ts';
import type { CatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import { Conflict, ResourceNotFound } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { nanosOf } from '../../../shared/prices/dollars.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { type Actor, can } from '../access/actor.ts';
import { checkRoom, effectiveAt } from '../prices/effective-at.ts';
import {
  type InstanceTypeList,
  type InstanceTypeResource,
  type InstanceTypeUpdate,
  type NewInstanceCost,
  type NewInstancePrice,
  type NewInstanceType,
  toResource,
} from './instance-type.ts';

export interface InstanceTypeDependencies extends AuditDependencies {
  catalogue: CatalogueStore;
}

// Every list reads all of them. Concurrent creations can exceed it slightly.
const MAX_INSTANCE_TYPES = 200;

const exists = (id: string) => (): Conflict =>
  new Conflict({
    code: 'instance_type_exists',
    param: 'id',
    message: `The catalogue already has the instance type '${id}'. Change that entry instead.`,
  });

const find = async ({ catalogue }: InstanceTypeDependencies, id: string): Promise<InstanceType> => {
  const type = await catalogue.instanceTypes.get(id);
  if (!type) throw new ResourceNotFound('instance type', id);
  return type;
};

const viewOf = (actor: Actor) => ({ isAdmin: can(actor, 'catalogue:write'), nowMs: actor.origin.nowMs });

// Fields that change with time are not compared.
const auditedFields = (type: InstanceType): Record<string, unknown> => {
  const { price: _, ...fields } = toResource(type, { isAdmin: true, nowMs: 0 });
  return fields;
};

/** Lists the catalogue, including retired types and those without a price. */
export const listInstanceTypes = async ({ catalogue }: InstanceTypeDependencies, actor: Actor): Promise<InstanceTypeList> => ({
  object: 'list',
  data: (await catalogue.instanceTypes.list()).map((type) => toResource(type, viewOf(actor))),
});

/** Returns an instance type. @throws 404 */
export const retrieveInstanceType = async (deps: InstanceTypeDependencies, actor: Actor, id: string): Promise<InstanceTypeResource> =>
  toResource(await find(deps, id), viewOf(actor));

/** Adds an instance type to the catalogue, without a price. @throws 409 */
export const createInstanceType = async (
  deps: InstanceTypeDependencies,
  actor: Actor,
  fields: NewInstanceType,
): Promise<InstanceTypeResource> => {
  const types = await deps.catalogue.instanceTypes.list();
  if (types.some(({ id }) => id === fields.id)) throw exists(fields.id)();
  if (types.length >= MAX_INSTANCE_TYPES)
    throw new Conflict({
      code: 'too_many_instance_types',
      message: `The catalogue can have at most ${MAX_INSTANCE_TYPES} instance types, including retired ones. Change an existing one instead.`,
    });
  const type: InstanceType = { ...fields, prices: [], status: 'available', version: 1 };
  const target = { type: 'instance_type', id: type.id };
  const change = { action: 'instance_type.created', organization: null, target, after: auditedFields(type) };
  await commit(deps, actor.origin, change, [deps.catalogue.instanceTypes.toCreate(type, exists(type.id))]);
  return toResource(type, viewOf(actor));
};

const replace = async (
  deps: InstanceTypeDependencies,
  actor: Actor,
  action: string,
  before: InstanceType,
  after: InstanceType,
): Promise<InstanceTypeResource> => {
  const target = { type: 'instance_type', id: after.id };
  const change = { action, organization: null, target, before: auditedFields(before), after: auditedFields(after) };
  await commit(deps, actor.origin, change, [deps.catalogue.instanceTypes.toReplace(after)]);
  return toResource({ ...after, version: after.version + 1 }, viewOf(actor));
};

/** Retires an instance type, or makes it available again. Deployments that use it go on. @throws 404, 412 */
export const updateInstanceType = async (
  deps: InstanceTypeDependencies,
  actor: Actor,
  id: string,
  { status }: InstanceTypeUpdate,
  expected?: readonly number[],
): Promise<InstanceTypeResource> => {
  const before = checkVersion(await find(deps, id), expected);
  return replace(deps, actor, 'instance_type.updated', before, { ...before, status });
};

/**
 * Adds a price version, which applies to GPU time from its `effective_at` on. @throws 400, 404, 409, 412 after a
 * concurrent change
 */
export const addInstancePrice = async (
  deps: InstanceTypeDependencies,
  actor: Actor,
  id: string,
  body: NewInstancePrice,
  expected?: readonly number[],
): Promise<InstanceTypeResource> => {
  const before = checkVersion(await find(deps, id), expected);
  const { nowMs } = actor.origin;
  const effective_at = effectiveAt(body.effective_at, nowMs);
  checkRoom(before.prices, effective_at, { max: MAX_INSTANCE_PRICES, advice: 'Keep the last one, which stays in force.' });
  const price = { version: newTimedId('price', nowMs), effective_at, hour_nanos: Number(nanosOf(body.per_hour)) };
  return replace(deps, actor, 'instance_type.priced', before, { ...before, prices: [...before.prices, price] });
};

/**
 * Adds a cost version, which economics of GPU time count from its `effective_at` on, also in the past.
 * @throws 404, 409, 412 after a concurrent change
 */
export const addInstanceCost = async (
  deps: InstanceTypeDependencies,
  actor: Actor,
  id: string,
  { per_hour, effective_at: fromSeconds }: NewInstanceCost,
  expected?: readonly number[],
): Promise<InstanceTypeResource> => {
  const before = checkVersion(await find(deps, id), expected);
  const { nowMs } = actor.origin;
  const { costs = [] } = before;
  const effective_at = fromSeconds === undefined ? nowMs : fromSeconds * SECOND_MS;
  checkRoom(costs, effective_at, { max: MAX_INSTANCE_PRICES, advice: 'Keep the last one, which stays in force.' });
  const cost = { version: newTimedId('price', nowMs), effective_at, hour_nanos: Number(nanosOf(per_hour)) };
  return replace(deps, actor, 'instance_type.costed', before, { ...before, costs: [...costs, cost] });
};
