import { ApiError } from '../../../shared/http/errors.ts';
import { DeploymentNotFound, DeploymentNotReady, ModelNotFound, ModelNotPriced } from '../../../shared/models/errors.ts';
import type { FallbackModel, Inventory, ModelRoute } from '../../../shared/models/inventory.ts';
import { MAX_FALLBACKS } from '../../../shared/models/max-fallbacks.ts';
import { type Price, priceAt } from '../../../shared/prices/price.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { Candidate, FoundModel } from './candidate.ts';

/** The model that a request names. */
export interface FirstModel {
  /** Its own name. */
  name: string;
  found?: FoundModel;
  /** The reason for which it can't be called now. */
  failure?: ApiError;
  /** The names of its configured fallbacks. */
  fallbacks: readonly string[];
  /** The side of its alias's split on which the request is. */
  split?: SplitFacts;
}

/** The side of a split, and the split's id. */
export type SplitFacts = Pick<UsageEvent, 'side' | 'split_id'>;

// The fallbacks of an alias replace those of its model.
const configured = ({ model, fallbacks }: ModelRoute): readonly string[] => (fallbacks.length > 0 ? fallbacks : model.fallbacks);

/**
 * Finds the model that a request names, also if it can't be called now.
 * @throws 404
 */
export const findFirst = async (
  inventory: Pick<Inventory, 'route'>,
  name: string,
  affinityOf: () => string | undefined,
  atMs: number,
): Promise<FirstModel> => {
  let route: ModelRoute;
  try {
    route = await inventory.route(name, affinityOf);
  } catch (error) {
    if (!(error instanceof DeploymentNotReady)) throw error;
    return { name: error.model, failure: error, fallbacks: [] };
  }
  const { model, side, splitId, unavailable } = route;
  const split = side && splitId !== undefined ? { split: { side, split_id: splitId } } : {};
  if (unavailable) return { name: unavailable.name, failure: unavailable.error, fallbacks: [model.name, ...route.fallbacks], ...split };
  const price = priceAt(model.prices, atMs);
  const facts = { name: model.name, fallbacks: configured(route), ...split };
  return price ? { ...facts, found: { model, price, index: 0 } } : { ...facts, failure: new ModelNotPriced(model.name) };
};

/** The names of a request's fallbacks. */
export interface FallbackNames {
  names: readonly string[];
  /** The field of the request that has the names; undefined: they are configured. */
  field: string | undefined;
}

interface Search extends FallbackNames {
  /** Called with each model that the request itself names, before it is known to exist. */
  onRequested: (name: string) => void;
  /** True if the request's key may use a model. */
  isAllowed: (name: string) => boolean;
  atMs: number;
}

/** The models that can answer in place of the first one. */
export interface Fallbacks {
  found: FoundModel[];
  /** The names of those that the request itself names: its key must be allowed to use them. */
  requested: string[];
}

type Finding = Pick<Inventory, 'find' | 'fallback'>;

const findOne = async (inventory: Finding, name: string, field: string | undefined): Promise<{ name: string } & Partial<FallbackModel>> => {
  if (field === undefined) {
    const found = await inventory.fallback(name);
    return { name: found?.model.name ?? name, ...found };
  }
  try {
    const model = await inventory.find(name);
    return { name: model.name, model };
  } catch (error) {
    if (error instanceof DeploymentNotReady) return { name: error.model };
    throw error instanceof ModelNotFound || error instanceof DeploymentNotFound ? error.in(field) : error;
  }
};

/**
 * Finds the fallbacks of a request. Those that can't be called now are left out. So are configured ones that don't
 * exist or that the key may not use.
 * @throws 404 for an unknown name in the request
 */
export const findFallbacks = async (
  inventory: Finding,
  first: FirstModel,
  { names, field, onRequested, isAllowed, atMs }: Search,
): Promise<Fallbacks> => {
  const seen = new Set([first.name]);
  const fallbacks: Fallbacks = { found: [], requested: [] };
  for (const name of names.slice(0, MAX_FALLBACKS + 1)) {
    if (field !== undefined) onRequested(name);
    const { name: own, model, isShared } = await findOne(inventory, name, field);
    if (field !== undefined) onRequested(own);
    if (seen.has(own)) continue;
    seen.add(own);
    if (field !== undefined) fallbacks.requested.push(own);
    const price = model && priceAt(model.prices, atMs);
    if (price && (field !== undefined || isAllowed(own)))
      fallbacks.found.push({ model, price, index: seen.size - 1, ...(isShared && { isShared }) });
  }
  return fallbacks;
};

/**
 * Prepares a request for each of the models that can answer it. Fallbacks that can't do what the request asks for are
 * left out.
 * @throws 400 if the first model can't do it
 */
export const prepareCandidates = async <Prepared>(
  found: readonly FoundModel[],
  prepare: (model: FoundModel['model'], price: Price) => Prepared | Promise<Prepared>,
): Promise<Candidate<Prepared>[]> => {
  const candidates: Candidate<Prepared>[] = [];
  for (const one of found) {
    try {
      candidates.push({ ...one, prepared: await prepare(one.model, one.price) });
    } catch (error) {
      if (one.index === 0 || !(error instanceof ApiError)) throw error;
    }
  }
  return candidates;
};
