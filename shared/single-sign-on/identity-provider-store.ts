import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { Conflict } from '../http/errors.ts';
import { closesPasswords, IdentityProvider } from './identity-provider.ts';

const PROVIDER = 'identity-provider#';
/** The most connections of an organization. */
export const MAX_PROVIDERS = 5;

const recordKeyOf = (organization: string, id: string): RecordKey => ({ account: organization, record: PROVIDER + id });
const countRecordKey = (organization: string): RecordKey => ({ account: organization, record: 'identity-providers' });
// The row that reserves a verified domain for one connection.
const domainRecordKey = (domain: string): RecordKey => ({ account: `domain#${domain}`, record: 'holder' });

const tooMany = (): Conflict =>
  new Conflict({
    code: 'too_many_identity_providers',
    message: `An organization can have at most ${MAX_PROVIDERS} identity providers. Delete one first.`,
  });

const domainTaken = (domain: string): Conflict =>
  new Conflict({
    code: 'domain_taken',
    message: `Another identity provider has verified the domain ${domain}. Remove the domain there first, or open a ticket if you don't know it.`,
  });

/** The users of an organization who can use a password. */
export interface PasswordRule {
  isClosed: boolean;
  /** The owners who can use their password all the same. */
  breakGlass: readonly string[];
}

/**
 * Connections to OpenID providers in the table `accounts`: one row each, in the partition of their organization, and a
 * row for each verified domain.
 */
export const createIdentityProviderStore = (table: RecordTable) => {
  const find = async (organization: string, id: string): Promise<IdentityProvider | undefined> => {
    const row = await table.get(recordKeyOf(organization, id));
    return row && IdentityProvider.parse(row);
  };

  const list = async (organization: string): Promise<IdentityProvider[]> => {
    const { rows } = await table.page({ account: organization, prefix: PROVIDER }, { limit: MAX_PROVIDERS });
    return rows.map((row) => IdentityProvider.parse(row));
  };

  return {
    find,

    /** Lists an organization's connections, oldest first. */
    list,

    /** Returns the connection that has verified exactly this domain, which must be in lower case. */
    ofDomain: async (domain: string): Promise<IdentityProvider | undefined> => {
      const holder = await table.get(domainRecordKey(domain));
      return holder && find(String(holder.organization), String(holder.identity_provider));
    },

    /** Reads which users of an organization can use a password: all, unless an active connection is enforced. */
    passwordRule: async (organization: string): Promise<PasswordRule> => {
      const closing = (await list(organization)).filter(closesPasswords);
      return { isClosed: closing.length > 0, breakGlass: closing.flatMap(({ break_glass }) => break_glass ?? []) };
    },

    /** Creates a connection. Fails with a 409 if the organization has too many. */
    toCreate: (provider: IdentityProvider): Write[] => [
      table.toCreate(recordKeyOf(provider.organization, provider.id), provider, () => new Error(`${provider.id} already exists.`)),
      table.toCount(countRecordKey(provider.organization), 1, MAX_PROVIDERS, tooMany),
    ],

    /** Replaces the version that was read; 412 if it has changed since. */
    toReplace: (provider: IdentityProvider): Write => table.toReplace(recordKeyOf(provider.organization, provider.id), provider),

    /** Deletes the version that was read; 412 if it has changed since. */
    toDelete: ({ organization, id, version }: IdentityProvider): Write[] => [
      table.toDelete(recordKeyOf(organization, id), version),
      table.toCount(countRecordKey(organization), -1, MAX_PROVIDERS, tooMany),
    ],

    /** Reserves a verified domain for a connection. Fails with a 409 if another one has it. */
    toHoldDomain: ({ organization, id }: IdentityProvider, domain: string): Write =>
      table.toCreate(domainRecordKey(domain), { organization, identity_provider: id }, () => domainTaken(domain)),

    /** Releases a domain that the connection has verified. */
    toReleaseDomain: (domain: string): Write => table.toDelete(domainRecordKey(domain)),
  };
};

export type IdentityProviderStore = ReturnType<typeof createIdentityProviderStore>;
