import type { RequestBody } from '../../client/routes.ts';
import type { Choice } from '../../design/controls/choice.ts';
import type { Ticket, TicketStatus } from '../tickets/ticket-words.ts';

/** The fields of a ticket as its form edits them. `assignee` empty: nobody. */
export type TicketDraft = { subject: string; severity: Ticket['severity']; status: TicketStatus; assignee: string };

export const TICKET_LABELS = {
  subject: 'Subject',
  severity: 'Severity',
  status: 'State',
  assignee: 'Assigned to',
} as const satisfies Record<keyof TicketDraft, string>;

/** A ticket as its form edits it. */
export const draftOfTicket = ({ subject, severity, status, assignee }: Ticket): TicketDraft => ({
  subject,
  severity,
  status,
  assignee: assignee ?? '',
});

/** The body that changes a ticket: only what differs from it. */
export const changesOfTicket = (draft: TicketDraft, ticket: Ticket): RequestBody<'PATCH /v1/tickets/{id}'> => {
  const opened = draftOfTicket(ticket);
  return {
    ...(draft.subject !== opened.subject && { subject: draft.subject.trim() }),
    ...(draft.severity !== opened.severity && { severity: draft.severity }),
    ...(draft.status !== opened.status && { status: draft.status }),
    ...(draft.assignee.trim() !== opened.assignee && { assignee: draft.assignee.trim() || null }),
  };
};

const SETTABLE: readonly Choice<TicketStatus>[] = [
  ['waiting_on_support', 'Waiting for support'],
  ['waiting_on_customer', 'Waiting for the customer'],
  ['resolved', 'Resolved'],
];

/** The states that support can give a ticket, and the one that it has. */
export const statusChoices = (status: TicketStatus): readonly Choice<TicketStatus>[] =>
  SETTABLE.some(([settable]) => settable === status) ? SETTABLE : [[status, status], ...SETTABLE];
