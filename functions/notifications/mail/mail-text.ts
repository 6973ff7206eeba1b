import type { Notification, NotificationType } from '../../../shared/notifications/notification.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';

interface MailKind {
  subject: string;
  /** The recipients: the addresses in the billing profile, or the owners. */
  audience: 'billing' | 'owners';
}

const aboutMoney = (subject: string): MailKind => ({ subject, audience: 'billing' });

// Others are sent to webhooks only; those about tickets have texts of their own.
const MAILS: Partial<Record<NotificationType, MailKind>> = {
  'sluice.budget.threshold_reached.v1': aboutMoney('Budget threshold reached'),
  'sluice.credit.threshold_reached.v1': aboutMoney('Credit threshold reached'),
  'sluice.credit.expired.v1': aboutMoney('Credit has expired'),
  'sluice.invoice.issued.v1': aboutMoney('Invoice issued'),
  'sluice.invoice.paid.v1': aboutMoney('Invoice paid'),
  'sluice.invoice.voided.v1': aboutMoney('Invoice voided'),
  'sluice.credit_note.issued.v1': aboutMoney('Credit note issued'),
  'sluice.deployment.benchmark_drifted.v1': { subject: 'A deployment is faster or slower than before', audience: 'owners' },
  'sluice.deployment.speed_drifted.v1': { subject: 'A deployment answers faster or slower than its benchmark', audience: 'owners' },
  'sluice.deployment.window_unpaid.v1': { subject: 'Credit does not pay for a scheduled deployment', audience: 'owners' },
  'sluice.service_account.secret_expiring.v1': { subject: 'Secret of a service account expires soon', audience: 'owners' },
  'sluice.split.stopped.v1': { subject: 'Split of an alias has stopped', audience: 'owners' },
};

const REASONS: Record<MailKind['audience'], string> = {
  billing: "You get this email because your address is in your organization's billing profile. An owner can remove it there.",
  owners: 'You get this email because you are an owner of the organization.',
};

const MAX_VALUE_CHARACTERS = 500;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const CONTROL = /[\u0000-\u001f\u007f]+/g;

/** A text without line breaks and other control characters. */
export const onOneLine = (text: string): string => text.replace(CONTROL, ' ');

const textOf = (value: unknown): string =>
  onOneLine(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MAX_VALUE_CHARACTERS);

// Times of events are in Unix seconds.
const isTime = (name: string, value: unknown): value is number => name.endsWith('_at') && typeof value === 'number';
const factText = (name: string, value: unknown): string =>
  isTime(name, value) ? new Date(value * SECOND_MS).toISOString() : textOf(value);

const labelOf = (name: string): string => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ');

/** An email without its address. */
export interface MailText {
  subject: string;
  text: string;
  reply_to?: string;
}

/**
 * The audience, the subject and the plain text of a notification's email; undefined if its type is not sent by email.
 */
export const mailTextOf = ({
  id,
  type,
  organization,
  subject,
  at,
  data,
}: Notification): { audience: MailKind['audience']; text: MailText } | undefined => {
  const kind = MAILS[type];
  if (kind === undefined) return undefined;
  const facts = Object.entries(data).filter(([, value]) => value !== null && value !== undefined);
  const lines = [
    `${kind.subject}.`,
    '',
    ...facts.map(([name, value]) => `${labelOf(name)}: ${factText(name, value)}`),
    '',
    `Organization: ${organization}`,
    `About: ${textOf(subject)}`,
    `Time: ${new Date(at).toISOString()}`,
    `Event: ${id}`,
    '',
    REASONS[kind.audience],
  ];
  return { audience: kind.audience, text: { subject: kind.subject, text: `${lines.join('\n')}\n` } };
};
