import { isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { type Model, usableModels } from './model-choice.ts';

const AT_ONCE = 100;

/**
 * The models that a user can send requests to, with those of an organization's deployments first.
 * @param organization for users of the platform: the one that pays. Empty: nothing is read yet
 */
export const useModels = (organization: string) => {
  const ofPlatform = isOfPlatform(useSignedIn());
  const shared = useRead('GET /v1/models', { query: { limit: AT_ONCE } }, { enabled: !ofPlatform || organization !== '' });
  // The list of others has their deployments already.
  const own = useRead('GET /v1/models', { query: { limit: AT_ONCE, organization } }, { enabled: ofPlatform && organization !== '' });
  const needed = ofPlatform ? [own, shared] : [shared];
  const isRead = needed.every(({ data }) => data !== undefined);
  return {
    data: isRead ? needed.flatMap(({ data }): Model[] => usableModels(data?.data ?? [])) : undefined,
    error: needed.find(({ error }) => error)?.error ?? null,
    refetch: () => needed.map((query) => query.refetch()),
  };
};
