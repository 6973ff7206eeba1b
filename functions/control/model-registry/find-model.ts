import { monthOf } from '../../../shared/billing/month.ts';
import { type Page, type PageRequest, WrongCursor } from '../../../shared/http/page.ts';
import { ModelNotFound } from '../../../shared/models/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { figuresFor } from '../../../shared/service-levels/promise.ts';
import type { PromiseStore } from '../../../shared/service-levels/promise-store.ts';
import { type Actor, isOfPlatform, organizationFor } from '../access/actor.ts';
import { toFigures } from '../service-levels/promise-resource.ts';
import { ModelOfDeployment } from './errors.ts';
import { type ModelResource, toResource } from './model-resource.ts';

interface ModelReads {
  models: ModelStore;
}

/** The stores of a model and its promises. */
export interface ModelDetailReads extends ModelReads {
  servicePromises: Pick<PromiseStore, 'get'>;
}

/**
 * The pools that a request is about, in lookup order: an organization's own models come before the shared ones, unless
 * the request names the organization. @throws 404
 */
export const poolsFor = (actor: Actor, named: string | undefined): string[] => {
  if (isOfPlatform(actor)) return [named ?? SERVERLESS_POOL];
  const own = organizationFor(actor, named);
  return named === undefined ? [own, SERVERLESS_POOL] : [own];
};

export const poolOf = (organization: string | undefined): string => organization ?? SERVERLESS_POOL;

/** Everyone sees published shared models; members see every model of their organization. */
export const isVisible = (actor: Actor, pool: string, { status }: Model): boolean =>
  isOfPlatform(actor) || pool !== SERVERLESS_POOL || status === 'published';

const viewOf = (actor: Actor, pool: string) => ({ pool, isAdmin: isOfPlatform(actor), nowMs: actor.origin.nowMs });

/**
 * Finds a model by its name, with what it promises this month; an organization's own model takes precedence over a
 * shared one. @throws 404
 */
export const retrieveModel = async (
  { models, servicePromises }: ModelDetailReads,
  actor: Actor,
  name: string,
  organization: string | undefined,
): Promise<ModelResource> => {
  for (const pool of poolsFor(actor, organization)) {
    const model = await models.get(pool, name);
    if (!model || !isVisible(actor, pool, model)) continue;
    const { promises } = pool === SERVERLESS_POOL ? await servicePromises.get(name) : { promises: [] };
    const promised = figuresFor(promises, monthOf(actor.origin.nowMs));
    return { ...toResource(model, viewOf(actor, pool)), ...(promised && { service_promise: toFigures(promised) }) };
  }
  throw new ModelNotFound(name);
};

/** Returns a model of a pool. @throws 404 */
export const modelIn = async ({ models }: ModelReads, pool: string, name: string): Promise<Model> => {
  const model = await models.get(pool, name);
  if (!model) throw new ModelNotFound(name);
  return model;
};

/**
 * Returns a model that can be changed here: not a deployment's own model, which follows the deployment.
 * @throws 404, 409
 */
export const changeableModel = async (reads: ModelReads, pool: string, name: string): Promise<Model> => {
  const model = await modelIn(reads, pool, name);
  if (model.deployment && pool !== SERVERLESS_POOL) throw new ModelOfDeployment(name, model.deployment.id);
  return model;
};

interface Listed {
  rank: number;
  pool: string;
  model: Model;
}

const isBehind = (a: Pick<Listed, 'rank'> & { name: string }, b: typeof a): boolean =>
  a.name === b.name ? a.rank > b.rank : a.name > b.name;

const placeOf = ({ rank, model: { name } }: Listed): { rank: number; name: string } => ({ rank, name });

const readAfter = (after: string): { rank: number; name: string } => {
  const [, rank, name] = /^([01]):(.+)$/s.exec(after) ?? [];
  if (rank === undefined || name === undefined) throw new WrongCursor();
  return { rank: Number(rank), name };
};

/** Lists the models that the actor can see, sorted by name. Each pool has at most 1,000. @throws 400, 404 */
export const listModels = async (
  { models }: ModelReads,
  actor: Actor,
  { organization, limit, after }: PageRequest & { organization?: string | undefined },
): Promise<Page<ModelResource>> => {
  const pools = await Promise.all(
    poolsFor(actor, organization).map(async (pool, rank) =>
      [...(await models.list(pool)).values()].map((model): Listed => ({ rank, pool, model })),
    ),
  );
  const start = after === undefined ? undefined : readAfter(after);
  const rest = pools
    .flat()
    .filter(({ pool, model }) => isVisible(actor, pool, model))
    .filter((listed) => !start || isBehind(placeOf(listed), start))
    .sort((a, b) => (isBehind(placeOf(a), placeOf(b)) ? 1 : -1));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rest.length > page.length;
  return {
    object: 'list',
    data: page.map(({ pool, model }) => toResource(model, viewOf(actor, pool))),
    has_more: hasMore,
    next: hasMore && last ? `${last.rank}:${last.model.name}` : null,
  };
};
