import * as z from 'zod';
import { ANY_END, FederationRule, RuleApiKey } from '../../../shared/federation/rule.ts';
import { SignInEvent } from '../../../shared/federation/sign-in-events.ts';
import { MAX_URL_CHARACTERS } from '../../../shared/network/url-fault.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { changeBody } from '../access/change-body.ts';
import { KeyLifetime, KeyModels, MAX_LIFETIME_SECONDS } from '../api-keys/api-key.ts';
import { KeyBudgets, KeyLimits } from '../limits/limits.ts';

const MAX_CLAIMS = 32;
const MAX_CHARACTERS = 500;
// These are checked on their own, or differ in each token.
const OWN_CLAIMS = ['iss', 'aud', 'sub', 'exp', 'iat', 'nbf', 'jti'];

const Description = z.string().trim().min(1).max(200).nullable();
const Subject = z
  .string()
  .min(1)
  .max(MAX_CHARACTERS)
  .refine((subject) => !subject.slice(0, -1).includes(ANY_END), `expected '${ANY_END}' only at the end`)
  .nullable();
const Claims = z
  .record(z.string().min(1).max(100), z.string().min(1).max(MAX_CHARACTERS))
  .refine((claims) => Object.keys(claims).length <= MAX_CLAIMS, `expected at most ${MAX_CLAIMS} claims`)
  .refine((claims) => OWN_CLAIMS.every((name) => !Object.hasOwn(claims, name)), `expected none of the claims ${OWN_CLAIMS.join(', ')}`)
  .refine((claims) => Object.values(claims).every((value) => !value.includes(ANY_END)), `expected exact values, without '${ANY_END}'`);
const Status = FederationRule.shape.status;
const KeyOfRule = z.strictObject({
  scope: RuleApiKey.shape.scope.default('serverless').meta({ description: 'The host that the keys work on.' }),
  models: KeyModels.nullable().default(null).meta({ description: 'The models that the keys can use; null: all models.' }),
  limits: KeyLimits.prefault({}).meta({ description: 'The limits of each key. At most 64 concurrent requests and 24,000 a minute.' }),
  budgets: z
    .strictObject({ total: KeyBudgets.shape.total })
    .prefault({})
    .meta({ description: 'The most that each key can spend, in dollars; null: no limit.' }),
  lifetime_seconds: KeyLifetime.default(MAX_LIFETIME_SECONDS).meta({ description: 'How long each key works.' }),
});
const API_KEY = 'Workloads can exchange their tokens for an API key with these settings; null: for access tokens only.';

/** A federation rule on the wire. */
export const FederationRuleResource = z.object({
  id: z.string(),
  object: z.literal('federation_rule'),
  service_account: z.string(),
  description: z.string().nullable(),
  issuer: z.string().meta({ description: 'The `iss` claim of the tokens.' }),
  audience: z.string().meta({ description: 'Must be one of the values of the `aud` claim.' }),
  subject: z.string().nullable().meta({ description: 'The `sub` claim, or its beginning and a `*`; null: not checked.' }),
  claims: z.record(z.string(), z.string()).meta({ description: 'Claims that must have exactly these values.' }),
  api_key: RuleApiKey.nullable().meta({ description: API_KEY }),
  status: Status.meta({ description: 'A disabled rule accepts no tokens.' }),
  created_at: z.int().meta({ description: 'Unix time in seconds.' }),
  updated_at: z.int(),
  version: z.int().meta({ description: 'Incremented by every change. The ETag is derived from it.' }),
});
export type FederationRuleResource = z.infer<typeof FederationRuleResource>;

export const NewFederationRule = z.strictObject({
  issuer: z.string().min(1).max(MAX_URL_CHARACTERS).meta({
    description:
      'The `iss` claim of the tokens: an https URL on the public Internet, under which the issuer publishes its OpenID configuration.',
  }),
  audience: z.string().min(1).max(MAX_CHARACTERS).meta({
    description: 'The `aud` claim that the workload requests. Use the URL of this API, so that its tokens are of no use elsewhere.',
  }),
  subject: Subject.default(null).meta({ description: 'The `sub` claim, or its beginning and a `*`.' }),
  claims: Claims.default({}).meta({
    description: 'Claims that must have exactly these values. Numbers and booleans are compared as text; lists and objects never match.',
  }),
  api_key: KeyOfRule.nullable()
    .default(null)
    .meta({ description: `${API_KEY} Requires \`keys:write\` and \`keys:limit\`.` }),
  description: Description.default(null),
});
export type NewFederationRule = z.output<typeof NewFederationRule>;

/** Absent fields keep their values. To change the issuer, create another rule. */
export const FederationRuleUpdate = changeBody({
  audience: NewFederationRule.shape.audience.optional(),
  subject: Subject.optional(),
  claims: Claims.optional(),
  api_key: KeyOfRule.nullable()
    .optional()
    .meta({ description: 'Replaces all settings of the keys. With null, the live keys of the rule are revoked.' }),
  description: Description.optional(),
  status: Status.optional(),
});
export type FederationRuleUpdate = z.output<typeof FederationRuleUpdate>;

export const DeletedFederationRule = z.object({ id: z.string(), object: z.literal('federation_rule'), deleted: z.literal(true) });

/** An attempt to exchange a token, on the wire. */
export const SignInEventResource = SignInEvent.extend({
  at: z.int().meta({ description: 'Unix time in seconds.' }),
  reason: z.string().nullable().meta({ description: 'Why the token was refused; null if it was accepted.' }),
  api_key: z.string().nullable().meta({ description: 'The id of the API key that the workload got; null: an access token, or nothing.' }),
  is_verified: z.boolean().meta({ description: 'False: the token may be made up, so its claims are not shown.' }),
});
export type SignInEventResource = z.infer<typeof SignInEventResource>;

export const toFederationRuleResource = ({ created_at, updated_at, ...rule }: FederationRule): FederationRuleResource => ({
  ...rule,
  object: 'federation_rule',
  created_at: unixSeconds(created_at),
  updated_at: unixSeconds(updated_at),
});

export const toSignInEventResource = (event: SignInEvent): SignInEventResource => ({ ...event, at: unixSeconds(event.at) });
