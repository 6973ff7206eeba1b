import { useRead } from './queries.ts';

/**
 * Says if this session began with the identity provider of the user's organization, so that the user has no password
 * here. `isPending`: not read yet.
 */
export const useIsFromProvider = (): { isPending: boolean; isFromProvider: boolean } => {
  const { data, isPending } = useRead('GET /v1/me/sessions', {});
  const current = data?.data.find(({ is_current }) => is_current);
  return { isPending, isFromProvider: current?.proof.startsWith('sso:') ?? false };
};
