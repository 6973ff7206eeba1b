import { isDeepStrictEqual } from 'node:util';
import { revokeApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { deleteTicket } from '../../../../functions/support/delete-ticket.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { noDailyQuota } from '../accounts.ts';
import { DELETED_NAME, type Deletion } from './deletion.ts';

const PAGE = 100;
// Enough for a hundred thousand users or tickets.
const MAX_ID_PAGES = 1_000;

interface IdPage {
  ids: readonly string[];
  /** Where the next page begins, if there is one. */
  next: string | null | undefined;
}

// A deleted entry has left the list, so after a deletion the next page is the first one again.
const forEachId = async (
  read: (after: string | undefined) => Promise<IdPage>,
  { isDeleting }: Deletion,
  remove: (id: string) => Promise<void>,
): Promise<number> => {
  let count = 0;
  let after: string | undefined;
  for (let page = 0; page < MAX_ID_PAGES; page++) {
    const { ids, next } = await read(after);
    count += ids.length;
    if (isDeleting) for (const id of ids) await remove(id);
    if (!next) return count;
    after = isDeleting ? undefined : next;
  }
  throw new Error(`There are more than ${MAX_ID_PAGES} pages.`);
};

/** The identity provider is first, so that a user who is still there can be found again after a crash. */
export const deleteUsers = (deletion: Deletion): Promise<number> => {
  const { deps, organization } = deletion;
  const read = async (after: string | undefined): Promise<IdPage> => {
    const { data, next } = await deps.users.list(organization.id, { limit: PAGE, after });
    return { ids: data.map(({ id }) => id), next };
  };
  return forEachId(read, deletion, async (id) => {
    const user = await deps.users.get(id);
    if (!user) return;
    await deps.userPool.deleteUser(user.subject);
    // They have addresses of people, and nothing leads to them without the user.
    await deps.sessions.forget(id);
    await transact(deps.database, deps.users.toDeleteWithEmail(user));
  });
};

export const deleteTickets = (deletion: Deletion): Promise<number> => {
  const { deps, organization, operator } = deletion;
  const read = async (after: string | undefined): Promise<IdPage> => {
    const { tickets, next } = await deps.tickets.list({ organization: organization.id }, { limit: PAGE, after, matches: () => true });
    return { ids: tickets.map(({ id }) => id), next };
  };
  return forEachId(read, deletion, async (id) => {
    const ticket = await deps.tickets.find(id);
    if (ticket) await deleteTicket(deps, ticket, { origin: operator.origin, reason: 'data of the organization deleted' });
  });
};

export const deleteAliases = async ({ deps, organization: { id }, isDeleting }: Deletion): Promise<number> => {
  const aliases = await deps.aliases.list(id);
  if (isDeleting) for (const alias of aliases.values()) await transact(deps.database, [deps.aliases.toDelete(id, alias)]);
  return aliases.size;
};

/** Projects stay, because usage refers to them, without their names. */
export const renameProjects = async ({ deps, organization, isDeleting }: Deletion): Promise<number> => {
  let count = 0;
  for await (const project of deps.projects.listAll(organization.id)) {
    if (project.name === DELETED_NAME) continue;
    count++;
    if (isDeleting) await transact(deps.database, [deps.projects.toReplace({ ...project, name: DELETED_NAME })]);
  }
  return count;
};

/** Keys stay, because usage and invoices refer to them, but nobody can use them or recognize whose they were. */
export const endKeys = async ({ deps, keys, operator, isDeleting }: Deletion): Promise<number> => {
  const keysToEnd = keys.filter(
    ({ status, name, metadata }) => status === 'active' || name !== DELETED_NAME || !isDeepStrictEqual(metadata, {}),
  );
  if (!isDeleting) return keysToEnd.length;
  for (const { id, organization } of keysToEnd) {
    await revokeApiKey({ ...deps, quotas: noDailyQuota }, operator, id);
    const key = await deps.apiKeys.get(organization, id);
    await transact(deps.database, [deps.apiKeys.toReplace({ ...key, name: DELETED_NAME, metadata: {} })]);
  }
  return keysToEnd.length;
};
