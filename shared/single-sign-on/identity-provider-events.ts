import * as z from 'zod';
import { eventRingsOf } from '../database/event-ring.ts';

/** A login with a connection that succeeded or was refused, without the token. */
export const IdentityProviderEvent = z.object({
  object: z.literal('identity_provider_event'),
  /** Milliseconds since the epoch. */
  at: z.int(),
  outcome: z.enum(['signed_in', 'linked', 'provisioned', 'refused']),
  reason: z.string().nullable(),
  /** An ID token of the provider was verified. */
  is_verified: z.boolean(),
  user: z.string().nullable(),
  role: z.string().nullable(),
  subject: z.string().nullable(),
  email: z.string().nullable(),
  claims: z.record(z.string(), z.unknown()),
  ip_address: z.string(),
  request_id: z.string(),
});
export type IdentityProviderEvent = z.infer<typeof IdentityProviderEvent>;

/**
 * The newest logins of each connection, in the connection's partition of the table `accounts`. Anyone can begin a
 * login, and break it off.
 */
export const createIdentityProviderEvents = eventRingsOf(IdentityProviderEvent);

export type IdentityProviderEvents = ReturnType<typeof createIdentityProviderEvents>;
