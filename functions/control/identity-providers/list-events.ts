import * as z from 'zod';
import { IdentityProviderEvent } from '../../../shared/single-sign-on/identity-provider-events.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import type { IdentityProviderDependencies } from './dependencies.ts';
import { type ProviderPlace, visibleProvider } from './manage-identity-providers.ts';

/** A login on the wire. */
export const IdentityProviderEventResource = IdentityProviderEvent.extend({
  at: z.int().meta({ description: 'Unix time in seconds.' }),
  outcome: IdentityProviderEvent.shape.outcome.meta({
    description: '`signed_in`: a user who was linked already; `linked`: the first login of a user who existed; `provisioned`: a new user.',
  }),
  reason: z.string().nullable().meta({ description: 'Why the login was refused; null if it was not.' }),
  is_verified: z
    .boolean()
    .meta({ description: 'False: the provider sent no token that could be verified, so nobody knows whose login it was.' }),
  user: z.string().nullable().meta({ description: 'The id of the user who signed in.' }),
  role: z.string().nullable().meta({ description: 'The role that the claims gave.' }),
  email: z.string().nullable().meta({ description: 'The address in the token.' }),
  claims: z.record(z.string(), z.unknown()).meta({
    description:
      'The claims that decide a login: `email_verified`, `acr`, `amr` and the `role_claim`, at most 20 values of it. Long values are cut.',
  }),
});
export type IdentityProviderEventResource = z.infer<typeof IdentityProviderEventResource>;

/** Lists the newest logins of a connection, newest first. @throws 400, 404 */
export const listEvents = async (
  deps: IdentityProviderDependencies,
  actor: Actor,
  place: ProviderPlace,
): Promise<{ object: 'list'; data: IdentityProviderEventResource[]; has_more: false; next: null }> => {
  const { id } = await visibleProvider(deps, actor, place);
  const events = await deps.identityProviderEvents.list(id);
  return { object: 'list', data: events.map((event) => ({ ...event, at: unixSeconds(event.at) })), has_more: false, next: null };
};
