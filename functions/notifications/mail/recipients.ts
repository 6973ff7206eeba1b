import { permissionsOf } from '../../../shared/hosts/permissions.ts';
import { isActiveIn, type UserDirectory } from '../../../shared/identity/user-directory.ts';
import type { Notification } from '../../../shared/notifications/notification.ts';
import type { Mail } from './mail-store.ts';

export interface RecipientDependencies {
  users: UserDirectory;
  /** The addresses in an organization's billing profile. */
  emailsOf: (organization: string) => Promise<readonly string[]>;
}

/** An address, and the reason why it gets an email. */
export interface Recipient {
  to: string;
  /** Absent for support's address, which the deployer has configured. */
  reader?: Mail['reader'];
}

const MAX_OWNERS = 10;

/** The active owners of an organization, at most ten. */
export const ownersOf = async ({ users }: RecipientDependencies, organization: string): Promise<Recipient[]> => {
  const owners = await users.ownersOf(organization, MAX_OWNERS);
  return owners.map((owner) => ({ to: owner.email, reader: { user: owner.id, least: 'owner' } }));
};

/**
 * The recipients of support's messages and decisions: the user who opened the ticket, if they are active in its
 * organization; otherwise its owners, who see all its tickets.
 */
export const ticketReaders = async (
  deps: RecipientDependencies,
  { organization, recipient, user: id }: Pick<Notification, 'organization' | 'recipient' | 'user'>,
): Promise<Recipient[]> => {
  if (recipient === undefined) return [];
  const opener = id === undefined ? await deps.users.ofEmail(recipient) : await deps.users.get(id);
  if (opener && isActiveIn(opener, organization, 'member')) return [{ to: opener.email, reader: { user: opener.id, least: 'member' } }];
  return ownersOf(deps, organization);
};

// A user's address gets emails about money only while the user can see invoices. An owner entered any other address.
const mayReadInvoices = async ({ users }: RecipientDependencies, organization: string, address: string): Promise<boolean> => {
  const user = await users.ofEmail(address);
  if (!user) return true;
  return user.status === 'active' && permissionsOf(user.role).has('billing:read') && (user.organization ?? organization) === organization;
};

// Each in its first spelling: capital letters don't make another address.
const uniqueOf = (addresses: readonly string[]): string[] => {
  const spellings = addresses.map((address) => address.toLowerCase());
  return addresses.filter((_, i) => spellings.indexOf(spellings[i] as string) === i);
};

/** The addresses that get emails about an organization's budgets, credit and invoices. */
export const billingReaders = async (deps: RecipientDependencies, organization: string): Promise<Recipient[]> => {
  const addresses = uniqueOf(await deps.emailsOf(organization));
  const allowed = await Promise.all(addresses.map((address) => mayReadInvoices(deps, organization, address)));
  return addresses.filter((_, i) => allowed[i]).map((to) => ({ to, reader: 'billing' }));
};

/** True if an email may still be sent. Its recipient can have left the organization since it was created. */
export const mayStillRead = async (
  deps: RecipientDependencies,
  { organization, to, reader }: Pick<Mail, 'organization' | 'to' | 'reader'>,
): Promise<boolean> => {
  if (reader === undefined) return true;
  if (reader === 'billing') return (await deps.emailsOf(organization)).includes(to) && mayReadInvoices(deps, organization, to);
  return isActiveIn(await deps.users.get(reader.user), organization, reader.least);
};
