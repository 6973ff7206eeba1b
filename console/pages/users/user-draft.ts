import type { RequestBody } from '../../client/routes.ts';
import { faultOfCount } from '../../design/format/limits.ts';
import type { User } from './roles.ts';

/** The fields of a user as their form edits them. */
export type UserDraft = { name: string; role: User['role']; maxApiKeys: string };

export const USER_LABELS = { name: 'Name', role: 'Role', maxApiKeys: 'Maximum active API keys' } as const satisfies Record<
  keyof UserDraft,
  string
>;

/** A user as their form edits them. */
export const draftOfUser = ({ name, role, max_api_keys }: User): UserDraft => ({
  name: name ?? '',
  role,
  maxApiKeys: String(max_api_keys),
});

const MOST_API_KEYS = 1_000;

/** Why the number of API keys can't be sent; undefined: it can, or the field is empty. */
export const faultOfApiKeys = ({ maxApiKeys }: Pick<UserDraft, 'maxApiKeys'>): string | undefined =>
  faultOfCount(maxApiKeys, MOST_API_KEYS);

/** The body that changes a user: only what differs from them. */
export const changesOfUser = (draft: UserDraft, user: User): RequestBody<'PATCH /v1/users/{id}'> => {
  const opened = draftOfUser(user);
  return {
    ...(draft.name !== opened.name && { name: draft.name.trim() || null }),
    ...(draft.role !== opened.role && { role: draft.role }),
    ...(draft.maxApiKeys !== opened.maxApiKeys && { max_api_keys: Number(draft.maxApiKeys) }),
  };
};
