import { isDeepStrictEqual } from 'node:util';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { type Page, type PageRequest, WrongCursor } from '../../../shared/http/page.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { validate } from '../../../shared/http/validate.ts';
import { AliasChanged, type AliasStore, MAX_ALIASES, versionOfAlias } from '../../../shared/models/alias-store.ts';
import { ModelNotFound } from '../../../shared/models/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import type { ModelAlias } from '../../../shared/models/model-alias.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { type Actor, type ActorChecks, isOfPlatform, organizationFor } from '../access/actor.ts';
import { isVisible, poolOf, poolsFor } from '../model-registry/find-model.ts';
import { organizationOf } from '../model-registry/model-resource.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import { AliasParameters, aliasFieldsOf, type ModelAliasResource, type NewModelAlias, toAliasResource } from './alias-resource.ts';
import { AliasIsModel, NotInterchangeable, SplitOfOneModel, TooManyAliases } from './errors.ts';
import { planAlias } from './plan-alias.ts';

export interface ModelAliasDependencies extends AuditDependencies {
  aliases: AliasStore;
  models: Pick<ModelStore, 'get' | 'list'>;
  organizations: Pick<OrganizationStore, 'toCheckActive'>;
  users: ActorChecks;
}

// Owners have the aliases of their organization. Admins have those for all, and those of organizations that they name.
const ownerOf = (actor: Actor, organization: string | undefined): string =>
  isOfPlatform(actor) ? poolOf(organization) : organizationFor(actor, organization);

// The model that an alias of this owner can lead to, or that has the alias as its own name.
const modelFor = async ({ models }: ModelAliasDependencies, actor: Actor, owner: string, name: string): Promise<Model | undefined> => {
  for (const pool of new Set([owner, SERVERLESS_POOL])) {
    const model = await models.get(pool, name);
    if (model && isVisible(actor, pool, model)) return model;
  }
  return undefined;
};

interface Change {
  action: string;
  owner: string;
  alias: string;
  before: ModelAlias | undefined;
  after?: ModelAlias;
}

const save = (
  deps: ModelAliasDependencies,
  actor: Actor,
  { action, owner, alias, before, after }: Change,
  writes: readonly Write[],
): Promise<void> =>
  commit(
    deps,
    actor.origin,
    {
      action,
      organization: organizationOf(owner),
      target: { type: 'model_alias', id: alias },
      ...(before && { before: auditedFields(before) }),
      ...(after && { after: auditedFields(after) }),
    },
    [...deps.users.toCheckActor(actor), ...writes],
  );

// An alias without fallbacks or a split has neither in the log.
const auditedFields = (alias: ModelAlias): Record<string, unknown> => {
  const { model, fallbacks, split } = aliasFieldsOf(alias);
  return { model, ...(fallbacks.length > 0 && { fallbacks }), ...(split && { split }) };
};

const checkModels = async (deps: ModelAliasDependencies, actor: Actor, owner: string, alias: NewModelAlias): Promise<void> => {
  const named: [param: string, name: string][] = [
    ['model', alias.model],
    ...alias.fallbacks.map((name, i): [string, string] => [`fallbacks.${i}`, name]),
    ...(alias.split ? [['split.model', alias.split.model] as [string, string]] : []),
  ];
  if (alias.split?.model === alias.model) throw new SplitOfOneModel();
  for (const [param, name] of named) {
    const model = await modelFor(deps, actor, owner, name);
    if (!model) throw new ModelNotFound(name, [], param);
    if (named.length > 1 && model.task !== 'generate') throw new NotInterchangeable(param);
  }
};

type Expected = readonly number[] | undefined;

// An alias that doesn't exist has version 0.
const checkAlias = (before: ModelAlias | undefined, expected: Expected): void => {
  checkVersion({ version: versionOfAlias(before) }, expected);
};

// A split that stops at the same time changes the row. A caller who expects a version gets a 412 then.
const MAX_ATTEMPTS = 3;

const untilUnchanged = async <Result>(change: () => Promise<Result>): Promise<Result> => {
  for (let attempt = 1; ; attempt++)
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof AliasChanged) || attempt === MAX_ATTEMPTS) throw error;
    }
};

/**
 * Sets the model of an alias, which need not exist yet, its fallbacks and its split. Requests see the change within
 * 30 s. Concurrent requests can exceed the most aliases slightly.
 * @param expected versions; 0: the alias must not exist yet
 * @throws 400, 403 and 404 for its organization, 404 for its models, 409 if a model has its name or there are too
 *   many, 412
 */
export const setModelAlias = async (
  deps: ModelAliasDependencies,
  actor: Actor,
  name: string,
  fields: NewModelAlias,
  expected?: Expected,
): Promise<ModelAliasResource> => {
  const { alias } = validate(AliasParameters, { alias: name });
  const owner = ownerOf(actor, fields.organization);
  if (await modelFor(deps, actor, owner, alias)) throw new AliasIsModel(alias);
  await checkModels(deps, actor, owner, fields);
  return untilUnchanged(async () => {
    const aliases = await deps.aliases.list(owner);
    const before = aliases.get(alias);
    checkAlias(before, expected);
    if (!before && aliases.size >= MAX_ALIASES) throw new TooManyAliases(MAX_ALIASES);
    const after = planAlias(alias, before, fields, actor.origin.nowMs);
    if (isDeepStrictEqual(before, after)) return toAliasResource(organizationOf(owner), after);
    await save(deps, actor, { action: 'model_alias.updated', owner, alias, before, after }, [
      ...(owner === SERVERLESS_POOL ? [] : [deps.organizations.toCheckActive(owner)]),
      deps.aliases.toPut(owner, after, before),
    ]);
    return toAliasResource(organizationOf(owner), { ...after, version: versionOfAlias(before) + 1 });
  });
};

const notFound = (alias: string) => new ResourceNotFound('model alias', alias, 'alias', 'Check the alias.');

/** Deletes an alias. @throws 404, 412 */
export const deleteModelAlias = async (
  deps: ModelAliasDependencies,
  actor: Actor,
  alias: string,
  organization: string | undefined,
  expected?: Expected,
): Promise<void> => {
  const owner = ownerOf(actor, organization);
  await untilUnchanged(async () => {
    const before = await deps.aliases.get(owner, alias);
    if (!before) throw notFound(alias);
    checkAlias(before, expected);
    await save(deps, actor, { action: 'model_alias.deleted', owner, alias, before }, [deps.aliases.toDelete(owner, before)]);
  });
};

// Aliases for all lead to shared models, and users don't see those that are not published.
const canSee = async ({ models }: ModelAliasDependencies, actor: Actor, owner: string): Promise<(alias: ModelAlias) => boolean> => {
  if (isOfPlatform(actor) || owner !== SERVERLESS_POOL) return () => true;
  const shared = await models.list(owner);
  return ({ model }) => shared.get(model)?.status === 'published';
};

/**
 * Finds an alias that the actor's requests can use: without an organization, their own one's comes before one for all.
 * @throws 404
 */
export const retrieveModelAlias = async (
  deps: ModelAliasDependencies,
  actor: Actor,
  name: string,
  organization: string | undefined,
): Promise<ModelAliasResource> => {
  for (const owner of poolsFor(actor, organization)) {
    const alias = await deps.aliases.get(owner, name);
    if (alias && (await canSee(deps, actor, owner))(alias)) return toAliasResource(organizationOf(owner), alias);
  }
  throw notFound(name);
};

interface Listed {
  /** Unique, and in the order of the list: `!` comes before all characters of names. */
  place: string;
  resource: ModelAliasResource;
}
const PLACE = /^[^!]+![01]$/;

/**
 * Lists the aliases that the actor's requests can use, sorted by alias; of two with the same alias, the organization's
 * comes first and wins. Admins see those of one owner.
 * @throws 400, 404
 */
export const listModelAliases = async (
  deps: ModelAliasDependencies,
  actor: Actor,
  { organization, limit, after = '' }: PageRequest & { organization?: string | undefined },
): Promise<Page<ModelAliasResource>> => {
  if (after !== '' && !PLACE.test(after)) throw new WrongCursor();
  const listOf = async (owner: string, rank: number): Promise<Listed[]> => {
    const aliases = await deps.aliases.list(owner);
    const isListed = await canSee(deps, actor, owner);
    return [...aliases]
      .filter(([, alias]) => isListed(alias))
      .map(([name, alias]) => ({ place: `${name}!${rank}`, resource: toAliasResource(organizationOf(owner), alias) }));
  };
  const listed = (await Promise.all(poolsFor(actor, organization).map(listOf))).flat();
  const rest = listed.filter(({ place }) => place > after).sort((a, b) => (a.place < b.place ? -1 : 1));
  const page = rest.slice(0, limit);
  const hasMore = rest.length > page.length;
  return {
    object: 'list',
    data: page.map(({ resource }) => resource),
    has_more: hasMore,
    next: hasMore ? (page.at(-1)?.place ?? null) : null,
  };
};
