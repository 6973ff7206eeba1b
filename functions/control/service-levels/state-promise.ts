import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { monthOf, nextMonth } from '../../../shared/billing/month.ts';
import { Conflict, InvalidValue } from '../../../shared/http/errors.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { ModelNotFound } from '../../../shared/models/errors.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { MAX_PROMISES } from '../../../shared/service-levels/promise.ts';
import type { PromiseStore } from '../../../shared/service-levels/promise-store.ts';
import type { Actor } from '../access/actor.ts';
import {
  type NewServicePromise,
  type PromisedModel,
  type ServicePromiseList,
  type ServicePromiseResource,
  toPromiseResource,
} from './promise-resource.ts';

export interface PromiseDependencies extends AuditDependencies {
  models: Pick<ModelStore, 'get'>;
  servicePromises: PromiseStore;
}

const checkShared = async ({ models }: PromiseDependencies, model: string): Promise<void> => {
  if (!(await models.get(SERVERLESS_POOL, model))) throw new ModelNotFound(model);
};

const monthFor = (wanted: string | undefined, nowMs: number): string => {
  const current = monthOf(nowMs);
  if (wanted === undefined) return nextMonth(current);
  if (wanted <= current)
    throw new InvalidValue('from_month', `expected ${nextMonth(current)} or later. A promise is known before its month begins`);
  return wanted;
};

/**
 * States what a shared model promises from a month on. A promise that was stated for the same month is replaced,
 * because the month has not begun.
 * @param expected the versions of the model's list of promises that the caller knows; undefined: any
 * @throws 400, 404, 409, 412 after a concurrent change
 */
export const statePromise = async (
  deps: PromiseDependencies,
  { origin }: Actor,
  { model, from_month: wanted, ...figures }: NewServicePromise,
  expected?: readonly number[],
): Promise<ServicePromiseResource> => {
  const from_month = monthFor(wanted, origin.nowMs);
  await checkShared(deps, model);
  const stored = checkVersion(await deps.servicePromises.get(model), expected);
  const others = stored.promises.filter((promise) => promise.from_month !== from_month);
  const before = stored.promises.find((promise) => promise.from_month === from_month);
  if (others.length >= MAX_PROMISES)
    throw new Conflict({
      code: 'too_many_promises',
      message: `A model can have at most ${MAX_PROMISES} promises, and promises of past months can't be removed. Register the model under another name.`,
    });
  const promise = { from_month, stated_at: origin.nowMs, figures };
  const resource = toPromiseResource(model, promise);
  const change = {
    action: 'service_promise.stated',
    organization: null,
    target: { type: 'service_promise', id: `${model}/${from_month}` },
    ...(before && { before: { ...toPromiseResource(model, before) } }),
    after: resource,
  };
  await commit(deps, origin, change, [deps.servicePromises.toReplace({ ...stored, promises: [...others, promise] })]);
  return resource;
};

/** Lists the promises of a shared model, the latest month first. @throws 404 */
export const listPromises = async (deps: PromiseDependencies, { model }: PromisedModel): Promise<ServicePromiseList> => {
  await checkShared(deps, model);
  const { promises, version } = await deps.servicePromises.get(model);
  const sorted = [...promises].sort((a, b) => (a.from_month < b.from_month ? 1 : -1));
  return { object: 'list', data: sorted.map((promise) => toPromiseResource(model, promise)), version };
};
