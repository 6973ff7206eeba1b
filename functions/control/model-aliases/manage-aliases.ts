import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import type { Page, PageRequest } from '../../../shared/http/page.ts';
import { validate } from '../../../shared/http/validate.ts';
import { type AliasStore, MAX_ALIASES } from '../../../shared/models/alias-store.ts';
import { ModelNotFound } from '../../../shared/models/errors.ts';
import type { Model } from '../../../shared/models/model.ts';
import { type ModelStore, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { type Actor, type ActorChecks, isOfPlatform, organizationFor } from '../access/actor.ts';
import { isVisible, poolOf, poolsFor } from '../model-registry/find-model.ts';
import { organizationOf } from '../model-registry/model-resource.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import { AliasParameters, type ModelAliasResource, type NewModelAlias, toAliasResource } from './alias-resource.ts';
import { AliasIsModel, TooManyAliases } from './errors.ts';

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
  before: string | undefined;
  after?: string;
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
      ...(before !== undefined && { before: { model: before } }),
      ...(after !== undefined && { after: { model: after } }),
    },
    [...deps.users.toCheckActor(actor), ...writes],
  );

/**
 * Sets the model of an alias, which need not exist yet. Requests see the change within 30 s. Concurrent requests can
 * exceed the most aliases slightly.
 * @throws 400, 403 and 404 for its organization, 404 for its model, 409 if a model has its name or there are too many
 */
export const setModelAlias = async (
  deps: ModelAliasDependencies,
  actor: Actor,
  name: string,
  { model, organization }: NewModelAlias,
): Promise<ModelAliasResource> => {
  const { alias } = validate(AliasParameters, { alias: name });
  const owner = ownerOf(actor, organization);
  if (await modelFor(deps, actor, owner, alias)) throw new AliasIsModel(alias);
  if (!(await modelFor(deps, actor, owner, model))) throw new ModelNotFound(model);
  const aliases = await deps.aliases.list(owner);
  const before = aliases.get(alias);
  if (before === undefined && aliases.size >= MAX_ALIASES) throw new TooManyAliases(MAX_ALIASES);
  if (before !== model)
    await save(deps, actor, { action: 'model_alias.updated', owner, alias, before, after: model }, [
      ...(owner === SERVERLESS_POOL ? [] : [deps.organizations.toCheckActive(owner)]),
      deps.aliases.toPut(owner, { alias, model }),
    ]);
  return toAliasResource(organizationOf(owner), { alias, model });
};

/** Deletes an alias. @throws 404 */
export const deleteModelAlias = async (
  deps: ModelAliasDependencies,
  actor: Actor,
  alias: string,
  organization: string | undefined,
): Promise<void> => {
  const owner = ownerOf(actor, organization);
  const before = (await deps.aliases.list(owner)).get(alias);
  if (before === undefined) throw new ResourceNotFound('model alias', alias, 'alias', 'Check the alias.');
  await save(deps, actor, { action: 'model_alias.deleted', owner, alias, before }, [deps.aliases.toDelete(owner, alias)]);
};

interface Listed {
  /** Unique, and in the order of the list: `!` comes before all characters of names. */
  place: string;
  resource: ModelAliasResource;
}

/**
 * Lists the aliases that the actor's requests can use, sorted by alias; of two with the same alias, the organization's
 * comes first and wins. Admins see those of one owner.
 * @throws 404
 */
export const listModelAliases = async (
  deps: ModelAliasDependencies,
  actor: Actor,
  { organization, limit, after = '' }: PageRequest & { organization?: string | undefined },
): Promise<Page<ModelAliasResource>> => {
  const listOf = async (owner: string, rank: number): Promise<Listed[]> => {
    const aliases = await deps.aliases.list(owner);
    // Aliases for all lead to shared models, and users don't see those that are not published.
    const models = !isOfPlatform(actor) && owner === SERVERLESS_POOL ? await deps.models.list(owner) : undefined;
    return [...aliases]
      .filter(([, model]) => !models || models.get(model)?.status === 'published')
      .map(([alias, model]) => ({ place: `${alias}!${rank}`, resource: toAliasResource(organizationOf(owner), { alias, model }) }));
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
