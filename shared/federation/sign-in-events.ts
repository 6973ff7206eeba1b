import * as z from 'zod';
import type { Database } from '../database/database.ts';
import { createEventRing } from '../database/event-ring.ts';
import type { RecordTable } from '../database/record-table.ts';

const DifferingClaim = z.object({
  claim: z.string(),
  expected: z.string(),
  actual: z.string().nullable().meta({ description: 'null: the token does not have the claim, or its value is a list or an object.' }),
});

/** An attempt to exchange a token, without the token. */
export const SignInEvent = z.object({
  object: z.literal('sign_in_event'),
  /** Milliseconds since the epoch. */
  at: z.int(),
  outcome: z.enum(['accepted', 'refused']),
  reason: z.string().nullable(),
  federation_rule: z.string(),
  /** The API key that the workload got instead of an access token. */
  api_key: z.string().nullable().default(null),
  is_verified: z.boolean(),
  subject: z.string().nullable(),
  differing_claims: z.array(DifferingClaim),
  ip_address: z.string(),
  request_id: z.string(),
});
export type SignInEvent = z.infer<typeof SignInEvent>;

// Strangers can cause events of tokens whose signature is not verified: they have a ring of their own.
const MAX_VERIFIED = 80;
const MAX_UNVERIFIED = 20;

/** The most characters of a claim's value in an event. */
export const MAX_EVENT_CHARACTERS = 200;

/**
 * The newest exchanges of each service account, in its partition of the table `accounts`.
 * @param table the name of the table that `rows` reads
 */
export const createSignInEvents = (
  database: Pick<Database, 'update' | 'put'>,
  table: string,
  rows: Pick<RecordTable, 'page' | 'remove'>,
) => {
  const verified = createEventRing<SignInEvent>(database, table, rows, { name: 'verified', size: MAX_VERIFIED });
  const unverified = createEventRing<SignInEvent>(database, table, rows, { name: 'unverified', size: MAX_UNVERIFIED });
  return {
    add: (serviceAccount: string, event: SignInEvent): Promise<void> =>
      (event.is_verified ? verified : unverified).add(serviceAccount, event),

    /** Deletes all events of a service account. */
    clear: async (serviceAccount: string): Promise<void> => {
      await Promise.all([verified.clear(serviceAccount), unverified.clear(serviceAccount)]);
    },

    /** Lists at most 100 events, newest first. */
    list: async (serviceAccount: string): Promise<SignInEvent[]> => {
      const found = await Promise.all([verified.list(serviceAccount), unverified.list(serviceAccount)]);
      return found
        .flat()
        .map((row) => SignInEvent.parse(row))
        .toSorted((one, other) => other.at - one.at);
    },
  };
};

export type SignInEvents = ReturnType<typeof createSignInEvents>;
