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

/** On whose side someone did what a notification of a ticket is about; null: time did it. */
export const sideOfTicketEvent = ({ data }: Pick<Notification, 'data'>): 'customer' | 'support' | null => TicketData.parse(data).by;

/** The text of the e-mail about what one side of a ticket wrote or decided, for the other one. Plain text. */
export const ticketMailOf = ({ id, organization, data }: Notification, { replyTo }: Pick<SupportDesk, 'replyTo'>): MailText => {
  const { ticket, subject, severity, status, by, body } = TicketData.parse(data);
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
    subject: `[${ticket}] ${subject.replace(CONTROL, ' ')}`,
    text: `${lines.join('\n')}\n`,
    ...(replyTo !== undefined && { reply_to: withTicket(replyTo, ticket) }),
  };
};
