import type { Notification, NotificationType } from '../../../shared/notifications/notification.ts';

// Only notifications about money are sent as e-mails.
const SUBJECTS: Partial<Record<NotificationType, string>> = {
  'sluice.budget.threshold_reached.v1': 'Budget threshold reached',
  'sluice.credit.threshold_reached.v1': 'Credit threshold reached',
  'sluice.credit.expired.v1': 'Credit has expired',
  'sluice.invoice.issued.v1': 'Invoice issued',
  'sluice.invoice.paid.v1': 'Invoice paid',
  'sluice.invoice.voided.v1': 'Invoice voided',
  'sluice.credit_note.issued.v1': 'Credit note issued',
};

const MAX_VALUE_CHARACTERS = 500;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const CONTROL = /[\u0000-\u001f\u007f]+/g;

/** A text without line breaks and other control characters. */
export const onOneLine = (text: string): string => text.replace(CONTROL, ' ');

const textOf = (value: unknown): string =>
  onOneLine(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MAX_VALUE_CHARACTERS);

const labelOf = (name: string): string => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' ');

/** An e-mail without its address. */
export interface MailText {
  subject: string;
  text: string;
  reply_to?: string;
}

/** The subject and the plain text of a notification's e-mail; undefined if its type is not sent by e-mail. */
export const mailTextOf = ({ id, type, organization, subject, at, data }: Notification): MailText | undefined => {
  const title = SUBJECTS[type];
  if (title === undefined) return undefined;
  const facts = Object.entries(data).filter(([, value]) => value !== null && value !== undefined);
  const lines = [
    `${title}.`,
    '',
    ...facts.map(([name, value]) => `${labelOf(name)}: ${textOf(value)}`),
    '',
    `Organization: ${organization}`,
    `About: ${textOf(subject)}`,
    `Time: ${new Date(at).toISOString()}`,
    `Event: ${id}`,
    '',
    "You get this e-mail because your address is in your organization's billing profile. An owner can remove it there.",
  ];
  return { subject: title, text: `${lines.join('\n')}\n` };
};
