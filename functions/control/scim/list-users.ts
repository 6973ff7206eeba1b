import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { ScimConnection } from './connection.ts';
import type { ScimDependencies } from './dependencies.ts';
import { findScimUser, isOfOrganization, type ScimUser } from './find-user.ts';
import { InvalidScimFilter } from './protocol/errors.ts';
import { parseScimFilter, type ScimCondition } from './protocol/filter.ts';
import type { ScimUserRow } from './scim-store.ts';

/** A part of a list, counted from 1. */
export interface ScimPage {
  startIndex: number;
  count: number;
}

const SUPPORTED = 'userName eq "ada@example.com", or externalId, id or emails.value in its place';

const sameText = (a: string | null, b: ScimCondition['value']): boolean => typeof b === 'string' && a?.toLowerCase() === b.toLowerCase();

const MATCHES: Readonly<Record<string, (found: ScimUser, value: ScimCondition['value']) => boolean>> = {
  id: ({ user }, value) => user.id === value,
  externalid: ({ row }, value) => row.external_id === value,
  username: ({ user }, value) => sameText(user.email, value),
  emails: ({ user }, value) => sameText(user.email, value),
  'emails.value': ({ user }, value) => sameText(user.email, value),
  'emails.type': (_, value) => sameText('work', value),
  'emails.primary': (_, value) => value === true,
  active: ({ user }, value) => String(value) === String(user.status === 'active'),
};

// One of the conditions must find users without a read of each.
const idsOf = async (deps: ScimDependencies, { provider }: ScimConnection, conditions: readonly ScimCondition[]): Promise<string[]> => {
  const wanted = (...names: string[]) => conditions.find(({ attribute }) => names.includes(attribute))?.value;
  const id = wanted('id');
  if (id !== undefined) return [String(id)];
  const address = wanted('username', 'emails.value', 'emails');
  if (address !== undefined) {
    const found = await deps.users.idOfEmail(String(address).toLowerCase());
    return found === undefined ? [] : [found];
  }
  const externalId = wanted('externalid');
  if (typeof externalId !== 'string') throw new InvalidScimFilter(SUPPORTED);
  return (await deps.scim.listUsers(provider.id)).filter((row) => row.external_id === externalId).map((row) => row.id);
};

const find = async (deps: ScimDependencies, connection: ScimConnection, filter: string): Promise<ScimUser[]> => {
  const conditions = parseScimFilter(filter, SUPPORTED);
  if (conditions.some(({ attribute }) => !Object.hasOwn(MATCHES, attribute))) throw new InvalidScimFilter(SUPPORTED);
  const found: ScimUser[] = [];
  for (const id of (await idsOf(deps, connection, conditions)).slice(0, MAX_FOUND)) {
    const each = await findScimUser(deps, connection, id);
    if (each && conditions.every(({ attribute, value }) => MATCHES[attribute]?.(each, value))) found.push(each);
  }
  return found;
};

// More users with the same external id are a mistake of the identity provider.
const MAX_FOUND = 10;

// Users whom an owner has deleted leave their rows behind, and can be invited again by another organization.
const removeRows = async (deps: ScimDependencies, { provider }: ScimConnection, rows: readonly ScimUserRow[]): Promise<void> => {
  const failures = await inParallel(rows, 5, ({ id }) => transact(deps.database, [deps.scim.toDeleteUser(provider.id, id)]));
  throwFailures(failures);
};

const USERS_PER_READ = 100;

const usersOf = async (deps: ScimDependencies, { actor }: ScimConnection, rows: readonly ScimUserRow[]) => {
  const byId = new Map<string, ScimUser['user']>();
  for (let from = 0; from < rows.length; from += USERS_PER_READ) {
    const read = await deps.users.getMany(rows.slice(from, from + USERS_PER_READ).map(({ id }) => id));
    for (const user of read) if (isOfOrganization(user, actor.organization)) byId.set(user.id, user);
  }
  return byId;
};

/**
 * Lists users: with a filter, those who match, also users of the organization whom the connection does not manage yet;
 * without one, those whom it manages, by id.
 * @throws 400
 */
export const listScimUsers = async (
  deps: ScimDependencies,
  connection: ScimConnection,
  filter: string | undefined,
  { startIndex, count }: ScimPage,
): Promise<{ users: ScimUser[]; total: number }> => {
  const from = startIndex - 1;
  if (filter !== undefined) {
    const found = await find(deps, connection, filter);
    return { users: found.slice(from, from + count), total: found.length };
  }
  const listed = await deps.scim.listUsers(connection.provider.id);
  // All rows without a user are removed with the first page: if one of it were removed later, the next page would begin
  // one user too late.
  const isFirst = from === 0;
  const byId = await usersOf(deps, connection, isFirst ? listed : listed.slice(from, from + count));
  const rows = isFirst ? listed.filter(({ id }) => byId.has(id)) : listed;
  if (isFirst)
    await removeRows(
      deps,
      connection,
      listed.filter(({ id }) => !byId.has(id)),
    );
  const users = rows.slice(from, from + count).flatMap((row) => {
    const user = byId.get(row.id);
    return user ? [{ user, row, isManaged: true }] : [];
  });
  return { users, total: rows.length };
};
