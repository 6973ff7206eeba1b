import * as z from 'zod';
import { commit } from '../../../shared/audit/commit.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import type { BillingTasks } from '../../../shared/billing/billing-tasks.ts';
import { AlreadyGranted, type CreditStore, type Grant } from '../../../shared/credit/credit-store.ts';
import { applyGrants, grantCredit } from '../../../shared/credit/grant-credit.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { IdempotencyKeyReused } from '../../../shared/http/idempotency-key.ts';
import { logError } from '../../../shared/logging/log.ts';
import { dollarsOf, nanosOf } from '../../../shared/prices/dollars.ts';
import { DAY_SECONDS, SECOND_MS, unixSeconds } from '../../../shared/time/units.ts';
import type { Balance } from './balance.ts';
import type { OrganizationDependencies } from './update-organization.ts';

const Amount = z
  .string()
  .regex(
    /^(?!-?0+(\.0+)?$)-?\d{1,9}(\.\d{1,9})?$/,
    'expected dollars other than 0 and below a billion, as text with at most nine decimals, such as "100" or "-12.50"',
  )
  .meta({ description: 'An amount of dollars as text. A negative amount deducts credit.', examples: ['100'] });

export const NewCreditGrant = z
  .strictObject({
    amount: Amount,
    reason: z.string().trim().min(1).max(500),
    expires_at: z
      .int()
      .min(0)
      .max(99_999_999_999)
      .multipleOf(DAY_SECONDS, 'expected the beginning of a UTC day')
      .optional()
      .meta({
        description:
          'When what is left of the grant expires: the beginning of a UTC day. Unix time in seconds. Credit that expires first is used first. Default: never.',
        examples: [1_798_761_600],
      }),
  })
  .refine(({ amount, expires_at }) => expires_at === undefined || !amount.startsWith('-'), {
    path: ['expires_at'],
    message: 'expected no expires_at with a negative amount',
  });
export type NewCreditGrant = z.output<typeof NewCreditGrant>;

/** An entry of the credit ledger, which never changes. */
export const CreditGrant = z.object({
  object: z.literal('credit_grant'),
  organization: z.string(),
  number: z.int().meta({ description: "The number of the entry; each organization's entries are numbered from 1." }),
  kind: z.enum(['grant', 'deduction', 'expiry']).meta({
    description:
      'An `expiry` removes what was left of a grant when it expired. Like a `deduction`, it has a negative amount, unless it returns what an earlier entry removed too much.',
  }),
  amount: z.string().meta({ description: 'The amount in dollars: an exact decimal number.' }),
  actor: z.string(),
  reason: z.string(),
  granted_at: z.int().meta({ description: 'Unix time in seconds.' }),
  expires_at: z.int().nullable().meta({ description: 'When what is left of the grant expires. Unix time in seconds; null: never.' }),
  expired_grant: z.int().nullable().meta({ description: 'The number of the grant that expired; null unless `kind` is `expiry`.' }),
});
export type CreditGrant = z.infer<typeof CreditGrant>;

const dollars = (description: string) => z.string().meta({ description: `${description} In dollars.` });

/** An organization's credit: granted, spent, held and available. */
export const CreditBalance = z.object({
  object: z.literal('credit_balance'),
  organization: z.string(),
  grants: z.int(),
  granted: dollars('The sum of all grants.'),
  spent: dollars('The cost of all requests of its keys and of the GPU time of its deployments.'),
  held: dollars('The amount reserved for requests in flight and for the next 15 minutes of deployments.'),
  available: dollars('The amount that is left.'),
  drift: dollars('The amount that does not add up: 0, unless requests ended during this read or the last few minutes are not summed yet.'),
  left: z
    .array(z.object({ grant: z.int().meta({ description: 'The number of its entry.' }), amount: dollars('What is left of it.') }))
    .meta({
      description:
        'What is left of each grant, before what is held: the costs of each UTC day use up the grants that are valid on it, those that expire first before others. Used up ones are left out.',
    }),
});
export type CreditBalance = z.infer<typeof CreditBalance>;

const kindOf = ({ amount_nanos, expired_grant }: Grant): CreditGrant['kind'] => {
  if (expired_grant !== undefined) return 'expiry';
  return amount_nanos < 0n ? 'deduction' : 'grant';
};

const toWire = (grant: Grant): CreditGrant => {
  const { organization, number, amount_nanos, actor, reason, granted_at, expires_at, expired_grant = null } = grant;
  return {
    object: 'credit_grant',
    organization,
    number,
    kind: kindOf(grant),
    amount: dollarsOf(amount_nanos),
    actor,
    reason,
    granted_at: unixSeconds(granted_at),
    expires_at: expires_at === undefined ? null : expires_at / SECOND_MS,
    expired_grant,
  };
};

const amountOf = (text: string): bigint => {
  const nanos = nanosOf(text.replace('-', ''));
  if (nanos === undefined) throw new InvalidValue('amount', 'expected dollars as text');
  return text.startsWith('-') ? -nanos : nanos;
};

export interface GrantDependencies extends OrganizationDependencies {
  credit: CreditStore;
  /** Absent: alerts are evaluated after the next request. */
  billingTasks?: BillingTasks;
}

// The grant stands even if this fails.
const evaluateAlerts = async ({ billingTasks }: GrantDependencies, organization: string, nowMs: number): Promise<void> => {
  const sending = billingTasks?.send({ task: 'alert', organization, keys: [] }, nowMs);
  await sending?.catch((error: unknown) => logError('alerts_not_evaluated', error, { organization }));
};

type Wanted = Pick<Grant, 'amount_nanos' | 'reason' | 'expires_at'>;

const sameGrant = (existing: Grant, { amount_nanos, reason, expires_at }: Wanted): Grant => {
  if (existing.amount_nanos !== amount_nanos || existing.reason !== reason || existing.expires_at !== expires_at)
    throw new IdempotencyKeyReused();
  return existing;
};

/**
 * Grants credit and records it in the audit log, in one transaction. If the idempotency key was used before, returns
 * the earlier grant.
 * @throws 400 if it has expired already, 404, 409 for an organization without limits, 422 if the key was used for a
 * different grant
 */
export const createCreditGrant = async (
  deps: GrantDependencies,
  origin: Origin,
  organization: string,
  { amount, reason, expires_at }: NewCreditGrant,
  idempotencyKey?: string,
): Promise<CreditGrant> => {
  await deps.organizations.get(organization);
  const grant = {
    organization,
    amount_nanos: amountOf(amount),
    actor: origin.actor.id,
    reason,
    granted_at: origin.nowMs,
    ...(expires_at !== undefined && { expires_at: expires_at * SECOND_MS }),
  };
  const granted = async (): Promise<Grant | undefined> => {
    const existing = idempotencyKey === undefined ? undefined : await deps.credit.getOnce(organization, idempotencyKey);
    // A crash can have left the grant out of the balance.
    if (existing) await applyGrants(deps, organization);
    return existing && sameGrant(existing, grant);
  };
  const before = await granted();
  if (before) return toWire(before);
  if (grant.expires_at !== undefined && grant.expires_at <= origin.nowMs)
    throw new InvalidValue('expires_at', 'expected a time in the future');
  const write = (numbered: Grant): Promise<void> => {
    const target = { type: 'credit_grant', id: String(numbered.number) };
    const change = {
      action: 'credit.granted',
      organization,
      target,
      reason,
      after: { amount, ...(expires_at !== undefined && { expires_at }) },
    };
    return commit(deps, origin, change, deps.credit.toCreate(numbered, idempotencyKey));
  };
  try {
    const stored = await grantCredit(deps, grant, write);
    await evaluateAlerts(deps, organization, origin.nowMs);
    return toWire(stored);
  } catch (error) {
    const stored = error instanceof AlreadyGranted ? await granted() : undefined;
    if (!stored) throw error;
    return toWire(stored);
  }
};

/** Lists the entries of an organization's ledger, newest first. */
export const listGrants = async ({ credit }: Pick<GrantDependencies, 'credit'>, organization: string): Promise<CreditGrant[]> =>
  (await Array.fromAsync(credit.list(organization))).map(toWire).reverse();

/** Converts a balance to the wire. */
export const balanceToWire = ({ organization, grants, left, ...amounts }: Balance): CreditBalance => ({
  object: 'credit_balance',
  organization,
  grants,
  granted: dollarsOf(amounts.granted),
  spent: dollarsOf(amounts.spent),
  held: dollarsOf(amounts.held),
  available: dollarsOf(amounts.available),
  drift: dollarsOf(amounts.drift),
  left: left.map(({ grant, amount }) => ({ grant, amount: dollarsOf(amount) })),
});
