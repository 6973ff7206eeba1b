import type { Database } from '../database/database.ts';
import { createReadBudget, newestFirst, type RowRange } from '../database/newest-first.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import type { Write } from '../database/transaction.ts';
import { Conflict } from '../http/errors.ts';
import type { PageRequest } from '../http/page.ts';
import { MAX_ID_TIME_MS, prefixes, TIME_CHARACTERS, timeOfId } from '../ids/id.ts';
import { Evidence, HistoryLine, Ticket, TicketMessage, type TicketStatus, TicketSummary } from './ticket.ts';

/**
 * The most rows that a page of a list reads. A row has about 0.5 KB, so that this is one or two queries of each status.
 */
export const MAX_READ = 1_000;
const FIRST_READ = 100;

const LISTED = 'ticket#';
// Sorts after every id.
const END = '~';

/**
 * The readers of an entry. Entries that only support can read have keys of their own, so that no read for a customer
 * finds them.
 */
export type Audience = 'everyone' | 'support';
const MESSAGES: Record<Audience, string> = { everyone: 'message#', support: 'note#' };
const HISTORY: Record<Audience, string> = { everyone: 'history#', support: 'staff-history#' };
const EVIDENCE = 'evidence#';
const TICKET = 'ticket';

// An organization's tickets that are neither resolved nor closed.
const MAX_UNRESOLVED = 100;

const tooManyUnresolved = (): Conflict =>
  new Conflict({
    code: 'too_many_unresolved_tickets',
    message: `An organization can have at most ${MAX_UNRESOLVED} tickets that are not resolved. Resolve one that needs no answer any more.`,
  });

const isUnresolved = ({ status }: Pick<Ticket, 'status'>): boolean => status !== 'resolved' && status !== 'closed';

// Newest change first.
const positionOf = ({ id, updated_at }: Pick<TicketSummary, 'id' | 'updated_at'>): string => timeOfId(updated_at) + id;

// Its organization's list, and the one of all tickets of its status.
const listingsOf = (ticket: TicketSummary): RecordKey[] => {
  const record = LISTED + positionOf(ticket);
  return [
    { account: ticket.organization, record },
    { account: statusList(ticket.status), record },
  ];
};
const statusList = (status: TicketStatus): string => `tickets#${status}`;

/** Selects the tickets of an organization, or all of these statuses. */
export type TicketList = { organization: string } | { statuses: readonly TicketStatus[] };

interface ListRequest extends PageRequest {
  matches: (ticket: TicketSummary) => boolean;
  /** Only tickets that changed at this time or later, in ms. */
  sinceMs?: number | undefined;
}

/** A page of a list. `next` is where the next page begins; undefined: all was searched. */
export interface TicketPage {
  tickets: TicketSummary[];
  next: string | undefined;
  /** The number of rows that were read. */
  read: number;
}

const exists = (id: string) => () => new Error(`${id} already exists.`);

/**
 * Tickets in the table `tickets`. A ticket, its messages, history and evidence are the rows of its own partition. Two
 * more rows are its entries in lists, which are sorted by the last change; they are replaced in the transaction of
 * each change, so that a list is never behind.
 */
export const createTicketStore = (database: Database, tableName: string, table: RecordTable) => {
  const toList = (ticket: Ticket): Write[] =>
    listingsOf(ticket).map((recordKey) => table.toCreate(recordKey, TicketSummary.parse(ticket), exists(ticket.id)));
  const toUnlist = (ticket: Ticket): Write[] => listingsOf(ticket).map((recordKey) => table.toDelete(recordKey));

  return {
    find: async (id: string): Promise<Ticket | undefined> => {
      const row = await table.get({ account: id, record: TICKET });
      return row && Ticket.parse(row);
    },

    toCreate: (ticket: Ticket): Write[] => [
      table.toCreate({ account: ticket.id, record: TICKET }, ticket, exists(ticket.id)),
      ...toList(ticket),
    ],

    /** Replaces the version that was read; 412 if it has changed since. `after` must have a later `updated_at`. */
    toReplace: (before: Ticket, after: Ticket): Write[] => [
      table.toReplace({ account: before.id, record: TICKET }, { ...after, version: before.version }),
      ...toUnlist(before),
      ...toList(after),
    ],

    /**
     * Updates the number of an organization's unresolved tickets: 409 if there are too many. Tickets of releases before
     * this count are not in it.
     */
    toCountUnresolved: (before: Ticket | undefined, after: Ticket): Write[] => {
      const by = Number(isUnresolved(after)) - Number(before !== undefined && isUnresolved(before));
      const recordKey = { account: after.organization, record: 'unresolved-tickets' };
      return by === 0 ? [] : [table.toCount(recordKey, by, MAX_UNRESOLVED, tooManyUnresolved)];
    },

    toAddMessage: (ticket: string, message: TicketMessage, audience: Audience): Write =>
      table.toCreate({ account: ticket, record: MESSAGES[audience] + message.id }, message, exists(message.id)),

    /** Counts a note, up to a maximum: a note does not change its ticket, because its organization would see that. */
    toCountNote: (ticket: string, max: number, refused: () => Error): Write =>
      table.toCount({ account: ticket, record: 'notes' }, 1, max, refused),

    toAddHistory: (ticket: string, line: HistoryLine, audience: Audience): Write =>
      table.toCreate({ account: ticket, record: HISTORY[audience] + line.id }, line, exists(line.id)),

    toAddEvidence: (ticket: string, evidence: Evidence): Write =>
      table.toCreate({ account: ticket, record: `${EVIDENCE}${evidence.type}#${evidence.id}` }, evidence, exists(evidence.id)),

    /** A page of messages or notes, oldest first. */
    messages: async (ticket: string, audience: Audience, page: PageRequest): Promise<{ entries: TicketMessage[]; hasMore: boolean }> => {
      const { rows, hasMore } = await table.page({ account: ticket, prefix: MESSAGES[audience] }, page);
      return { entries: rows.map((row) => TicketMessage.parse(row)), hasMore };
    },

    message: async (ticket: string, audience: Audience, id: string): Promise<TicketMessage | undefined> => {
      const row = await table.get({ account: ticket, record: MESSAGES[audience] + id });
      return row && TicketMessage.parse(row);
    },

    /** A page of the history, oldest first. */
    history: async (ticket: string, audience: Audience, page: PageRequest): Promise<{ entries: HistoryLine[]; hasMore: boolean }> => {
      const { rows, hasMore } = await table.page({ account: ticket, prefix: HISTORY[audience] }, page);
      return { entries: rows.map((row) => HistoryLine.parse(row)), hasMore };
    },

    /** Lists all evidence of a ticket: a bounded number, named when it was created. */
    evidence: async (ticket: string): Promise<Evidence[]> => {
      const found: Evidence[] = [];
      for await (const row of table.all({ account: ticket, prefix: EVIDENCE })) found.push(Evidence.parse(row));
      return found;
    },

    /** Lists every ticket of a status, the longest unchanged first. */
    ofStatus: async function* (status: TicketStatus): AsyncGenerator<TicketSummary> {
      for await (const row of table.all({ account: statusList(status), prefix: LISTED })) yield TicketSummary.parse(row);
    },

    /** Lists the other rows of a ticket: messages, notes, history, evidence and attachments. */
    otherRows: async function* (ticket: string): AsyncGenerator<RecordKey> {
      for await (const { record } of table.allOf(ticket)) if (record !== TICKET) yield { account: ticket, record: String(record) };
    },

    toDeleteRow: (recordKey: RecordKey): Write => table.toDelete(recordKey),

    /** Deletes the version that was read, with its entries in lists. Its other rows must be gone. */
    toDelete: (ticket: Ticket): Write[] => [table.toDelete({ account: ticket.id, record: TICKET }, ticket.version), ...toUnlist(ticket)],

    /**
     * Returns a page of a list, the last change first. It reads a bounded number of rows, so it can be short, or empty,
     * although there is more.
     */
    list: async (list: TicketList, { limit, after, matches, sinceMs }: ListRequest): Promise<TicketPage> => {
      const range = {
        from: LISTED + (sinceMs === undefined ? '' : timeOfId(Math.min(sinceMs, MAX_ID_TIME_MS))),
        to: LISTED + (after ?? END),
      };
      const accounts = 'organization' in list ? [list.organization] : list.statuses.map(statusList);
      const ranges: RowRange[] = accounts.map((account) => ({ account, ...range }));
      const budget = createReadBudget(MAX_READ);
      const tickets: TicketSummary[] = [];
      let last: string | undefined;
      for await (const item of newestFirst({ database, table: tableName }, ranges, budget, FIRST_READ)) {
        if (tickets.length === limit) return { tickets, next: last, read: MAX_READ - budget.left() };
        last = item.record.slice(LISTED.length);
        const ticket = TicketSummary.parse(item);
        if (matches(ticket)) tickets.push(ticket);
      }
      return { tickets, next: budget.isExhausted() ? last : undefined, read: MAX_READ - budget.left() };
    },
  };
};

export type TicketStore = ReturnType<typeof createTicketStore>;

const POSITION = new RegExp(`^[0-9A-Za-z]{${TIME_CHARACTERS}}${prefixes.ticket}[0-9A-Za-z]{1,30}$`);

/** Returns true if a caller's cursor is a position in a list. */
export const isPosition = (after: string): boolean => POSITION.test(after);
