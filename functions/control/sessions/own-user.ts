import * as z from 'zod';
import { PERMISSIONS } from '../../../shared/hosts/permissions.ts';
import { User } from '../../../shared/identity/user.ts';
import { toWire } from '../../../shared/identity/user-store.ts';
import { can } from '../access/actor.ts';
import { Currency, type CurrencyReads } from '../billing/currency.ts';
import type { SignedInUser } from './authenticate.ts';

/** A user as they see themselves. */
export const OwnUser = User.extend({
  organization_name: z.string().nullable().meta({ description: 'null for users who work for the platform.' }),
  currency: Currency.meta({ description: 'The currency of all prices, budgets and costs.' }),
  permissions: z.array(z.enum(PERMISSIONS)).meta({
    description: 'The permissions that you have now. Each operation names the one that it requires; later releases can have more.',
  }),
  second_factor: z.enum(['on', 'off', 'exempt']).meta({
    description:
      '`on`: this login used one, or you have set one up since. `exempt`: an operator lets this admin do without. Your role or your organization can require one.',
  }),
});
export type OwnUser = z.infer<typeof OwnUser>;

export interface OwnUserDependencies extends CurrencyReads {
  /** The name of an organization. @throws 404 */
  nameOf: (organization: string) => Promise<string>;
}

type Sender = Pick<SignedInUser, 'actor' | 'user' | 'hasSecondFactor'>;

/** Returns the sender of a request with their permissions. @param user their fields */
export const toOwnUser = async (
  { nameOf, currency: currencyNow }: OwnUserDependencies,
  { actor, user: { second_factor }, hasSecondFactor }: Sender,
  user: User,
): Promise<OwnUser> => {
  const [organization_name, currency] = await Promise.all([actor.organization && nameOf(actor.organization), currencyNow()]);
  return {
    ...user,
    organization_name,
    currency,
    permissions: PERMISSIONS.filter((permission) => can(actor, permission)),
    second_factor: second_factor === 'exempt' ? 'exempt' : hasSecondFactor ? 'on' : 'off',
  };
};

/** Returns the stored sender of a request with their permissions. */
export const retrieveOwnUser = (deps: OwnUserDependencies, sender: Sender): Promise<OwnUser> =>
  toOwnUser(deps, sender, toWire(sender.user));
