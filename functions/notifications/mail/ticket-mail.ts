import * as z from 'zod';
import type { Notification } from '../../../shared/notifications/notification.ts';
import { type MailText, onOneLine } from './mail-text.ts';

/** Support's email addresses. */
export interface SupportDesk {
  /** Gets the messages of customers; undefined: nobody does. */
  email: string | undefined;
  /** The address for answers; undefined: the sender's. */
  replyTo: string | undefined;
}

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

// Answers go to `support+tkt_1@example.com`, so that the receiver can tell the ticket.
const withTicket = (address: string, ticket: string): string => {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}+${ticket}${address.slice(at)}`;
};

/** The side whose action a ticket's notification reports; null for automatic changes. */
export const sideOfTicketEvent = ({ data }: Pick<Notification, 'data'>): 'customer' | 'support' | null => TicketData.parse(data).by;

/** The plain text of the email that informs one side of a ticket about the other's message or change of status. */
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
    subject: `[${ticket}] ${onOneLine(subject)}`,
    text: `${lines.join('\n')}\n`,
    ...(replyTo !== undefined && { reply_to: withTicket(replyTo, ticket) }),
  };
};
