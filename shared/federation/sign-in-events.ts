import * as z from 'zod';
import { eventRingsOf } from '../database/event-ring.ts';

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

/** The most characters of a claim's value in an event. */
export const MAX_EVENT_CHARACTERS = 200;

/** The newest exchanges of each service account, in its partition of the table `accounts`. */
export const createSignInEvents = eventRingsOf(SignInEvent);

export type SignInEvents = ReturnType<typeof createSignInEvents>;
