import * as z from 'zod';

/** A token of an issuer that matches a rule of a service account is exchanged for the account's access token. */
export const FederationRule = z.object({
  id: z.string(),
  service_account: z.string(),
  description: z.string().nullable(),
  /** The `iss` claim of its tokens. */
  issuer: z.string(),
  /** Must be one of the values of the `aud` claim. */
  audience: z.string(),
  /** The `sub` claim, or its beginning and a `*`; null: any. */
  subject: z.string().nullable(),
  /** Claims that must have exactly these values. */
  claims: z.record(z.string(), z.string()),
  status: z.enum(['active', 'disabled']),
  created_at: z.int(),
  updated_at: z.int(),
  version: z.int(),
});
export type FederationRule = z.infer<typeof FederationRule>;

/** The end of a subject of which only the beginning must match. */
export const ANY_END = '*';
