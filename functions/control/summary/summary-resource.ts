import * as z from 'zod';
import { DeploymentState } from '../../../shared/deployments/state.ts';

const Dollars = z.string().meta({ description: 'Dollars: an exact decimal number.', examples: ['12.34'] });
const Seconds = z.int().meta({ description: 'Unix time in seconds.' });

/** The costs of the usage that the caller can see: tokens and, except for members, GPU time. */
export const CostsSection = z.object({
  month: z.string().meta({ description: 'The current month (UTC).', examples: ['2026-11'] }),
  today: Dollars,
  month_to_date: Dollars,
  last_month_to_same_day: Dollars.meta({
    description: 'The costs of the last month from its first day to the same day, which is included. Compare `month_to_date` with it.',
  }),
  last_month: Dollars,
  forecast: Dollars.nullable().meta({
    description:
      'The costs of the whole month if they go on as until now: `month_to_date` divided by the elapsed part of the month. Null on the first day.',
  }),
});
export type CostsSection = z.infer<typeof CostsSection>;

export const CreditSection = z.object({
  prepaid: z.boolean().meta({ description: 'If true, requests are paid from prepaid credit.' }),
  balance: Dollars.meta({ description: 'Credit in dollars that is neither spent nor held for requests in progress.' }),
});
export type CreditSection = z.infer<typeof CreditSection>;

export const BudgetSection = z.object({
  month_budget: Dollars.nullable().meta({ description: 'The most that the organization can spend in a month; null: no budget.' }),
  spent: Dollars.nullable().meta({
    description: 'Dollars that count against the budget this month, including those held for requests in progress; null: no budget.',
  }),
  left: Dollars.nullable(),
});
export type BudgetSection = z.infer<typeof BudgetSection>;

export const RequestsSection = z
  .object({
    requests: z.int().meta({ description: 'Admitted requests that have ended.' }),
    errors: z.int().meta({ description: 'Those that ended with an error, or whose function crashed.' }),
    refusals: z.int().meta({ description: 'Requests that were refused before admission.' }),
  })
  .meta({ description: 'Requests that arrived in the current hour or the 23 before it.' });
export type RequestsSection = z.infer<typeof RequestsSection>;

export const ApiKeysSection = z.object({
  open: z.int().meta({ description: "Active keys: the caller's own for members, otherwise those of the organization." }),
  expiring_soon: z.int().nullable().meta({
    description: 'Those that expire within 7 days. Null if the organization has more keys, including revoked ones, than a summary reads.',
  }),
  left: z.int().meta({ description: 'How many more active keys the caller can have, or else their organization.' }),
});
export type ApiKeysSection = z.infer<typeof ApiKeysSection>;

export const DeploymentsSection = z.object({
  states: z
    .partialRecord(DeploymentState, z.int())
    .meta({ description: 'The number of deployments in each state, without those in none.' }),
  failed: z.array(z.string()).max(5).meta({ description: 'The ids of at most 5 failed ones.' }),
  cost_per_hour_now: Dollars.meta({ description: 'What the instances that run now cost, in dollars an hour.' }),
  is_partial: z.boolean().meta({ description: 'If true, there are more deployments than were read.' }),
});
export type DeploymentsSection = z.infer<typeof DeploymentsSection>;

export const TicketsSection = z.object({
  waiting_on_me: z.int().meta({
    description:
      'For customers: visible tickets that wait for the customer. For support: tickets that wait for support and are assigned to the caller.',
  }),
  unassigned: z.int().optional().meta({ description: 'Tickets that wait for support and are assigned to nobody. Only for support.' }),
  breaching_next: z
    .object({
      id: z.string(),
      clock: z.enum(['first_response', 'resolution']),
      due_at: Seconds,
    })
    .nullable()
    .optional()
    .meta({ description: 'The ticket with the earliest clock that runs, even if it is overdue already. Only for support.' }),
  is_partial: z.boolean().meta({ description: 'If true, there are more tickets than were read.' }),
});
export type TicketsSection = z.infer<typeof TicketsSection>;

export const WebhooksSection = z.object({
  failed_deliveries_24h: z.int().max(100).meta({
    description:
      'Deliveries that were given up in the last 24 hours and not replayed since, without those of deleted webhooks; 100 stands for 100 or more.',
  }),
  disabled: z.int().meta({ description: 'Webhooks that are disabled.' }),
});
export type WebhooksSection = z.infer<typeof WebhooksSection>;

export const InvoicesSection = z.object({
  drafts: z.int().optional().meta({ description: 'Only for the platform.' }),
  open: z.int().meta({ description: 'Issued invoices of which something is left to pay, including overdue ones.' }),
  overdue: z.int(),
  is_partial: z
    .boolean()
    .meta({ description: 'If true, there are more invoices than were read, or some of release 0.1.0 are not listed yet.' }),
});
export type InvoicesSection = z.infer<typeof InvoicesSection>;

export const OrganizationsSection = z.object({
  suspended: z.int(),
  is_partial: z.boolean().meta({ description: 'If true, there are more organizations than the newest 100, which were read.' }),
});
export type OrganizationsSection = z.infer<typeof OrganizationsSection>;

const Done = z.boolean().optional();

/** The steps of a first run. Each role has its own. */
export const OnboardingSection = z
  .object({
    has_model: Done.meta({ description: 'A shared model is registered. Only for admins.' }),
    has_organization: Done.meta({ description: 'Only for admins.' }),
    has_owner: Done.meta({
      description: 'One of the newest organizations has an owner. Only for admins.',
    }),
    has_key: z
      .boolean()
      .meta({ description: 'The caller or their organization has had an API key; for admins, one of the newest organizations.' }),
    has_request: z.boolean().meta({ description: 'A request was admitted with one of these keys.' }),
    has_invoice: Done.meta({ description: 'An invoice was issued. Only for admins.' }),
  })
  .meta({ description: 'The steps of a first run that are done.' });
export type OnboardingSection = z.infer<typeof OnboardingSection>;

/** A section is absent if the caller has no right to it. */
export const Summary = z.object({
  object: z.literal('summary'),
  created_at: Seconds,
  organization: z.string().nullable().meta({ description: 'The organization that it is about; null: the platform.' }),
  unavailable: z.array(z.string()).meta({ description: 'The names of the sections that could not be read. They are null.' }),
  costs: CostsSection.nullable().optional(),
  credit: CreditSection.nullable().optional(),
  budget: BudgetSection.nullable().optional(),
  requests: RequestsSection.nullable().optional(),
  api_keys: ApiKeysSection.nullable().optional(),
  deployments: DeploymentsSection.nullable().optional(),
  tickets: TicketsSection.nullable().optional(),
  webhooks: WebhooksSection.nullable().optional(),
  invoices: InvoicesSection.nullable().optional(),
  organizations: OrganizationsSection.nullable().optional(),
  onboarding: OnboardingSection.nullable().optional(),
});
export type Summary = z.infer<typeof Summary>;

/** The names and shapes of the sections. */
export type Sections = Omit<Summary, 'object' | 'created_at' | 'organization' | 'unavailable'>;
