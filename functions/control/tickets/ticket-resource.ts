import * as z from 'zod';
import { statusAt } from '../../../shared/tickets/lifecycle.ts';
import {
  Category,
  type Evidence,
  EvidenceType,
  type HistoryLine,
  Severity,
  Side,
  type Ticket,
  type TicketMessage,
  TicketStatus,
  type TicketSummary,
} from '../../../shared/tickets/ticket.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { changeBody } from '../access/change-body.ts';

const Seconds = z.int().meta({ description: 'Unix time in seconds.' });
const secondsOrNull = (atMs: number | null): number | null => (atMs === null ? null : unixSeconds(atMs));

// Longer texts belong into attachments.
const MAX_BODY_BYTES = 16_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they have no place in a text, except for tab and line feed
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;
const isBlank = (text: string): boolean => text.trim() === '';
const isText = (text: string): boolean => !CONTROL.test(text);

const Body = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= MAX_BODY_BYTES, `expected at most ${MAX_BODY_BYTES} bytes; attach a file for more`)
  .refine((text) => !isBlank(text), 'expected a text that is not empty')
  .refine(isText, 'expected text without control characters')
  .meta({
    description: `Plain text of at most ${MAX_BODY_BYTES} bytes. It is never interpreted as HTML or Markdown.`,
    maxLength: MAX_BODY_BYTES,
  });

const Subject = z
  .string()
  .trim()
  .max(200)
  .refine((text) => !isBlank(text), 'expected a text that is not empty')
  .refine((text) => isText(text) && !/[\t\n]/.test(text), 'expected one line of text')
  .meta({ maxLength: 200 });

const areDifferent = (ids: readonly string[]): boolean => new Set(ids).size === ids.length;
const Id = z.string().regex(/^[!-~]{1,64}$/, 'expected an id');

export const NewTicket = z.strictObject({
  subject: Subject,
  body: Body,
  severity: Severity.default('normal'),
  category: Category.default('other'),
  request_ids: z
    .array(Id)
    .max(20)
    .refine(areDifferent, 'expected different ids')
    .default([])
    .meta({ description: 'The `x-request-id` of requests of your organization. What is known of them is kept with the ticket.' }),
  deployment: Id.optional().meta({ description: 'A deployment of your organization.' }),
  invoice: Id.optional().meta({ description: 'An invoice of your organization.' }),
});
export type NewTicket = z.output<typeof NewTicket>;

export const TicketUpdate = changeBody({
  subject: Subject.optional(),
  severity: Severity.optional(),
  status: TicketStatus.optional().meta({
    description: 'Customers can set `resolved`; support also `waiting_on_support` and `waiting_on_customer`.',
  }),
  assignee: Id.nullable().optional().meta({ description: 'A user with the role `support` or `admin`. Only support can set it.' }),
});
export type TicketUpdate = z.output<typeof TicketUpdate>;

const OnlySupport = { description: 'Only support sees it.' };

export const TicketListEntry = z.object({
  object: z.literal('ticket'),
  id: z.string(),
  organization: z.string(),
  subject: z.string(),
  severity: Severity,
  category: Category,
  status: TicketStatus,
  created_by: z.string().meta({ description: 'The id of the user who opened it.' }),
  created_at: Seconds,
  updated_at: Seconds,
  closes_at: Seconds.nullable().meta({
    description: 'When a resolved ticket closes by itself, or a closed one closed. Unix time in seconds.',
  }),
  first_response_at: Seconds.nullable().meta({ description: 'When support first answered. Unix time in seconds.' }),
  assignee: z.string().nullable().optional().meta(OnlySupport),
  first_response_due_at: Seconds.optional().meta(OnlySupport),
  resolution_due_at: Seconds.nullable()
    .optional()
    .meta({ description: 'null while support waits for the customer. Only support sees it.' }),
});
export type TicketListEntry = z.infer<typeof TicketListEntry>;

export const TicketResource = TicketListEntry.extend({
  evidence: z.array(z.object({ type: EvidenceType, id: z.string() })),
  message_count: z.int(),
  version: z.int().meta({ description: 'Incremented by every change. Also sent as the ETag.' }),
});
export type TicketResource = z.infer<typeof TicketResource>;

/** Converts a ticket to the wire, as one side sees it now. */
export const toListEntry = (ticket: TicketSummary, side: Side, nowMs: number): TicketListEntry => ({
  object: 'ticket',
  id: ticket.id,
  organization: ticket.organization,
  subject: ticket.subject,
  severity: ticket.severity,
  category: ticket.category,
  status: statusAt(ticket, nowMs),
  created_by: ticket.created_by,
  created_at: unixSeconds(ticket.created_at),
  updated_at: unixSeconds(ticket.updated_at),
  closes_at: secondsOrNull(ticket.closes_at),
  first_response_at: secondsOrNull(ticket.clocks.first_response_at),
  ...(side === 'support' && {
    assignee: ticket.assignee,
    first_response_due_at: unixSeconds(ticket.clocks.first_response_due_at),
    resolution_due_at: secondsOrNull(ticket.clocks.resolution_due_at),
  }),
});

export const toTicketResource = (ticket: Ticket, side: Side, nowMs: number): TicketResource => ({
  ...toListEntry(ticket, side, nowMs),
  evidence: ticket.evidence,
  message_count: ticket.message_count,
  version: ticket.version,
});

const Author = z.object({
  side: Side,
  user: z.string().nullable().meta({ description: 'The id of the user. null: Sluice itself; to customers, also anyone of support.' }),
});

const authorFor = (side: Side, author: z.infer<typeof Author>): z.infer<typeof Author> =>
  side === 'customer' && author.side === 'support' ? { side: 'support', user: null } : author;

const Attachment = z.object({ id: z.string(), name: z.string(), content_type: z.string(), bytes: z.int() });

export const MessageResource = z.object({
  object: z.literal('ticket.message'),
  id: z.string(),
  ticket: z.string(),
  visibility: z.enum(['public', 'internal']).meta({ description: '`internal`: a note that only support sees.' }),
  author: Author,
  body: z.string(),
  attachments: z.array(Attachment),
  created_at: Seconds,
});
export type MessageResource = z.infer<typeof MessageResource>;

export const toMessageResource = (
  ticket: string,
  { id, author, body, attachments, at }: TicketMessage,
  visibility: 'public' | 'internal',
  side: Side,
): MessageResource => ({
  object: 'ticket.message',
  id,
  ticket,
  visibility,
  author: authorFor(side, author),
  body,
  attachments,
  created_at: unixSeconds(at),
});

export const NewMessage = z.strictObject({
  body: Body,
  visibility: z
    .enum(['public', 'internal'])
    .default('public')
    .meta({ description: '`internal`: a note that only support sees. Only support can set it.' }),
  attachments: z
    .array(Id)
    .max(5)
    .refine(areDifferent, 'expected different ids')
    .default([])
    .meta({ description: 'The ids of files that you announced for this ticket and have uploaded.' }),
});
export type NewMessage = z.output<typeof NewMessage>;

export const HistoryResource = z.object({
  object: z.literal('ticket.change'),
  id: z.string(),
  action: z.string(),
  actor: Author,
  changes: z.record(z.string(), z.object({ from: z.unknown(), to: z.unknown() })),
  created_at: Seconds,
});
export type HistoryResource = z.infer<typeof HistoryResource>;

export const toHistoryResource = ({ id, action, actor, changes, at }: HistoryLine, side: Side): HistoryResource => ({
  object: 'ticket.change',
  id,
  action,
  actor: authorFor(side, actor),
  changes,
  created_at: unixSeconds(at),
});

export const EvidenceResource = z.object({
  object: z.literal('ticket.evidence'),
  type: EvidenceType,
  id: z.string(),
  recorded_at: Seconds,
  resource: z.record(z.string(), z.unknown()).meta({ description: 'As its own route returned it when the ticket was opened.' }),
  internal: z.record(z.string(), z.unknown()).optional().meta(OnlySupport),
});
export type EvidenceResource = z.infer<typeof EvidenceResource>;

export const toEvidenceResource = ({ type, id, at, resource, internal }: Evidence, side: Side): EvidenceResource => ({
  object: 'ticket.evidence',
  type,
  id,
  recorded_at: unixSeconds(at),
  resource: JSON.parse(resource) as Record<string, unknown>,
  ...(side === 'support' && { internal: JSON.parse(internal) as Record<string, unknown> }),
});
