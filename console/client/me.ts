import type { Permission } from '../../shared/hosts/permissions.ts';
import { useRead } from './queries.ts';
import type { ReplyBody } from './routes.ts';

/** The signed-in user, with their permissions. */
export type Me = ReplyBody<'GET /v1/me'>;

/** Reads the signed-in user. The shell renders screens only when it is there. */
export const useMe = () => useRead('GET /v1/me', {});

/** The user as they were read last, without reading them now; undefined before the first time. */
export const useKnownMe = (): Me | undefined => useRead('GET /v1/me', {}, { enabled: false }).data;

/** The signed-in user, on a screen. @throws Error outside the shell */
export const useSignedIn = (): Me => {
  const { data } = useMe();
  if (!data) throw new Error('Screens are shown only to signed-in users.');
  return data;
};

/** True if the user's role includes a permission. The API decides by itself. */
export const can = ({ permissions }: Me, permission: Permission): boolean => permissions.includes(permission);

/** True for those who work for the platform, and so belong to no organization. */
export const isOfPlatform = ({ organization }: Me): boolean => organization === null;

/**
 * True for members: usage, costs and requests are those of the API keys that they created, not of their organization.
 */
export const seesOnlyOwn = ({ role }: Pick<Me, 'role'>): boolean => role === 'member';

/**
 * Says if this session began with the identity provider of the user's organization, so that the user has no password
 * here. `isPending`: not read yet.
 */
export const useIsFromProvider = (): { isPending: boolean; isFromProvider: boolean } => {
  const { data, isPending } = useRead('GET /v1/me/sessions', {});
  const current = data?.data.find(({ is_current }) => is_current);
  return { isPending, isFromProvider: current?.proof.startsWith('sso:') ?? false };
};
