import type { ReplyBody } from '../../client/routes.ts';

/** The types of events that a webhook can select. */
export type SelectableType = NonNullable<ReplyBody<'GET /v1/webhooks/{id}'>['types']>[number];

const WORDS: Readonly<Record<SelectableType, readonly [group: string, words: string]>> = {
  'sluice.budget.threshold_reached.v1': ['Budgets and credit', 'Budget threshold reached'],
  'sluice.credit.threshold_reached.v1': ['Budgets and credit', 'Credit threshold reached'],
  'sluice.credit.expired.v1': ['Budgets and credit', 'Credit expired'],
  'sluice.invoice.issued.v1': ['Invoices', 'Invoice issued'],
  'sluice.invoice.paid.v1': ['Invoices', 'Invoice paid'],
  'sluice.invoice.voided.v1': ['Invoices', 'Invoice voided'],
  'sluice.credit_note.issued.v1': ['Invoices', 'Credit note issued'],
  'sluice.export.completed.v1': ['Invoices', 'Export completed'],
  'sluice.deployment.benchmark_drifted.v1': ['Deployments', 'Benchmark drifted from an earlier one'],
  'sluice.deployment.speed_drifted.v1': ['Deployments', 'Request speed drifted from the benchmark'],
  'sluice.deployment.state_changed.v1': ['Deployments', 'Deployment state changed'],
  'sluice.deployment.window_unpaid.v1': ['Deployments', "Credit doesn't cover a schedule window"],
  'sluice.service_account.secret_expiring.v1': ['Service accounts', 'Secret expires within 14 days'],
  'sluice.split.stopped.v1': ['Models', 'Alias split stopped because of errors'],
  'sluice.ticket.created.v1': ['Tickets', 'Ticket opened'],
  'sluice.ticket.message_added.v1': ['Tickets', 'Message added'],
  'sluice.ticket.status_changed.v1': ['Tickets', 'Ticket state changed'],
};

const TYPES = Object.keys(WORDS) as SelectableType[];

/** The types of events by the heading under which forms show them. */
export const EVENT_GROUPS: ReadonlyMap<string, readonly SelectableType[]> = Map.groupBy(TYPES, (type) => WORDS[type][0]);

/** A type of events as people read it; a type of a later release as it is. */
export const wordsOfType = (type: string): string => WORDS[type as SelectableType]?.[1] ?? type;

/** The types in a text with spaces between them, in the order of forms. */
export const eventTypesIn = (text: string): SelectableType[] => {
  const chosen = new Set(text.split(' '));
  return TYPES.filter((type) => chosen.has(type));
};

/** The text with a type added or left out. */
export const withType = (text: string, type: SelectableType, isChosen: boolean): string => {
  const chosen = new Set<string>(eventTypesIn(text));
  return TYPES.filter((each) => (each === type ? isChosen : chosen.has(each))).join(' ');
};
