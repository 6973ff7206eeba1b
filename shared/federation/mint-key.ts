import * as z from 'zod';

const Text = z.string().max(200);

/**
 * The event with which `machine-sign-in` has `control` create an API key, after it has accepted a token for a rule. API
 * Gateway sends no event with `mint_key`: a caller chooses values of an event, and never its own fields.
 */
export const MintKeyCall = z.strictObject({
  mint_key: z.strictObject({
    service_account: Text,
    federation_rule: Text,
    /** Claims of the token, for the audit log. */
    facts: z.record(Text, Text),
    ip_address: Text,
    request_id: Text,
  }),
});
export type MintKeyCall = z.infer<typeof MintKeyCall>;

/** Why no key was created for an accepted token. */
export const MintRefusal = z.enum(['service_account_disabled', 'rule_disabled', 'no_api_key', 'organization_suspended', 'too_many_keys']);
export type MintRefusal = z.infer<typeof MintRefusal>;

export const MintKeyResult = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('created'), id: z.string(), secret: z.string(), expires_in: z.int() }),
  z.object({ outcome: z.literal('refused'), reason: MintRefusal, retry_after_seconds: z.int().optional() }),
]);
export type MintKeyResult = z.infer<typeof MintKeyResult>;

/** Lets `control` create an API key. A lost reply can leave a key that nobody knows, until it ends. @throws 503 */
export type MintKey = (call: MintKeyCall) => Promise<MintKeyResult>;
