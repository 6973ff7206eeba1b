import * as z from 'zod';

/** The API keys that the workloads of a rule get. */
export const RuleApiKey = z.object({
  scope: z.enum(['serverless', 'on_demand']),
  models: z.array(z.string()).nullable(),
  limits: z.object({ requests_per_minute: z.int(), tokens_per_minute: z.int(), concurrency: z.int() }),
  /** Dollars. */
  budgets: z.object({ total: z.string().nullable() }),
  lifetime_seconds: z.int(),
});
export type RuleApiKey = z.infer<typeof RuleApiKey>;

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
  /** null: they get access tokens only. */
  api_key: RuleApiKey.nullable().default(null),
  status: z.enum(['active', 'disabled']),
  created_at: z.int(),
  updated_at: z.int(),
  version: z.int(),
});
export type FederationRule = z.infer<typeof FederationRule>;

/** The end of a subject of which only the beginning must match. */
export const ANY_END = '*';
