import * as z from 'zod';
import type { Database } from '../database/database.ts';
import { createEventRing } from '../database/event-ring.ts';
import type { RecordTable } from '../database/record-table.ts';

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

// Anyone can begin a login, and break it off: events without a verified token have a ring of their own.
const MAX_VERIFIED = 80;
const MAX_UNVERIFIED = 20;

/**
 * The newest logins of each connection, in the connection's partition of the table `accounts`.
 * @param table the name of the table that `rows` reads
 */
export const createIdentityProviderEvents = (
  database: Pick<Database, 'update' | 'put'>,
  table: string,
  rows: Pick<RecordTable, 'page' | 'remove'>,
) => {
  const verified = createEventRing<IdentityProviderEvent>(database, table, rows, { name: 'verified', size: MAX_VERIFIED });
  const unverified = createEventRing<IdentityProviderEvent>(database, table, rows, { name: 'unverified', size: MAX_UNVERIFIED });
  return {
    add: (provider: string, event: IdentityProviderEvent): Promise<void> =>
      (event.is_verified ? verified : unverified).add(provider, event),

    /** Deletes all events of a connection. */
    clear: async (provider: string): Promise<void> => {
      await Promise.all([verified.clear(provider), unverified.clear(provider)]);
    },

    /** Lists at most 100 events, newest first. */
    list: async (provider: string): Promise<IdentityProviderEvent[]> => {
      const found = await Promise.all([verified.list(provider), unverified.list(provider)]);
      return found
        .flat()
        .map((row) => IdentityProviderEvent.parse(row))
        .toSorted((one, other) => other.at - one.at);
    },
  };
};

export type IdentityProviderEvents = ReturnType<typeof createIdentityProviderEvents>;
