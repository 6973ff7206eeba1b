import { transact } from '../../../../shared/database/transaction.ts';
import { isExpiryOf } from '../../../../shared/service-accounts/secret-expiries.ts';
import type { StoredServiceAccount } from '../../../../shared/service-accounts/service-account-store.ts';
import { deleteItems } from './delete-items.ts';
import type { Deletion } from './deletion.ts';

const PAGE = 100;
// An organization has at most a thousand users and a hundred service accounts. Older releases did not limit users.
const MAX_ID_PAGES = 1_000;

// The rows of an organization that list and count its identities.
const LISTS = /^(?:service-account#|identity-provider#|service-accounts$|identity-providers$|federation-issuers$)/;

const idsOfUsers = async ({ deps, organization }: Deletion): Promise<string[]> => {
  const ids: string[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_ID_PAGES; page++) {
    const { data, next } = await deps.users.list(organization.id, { limit: PAGE, after });
    ids.push(...data.map(({ id }) => id));
    if (!next) return ids;
    after = next;
  }
  throw new Error(`There are more than ${MAX_ID_PAGES} pages.`);
};

const serviceAccountsOf = async ({ deps, organization }: Deletion): Promise<StoredServiceAccount[]> =>
  (await deps.serviceAccounts.list(organization.id, { limit: PAGE })).accounts;

/**
 * Deletes service accounts with secrets and federation rules, identity providers with client secrets, domains, SCIM
 * tokens, groups and links to users. The rows that list them come last, so that a repeated
 * deletion finds what a crash has left. @returns the numbers of service accounts and identity providers
 */
export const deleteIdentities = async (deletion: Deletion): Promise<{ service_accounts: number; identity_providers: number }> => {
  const { deps, organization, isDeleting } = deletion;
  const accounts = await serviceAccountsOf(deletion);
  const providers = await deps.identityProviders.list(organization.id);
  const report = { service_accounts: accounts.length, identity_providers: providers.length };
  if (!isDeleting) return report;

  for (const { subject } of accounts) await deps.userPool.deleteUser(subject);
  for (const { id } of providers) await deps.clientSecrets.delete(id);
  const owners = new Set([
    ...accounts.map(({ id }) => id),
    ...(await idsOfUsers(deletion)),
    ...providers.flatMap(({ id }) => [id, `identity#${id}`]),
  ]);
  const domains = new Set(providers.flatMap((provider) => provider.domains.map(({ domain }) => `domain#${domain}`)));
  const table = deps.tables.accounts;
  const key = ['account', 'record'];
  await deleteItems(
    deps.database,
    {
      table,
      key,
      reads: ['organization'],
      isOwn: (row) =>
        (owners.has(String(row.account)) && row.record !== 'user') ||
        (domains.has(String(row.account)) && row.organization === organization.id) ||
        isExpiryOf(owners, row),
    },
    isDeleting,
  );
  for (const account of accounts) await transact(deps.database, await deps.serviceAccounts.toDelete(account));
  const isListing = ({ account, record }: Record<string, unknown>): boolean => account === organization.id && LISTS.test(String(record));
  await deleteItems(deps.database, { table, key, isOwn: isListing }, isDeleting);
  return report;
};
