import type { Permission, Role } from '../../../shared/hosts/permissions.ts';
import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { permissionsOfRole } from './role-permissions.ts';

export type ServiceAccount = ReplyBody<'GET /v1/service-accounts/{id}'>;

/** The `permissions` of a draft that stands for all of its role. */
export const ALL = 'all';

/** The fields of a service account as its forms edit them. */
export type AccountDraft = {
  name: string;
  description: string;
  role: Role;
  /** `all`, or the chosen permissions with commas between them. */
  permissions: string;
};

export const ACCOUNT_LABELS = {
  name: 'Name',
  description: 'Description',
  role: 'Role',
  permissions: 'Permissions',
} as const satisfies Record<keyof AccountDraft, string>;

export const EMPTY_ACCOUNT: AccountDraft = { name: '', description: '', role: 'viewer', permissions: '' };

const SEPARATOR = ', ';

/** The chosen permissions of a draft; none if it has all of its role. */
export const chosenIn = ({ permissions }: Pick<AccountDraft, 'permissions'>): Permission[] =>
  permissions === ALL || permissions === '' ? [] : (permissions.split(SEPARATOR) as Permission[]);

const toText = (permissions: readonly string[]): string => [...permissions].sort().join(SEPARATOR);

/** The change of a draft that chooses a permission, or gives it up. */
export const withChosen = (draft: AccountDraft, permission: Permission, isChosen: boolean): Partial<AccountDraft> => {
  const others = chosenIn(draft).filter((one) => one !== permission);
  return { permissions: toText(isChosen ? [...others, permission] : others) };
};

/** The change of a draft that gives it another role. Chosen permissions that the role doesn't have are given up. */
export const withRole = (draft: AccountDraft, role: Role): Partial<AccountDraft> => ({
  role,
  ...(draft.permissions !== ALL && {
    permissions: toText(chosenIn(draft).filter((permission) => permissionsOfRole(role).includes(permission))),
  }),
});

/** A service account as its form edits it. */
export const draftOfAccount = ({ name, description, role, permissions }: ServiceAccount): AccountDraft => ({
  name,
  description: description ?? '',
  role,
  permissions: permissions === null ? ALL : toText(permissions),
});

const permissionsIn = (draft: AccountDraft): Permission[] | null => (draft.permissions === ALL ? null : chosenIn(draft));

/** The body that creates a service account. @param organization absent: the caller's own, or the platform */
export const newAccountOf = (draft: AccountDraft, organization: string | undefined): RequestBody<'POST /v1/service-accounts'> => ({
  name: draft.name.trim(),
  description: draft.description.trim() || null,
  role: draft.role,
  permissions: permissionsIn(draft),
  ...(organization && { organization }),
});

/** The body that changes a service account: only what differs from it. */
export const changesOfAccount = (draft: AccountDraft, account: ServiceAccount): RequestBody<'PATCH /v1/service-accounts/{id}'> => {
  const opened = draftOfAccount(account);
  return {
    ...(draft.name !== opened.name && { name: draft.name.trim() }),
    ...(draft.description !== opened.description && { description: draft.description.trim() || null }),
    ...(draft.role !== opened.role && { role: draft.role }),
    ...(draft.permissions !== opened.permissions && { permissions: permissionsIn(draft) }),
  };
};
