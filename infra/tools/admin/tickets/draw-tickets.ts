import type {
  EvidenceResource,
  HistoryResource,
  MessageResource,
  TicketListEntry,
  TicketResource,
} from '../../../../functions/control/tickets/ticket-resource.ts';
import type { Page } from '../../../../shared/http/page.ts';
import { SECOND_MS, unixSeconds } from '../../../../shared/time/units.ts';

const HOUR_SECONDS = 3_600;
const HEADER = ['id', 'severity', 'status', 'organization', 'first response', 'subject'];
const MAX_SUBJECT = 60;

// Callers choose the texts, and control characters would act on the terminal.
const printable = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, (character) => (character === '\n' || character === '\t' ? character : '\ufffd'));

const oneLine = (text: string): string => printable(text).replace(/\s+/g, ' ');

const timeOf = (seconds: number): string => new Date(seconds * SECOND_MS).toISOString().replace('T', ' ').slice(0, 16);

const firstResponse = ({ first_response_at, first_response_due_at = 0, status }: TicketListEntry, nowSeconds: number): string => {
  if (first_response_at !== null) return 'answered';
  if (status === 'resolved' || status === 'closed') return '-';
  const left = first_response_due_at - nowSeconds;
  const hours = `${(Math.abs(left) / HOUR_SECONDS).toFixed(1)} h`;
  return left < 0 ? `${hours} late` : `in ${hours}`;
};

/** A list of tickets as a table. */
export const drawTickets = ({ data, has_more }: Page<TicketListEntry>, nowMs: number): string => {
  if (data.length === 0 && !has_more) return 'There are no such tickets.\n';
  const nowSeconds = unixSeconds(nowMs);
  const rows = [
    HEADER,
    ...data.map((ticket) => [
      ...[ticket.id, ticket.severity, ticket.status, ticket.organization],
      ...[firstResponse(ticket, nowSeconds), oneLine(ticket.subject).slice(0, MAX_SUBJECT)],
    ]),
  ];
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n${has_more ? 'There are more. Choose a --status or an --org.\n' : ''}`;
};

const indented = (text: string): string[] =>
  printable(text)
    .split('\n')
    .map((line) => `  ${line}`);

const messageLines = ({ created_at, author, visibility, body, attachments }: MessageResource): string[] => [
  `${timeOf(created_at)}  ${author.side} ${author.user ?? ''}${visibility === 'internal' ? '  (note)' : ''}`,
  ...indented(body),
  ...attachments.map(({ name, bytes, id }) => `  [${oneLine(name)}, ${bytes} bytes, ${id}]`),
  '',
];

const historyLine = ({ created_at, action, actor, changes }: HistoryResource): string => {
  const changed = Object.entries(changes).map(
    ([field, { to }]) => `${field}: ${oneLine(typeof to === 'string' ? to : JSON.stringify(to))}`,
  );
  return `${timeOf(created_at)}  ${action} by ${actor.side} ${actor.user ?? ''}  ${changed.join(', ')}`.trimEnd();
};

const evidenceLines = (evidence: EvidenceResource): string[] => [
  `${evidence.type} ${evidence.id}`,
  ...indented(JSON.stringify({ resource: evidence.resource, internal: evidence.internal }, null, 2)),
];

/** A ticket with everything that support sees. */
export const drawTicket = (
  ticket: TicketResource,
  { messages, history, evidence }: { messages: MessageResource[]; history: HistoryResource[]; evidence: EvidenceResource[] },
): string =>
  [
    `${ticket.id}  ${ticket.status}, ${ticket.severity}, ${ticket.category}`,
    oneLine(ticket.subject),
    `${ticket.organization}, opened by ${ticket.created_by}, assigned to ${ticket.assignee ?? 'nobody'}`,
    '',
    ...messages.flatMap(messageLines),
    ...(evidence.length > 0 ? ['Evidence', ...evidence.flatMap(evidenceLines), ''] : []),
    'History',
    ...history.map(historyLine),
    '',
  ].join('\n');
