import * as z from 'zod';

/** From the one that can wait longest to the one that can't wait. */
export const Severity = z.enum(['low', 'normal', 'high', 'urgent']);
export type Severity = z.infer<typeof Severity>;

export const Category = z.enum(['api', 'billing', 'deployment', 'account', 'other']);
export type Category = z.infer<typeof Category>;

/** `open`: nobody has written since it was created. `closed`: nobody can write, unless it is reopened. */
export const TicketStatus = z.enum(['open', 'waiting_on_support', 'waiting_on_customer', 'resolved', 'closed']);
export type TicketStatus = z.infer<typeof TicketStatus>;

/** The sides of a ticket: its organization, and the platform's support. */
export const Side = z.enum(['customer', 'support']);
export type Side = z.infer<typeof Side>;

/** The resources that a ticket can name. Their state is stored with it. */
export const EvidenceType = z.enum(['request', 'deployment', 'invoice']);
export type EvidenceType = z.infer<typeof EvidenceType>;

/**
 * The clocks of a ticket, in ms. Business hours alone count, except for severities that are answered around the
 * clock.
 */
export const TicketClocks = z.object({
  first_response_due_at: z.int(),
  /** When support first wrote to the customer, or resolved the ticket. */
  first_response_at: z.int().nullable(),
  /** null while the clock stands still: support waits for the customer, or the ticket is resolved. */
  resolution_due_at: z.int().nullable(),
  resolution_running_since: z.int().nullable(),
  /** How long the clock ran before that. */
  resolution_used_ms: z.int(),
});
export type TicketClocks = z.infer<typeof TicketClocks>;

/** A ticket as lists show it. Times are milliseconds since the epoch. */
export const TicketSummary = z.object({
  id: z.string(),
  organization: z.string(),
  subject: z.string(),
  severity: Severity,
  category: Category,
  status: TicketStatus,
  /** The user of the organization who opened it. */
  created_by: z.string(),
  /** The user of support who works on it. */
  assignee: z.string().nullable(),
  created_at: z.int(),
  /** Increases with each change, but not with a note. */
  updated_at: z.int(),
  /** The time at which it closes by itself, if it is resolved; at which it closed, if it is closed. */
  closes_at: z.int().nullable(),
  clocks: TicketClocks,
});
export type TicketSummary = z.infer<typeof TicketSummary>;

/** A ticket at rest. */
export const Ticket = TicketSummary.extend({
  /** The email address of `created_by`. */
  email: z.string(),
  evidence: z.array(z.object({ type: EvidenceType, id: z.string() })),
  /** Messages that both sides can read. */
  message_count: z.int(),
  version: z.int().min(1),
});
export type Ticket = z.infer<typeof Ticket>;

// `user` is null for changes by schedule.
const TicketActor = z.object({ side: Side, user: z.string().nullable() });
export type TicketActor = z.infer<typeof TicketActor>;

/** A file of a message. */
export const AttachedFile = z.object({ id: z.string(), name: z.string(), content_type: z.string(), bytes: z.int() });
export type AttachedFile = z.infer<typeof AttachedFile>;

/** A message that both sides can read, or a note that only support can. It never changes. */
export const TicketMessage = z.object({
  id: z.string(),
  author: TicketActor,
  body: z.string(),
  attachments: z.array(AttachedFile),
  at: z.int(),
});
export type TicketMessage = z.infer<typeof TicketMessage>;

/** A line of a ticket's history: the fields that a change gave another value. */
export const HistoryLine = z.object({
  id: z.string(),
  /** Such as `ticket.message_added`: the action of its audit entry. */
  action: z.string(),
  actor: TicketActor,
  changes: z.record(z.string(), z.object({ from: z.unknown(), to: z.unknown() })),
  at: z.int(),
});
export type HistoryLine = z.infer<typeof HistoryLine>;

/** The state of a request, a deployment or an invoice when its ticket was created. */
export const Evidence = z.object({
  type: EvidenceType,
  id: z.string(),
  at: z.int(),
  /** As the organization's own routes return it: JSON text, because the database stores other numbers than JSON. */
  resource: z.string(),
  /** JSON text for support only, such as the usage event itself. */
  internal: z.string(),
});
export type Evidence = z.infer<typeof Evidence>;
