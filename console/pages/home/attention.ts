import type { ReplyBody } from '../../client/routes.ts';
import { counted } from '../../design/format/amounts.ts';
import { formatAge } from '../../design/format/times.ts';

export type Summary = ReplyBody<'GET /v1/summary'>;

interface Attention {
  text: string;
  /** The screen where something can be done about it. */
  to: string;
  tone: 'warn' | 'bad';
}

/** The tickets that wait for the reader: only support has a count of those that nobody works on. */
export const ticketsWaitingOn = ({ unassigned }: NonNullable<Summary['tickets']>): string =>
  unassigned === undefined ? '/tickets?state=customer' : '/tickets?assignee=me';

type Breach = NonNullable<NonNullable<Summary['tickets']>['breaching_next']>;

const NEAR_S = 4 * 3_600;

const breachOf = ({ id, clock, due_at }: Breach, nowS: number): Attention => ({
  text: `The ${clock.replace('_', ' ')} of a ticket ${due_at <= nowS ? 'was' : 'is'} due ${formatAge(due_at, nowS * 1_000)}`,
  to: `/tickets/${id}`,
  tone: due_at <= nowS ? 'bad' : 'warn',
});

type Rule = (summary: Summary, reader: Reader) => Attention | undefined;

// The reader of the home screen.
interface Reader {
  /** False for viewers: no ticket waits for them. */
  canWriteTickets: boolean;
}

const RULES: readonly Rule[] = [
  ({ invoices }) =>
    invoices && invoices.overdue > 0
      ? { text: `${counted(invoices.overdue, 'invoice is', 'invoices are')} overdue`, to: '/invoices?state=issued', tone: 'bad' }
      : undefined,
  ({ credit }) =>
    credit?.prepaid && /^(-|0(\.0+)?$)/.test(credit.balance)
      ? { text: 'Credit is used up: requests are rejected', to: '/billing?view=credit', tone: 'bad' }
      : undefined,
  ({ budget }) =>
    budget?.left && /^0(\.0+)?$/.test(budget.left)
      ? { text: "This month's budget is used up: requests are rejected", to: '/usage', tone: 'bad' }
      : undefined,
  ({ deployments }) =>
    deployments && (deployments.states.failed ?? 0) > 0
      ? {
          text: `${counted(deployments.states.failed ?? 0, 'deployment has', 'deployments have')} failed`,
          to: deployments.failed.length === 1 ? `/deployments/${deployments.failed[0]}` : '/deployments?state=failed',
          tone: 'bad',
        }
      : undefined,
  ({ invoices }) =>
    invoices?.drafts
      ? {
          text: `${counted(invoices.drafts, 'draft invoice', 'draft invoices')} to issue`,
          to: '/invoices?state=draft',
          tone: 'warn',
        }
      : undefined,
  ({ tickets, created_at }) =>
    tickets?.breaching_next && tickets.breaching_next.due_at - created_at < NEAR_S
      ? breachOf(tickets.breaching_next, created_at)
      : undefined,
  ({ tickets }, { canWriteTickets }) =>
    tickets && tickets.waiting_on_me > 0 && canWriteTickets
      ? {
          text: `${counted(tickets.waiting_on_me, 'ticket is', 'tickets are')} waiting for you`,
          to: ticketsWaitingOn(tickets),
          tone: 'warn',
        }
      : undefined,
  ({ tickets }) =>
    tickets?.unassigned
      ? {
          text: `${counted(tickets.unassigned, 'ticket is', 'tickets are')} unassigned`,
          to: '/tickets?assignee=none',
          tone: 'warn',
        }
      : undefined,
  ({ organizations }) =>
    organizations && organizations.suspended > 0
      ? {
          text: `${counted(organizations.suspended, 'organization is', 'organizations are')} suspended`,
          to: '/organizations?status=suspended',
          tone: 'warn',
        }
      : undefined,
  ({ webhooks }) =>
    webhooks && webhooks.failed_deliveries_24h > 0
      ? {
          text: `${counted(webhooks.failed_deliveries_24h, 'event', 'events')} could not be delivered to a webhook`,
          to: '/webhooks',
          tone: 'warn',
        }
      : undefined,
  ({ api_keys }) =>
    api_keys?.expiring_soon
      ? {
          text: `${counted(api_keys.expiring_soon, 'API key expires', 'API keys expire')} within 7 days`,
          to: '/api-keys?attention=expiring',
          tone: 'warn',
        }
      : undefined,
];

/** The things that somebody should do something about, the worst first. */
export const attentionOf = (summary: Summary, reader: Reader): readonly Attention[] => RULES.flatMap((rule) => rule(summary, reader) ?? []);
