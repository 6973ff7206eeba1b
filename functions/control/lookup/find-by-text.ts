import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { type Actor, can, seesOnlyOwn } from '../access/actor.ts';
import type { StoredApiKey } from '../api-keys/api-key.ts';
import { isVisible } from '../model-registry/find-model.ts';
import { findById } from './find-by-id.ts';
import type { LookupDependencies } from './lookup-dependencies.ts';
import type { LookupMatch } from './lookup-resource.ts';

// A page of the database ends at 1 MB, which has about as many keys.
const MAX_KEYS_READ = 1_500;

/** Finds a user whom the actor can see by their email address. */
export const findByEmail = async (deps: LookupDependencies, actor: Actor, text: string): Promise<LookupMatch[]> => {
  const id = text.includes('@') && can(actor, 'users:read') ? await deps.users.idOfEmail(text.toLowerCase()) : undefined;
  return id === undefined ? [] : findById(deps, actor, id);
};

// Hints have the start and the end of a secret.
const isNamed = ({ name, hint }: StoredApiKey, text: string): boolean => hint === text || name.toLowerCase().startsWith(text.toLowerCase());

/** Finds keys that the actor can see by their hint or the start of their name, among the newest of the organization. */
export const findKeys = async (
  deps: LookupDependencies,
  actor: Actor,
  text: string,
): Promise<{ matches: LookupMatch[]; hasMore: boolean }> => {
  if (actor.organization === null || !can(actor, 'keys:read')) return { matches: [], hasMore: false };
  const { keys, hasMore } = await deps.apiKeys.list(actor.organization, { limit: MAX_KEYS_READ });
  const visible = keys.filter((key) => isNamed(key, text) && (!seesOnlyOwn(actor) || key.created_by === actor.userId));
  const matches = visible.map(
    ({ id, name, organization }): LookupMatch => ({ object: 'api_key', id, name, organization, url_path: `/v1/api-keys/${id}` }),
  );
  return { matches, hasMore };
};

/** Finds the deployment and the shared model with a name. */
export const findByModelName = async (deps: LookupDependencies, actor: Actor, name: string): Promise<LookupMatch[]> => {
  const { organization } = actor;
  const deployment = organization !== null && can(actor, 'deployments:read') ? await deps.deployments.idOf(organization, name) : undefined;
  const model = can(actor, 'models:read') ? await deps.models.get(SERVERLESS_POOL, name) : undefined;
  return [
    ...(deployment === undefined ? [] : await findById(deps, actor, deployment)),
    ...(model && isVisible(actor, SERVERLESS_POOL, model)
      ? [{ object: 'model' as const, id: name, name, organization: null, url_path: `/v1/models/${name}` }]
      : []),
  ];
};
