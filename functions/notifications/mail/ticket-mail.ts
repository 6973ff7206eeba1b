import * as z from 'zod';
import type { Notification } from '../../../shared/notifications/notification.ts';
import type { MailText } from './mail-text.ts';

/** How support works with e-mail. */
export interface SupportDesk {
  /** Gets an e-mail of what customers write; undefined: none. */
  email: string | undefined;
  /** Where answers go; undefined: to the sender. */
  replyTo: string | undefined;
}

/** What the notifications of tickets have in `data`. */
const TicketData = z.object({
  ticket: z.string(),
  subject: z.string(),
  severity: z.string(),
  status: z.string(),
  by: z.enum(['customer', 'support']).nullable(),
  body: z.string().optional(),
});

const PREFIX = 'sluice.ticket.';

export const isAboutTicket = ({ type }: Pick<Notification, 'type'>): boolean => type.startsWith(PREFIX);

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const CONTROL = /[\u0000-\u001f\u007f]+/g;

/** `support@example.com` is `support+tkt_1@example.com`, so that whoever gets the answer knows its ticket. */
const withTicket = (address: string, ticket: string): string => {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}+${ticket}${address.slice(at)}`;
};

/**
 * The e-mail about a ticket: to the customer who opened it about what support writes and decides, to support about what customers write. Plain text.
 * @returns undefined: nobody gets one, because time did it, or because there is no address
 */
export const ticketMailOf = (
  { id, organization, recipient, data }: Notification,
  { email, replyTo }: SupportDesk,
): { text: MailText; to: readonly string[] } | undefined => {
  const { ticket, subject, severity, status, by, body } = TicketData.parse(data);
  const to = by === 'support' ? recipient : by === 'customer' ? email : undefined;
  if (to === undefined) return undefined;
  const who = by === 'support' ? 'Support' : organization;
  const lines = [
    body === undefined ? `${who} changed the status of this ticket.` : `${who} wrote:`,
    '',
    ...(body === undefined ? [] : [body, '']),
    `Ticket: ${ticket}`,
    `Status: ${status}`,
    `Severity: ${severity}`,
    `Event: ${id}`,
  ];
  return {
    to: [to],
    text: {
      subject: `[${ticket}] ${subject.replace(CONTROL, ' ')}`,
      text: `${lines.join('\n')}\n`,
      ...(replyTo !== undefined && { reply_to: withTicket(replyTo, ticket) }),
    },
  };
};
