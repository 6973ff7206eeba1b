import type { Query } from '../../client/routes.ts';
import type { Choice } from '../../design/controls/choice.ts';
import { type RangeName, rangeNamed, rangeOf } from '../../design/format/ranges.ts';

type AuditSearch = NonNullable<Query<'GET /v1/audit-log'>>;

/** The parameters of the address that the screen reads. */
export const AUDIT_NAMES = ['organization', 'range', 'from', 'to', 'action', 'actor', 'target'] as const;
export type AuditValues = Readonly<Record<(typeof AUDIT_NAMES)[number], string>>;

/** The ranges of time that the screen offers. */
export const AUDIT_RANGES = ['7d', '24h', '30d', '90d', 'custom'] as const satisfies readonly RangeName[];

/** Beginnings of actions, which find all actions with one kind of thing. */
export const ACTIONS: readonly Choice[] = [
  ['api_key.', 'API keys'],
  ['user.', 'Users'],
  ['session.', 'Logins'],
  ['organization.', 'Organizations'],
  ['service_account.', 'Service accounts'],
  ['identity_provider.', 'Identity providers'],
  ['federation_rule.', 'Federation rules'],
  ['deployment.', 'Deployments'],
  ['model.', 'Models'],
  ['price.', 'Prices'],
  ['invoice.', 'Invoices'],
  ['credit.', 'Credit'],
  ['webhook.', 'Webhooks'],
  ['ticket.', 'Tickets'],
  ['payload.', 'Payload log reads'],
  ['payload_log.', 'Payload log settings'],
];

/** The query of a search with the filters of an address. @param nowS Unix seconds, from which ranges count back */
export const auditSearchOf = (values: AuditValues, nowS: number): AuditSearch => {
  const { startS, endS } = rangeOf(rangeNamed(values.range, AUDIT_RANGES), values, nowS);
  const plain = Object.fromEntries(
    (['organization', 'action', 'actor', 'target'] as const).map((name) => [name, values[name]]).filter(([, value]) => value),
  ) as Partial<AuditSearch>;
  return {
    ...plain,
    ...(startS !== undefined && { start_time: String(startS) }),
    ...(endS !== undefined && { end_time: String(endS) }),
  };
};

/** True if a filter other than the time is set. */
export const isNarrowed = ({ action, actor, target }: AuditValues): boolean => [action, actor, target].some((value) => value !== '');

const valueText = (value: unknown): string =>
  value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);

/** A changed field as people read it: its new value, and the old one if it had any. */
export const changeText = ({ from, to }: { from: unknown; to: unknown }): string =>
  from === null || from === undefined ? valueText(to) : `${valueText(to)} (was ${valueText(from)})`;

const MAX_NAMED = 4;

/** The names of changed fields, or their number if there are many. */
export const fieldsText = (names: readonly string[]): string =>
  names.length > MAX_NAMED ? `${names.length} fields` : names.map((name) => name.replaceAll('_', ' ')).join(', ');
