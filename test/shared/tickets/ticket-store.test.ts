import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { MAX_WRITES, transact } from '../../../shared/database/transaction.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { createClocks, SupportPromise } from '../../../shared/tickets/clocks.ts';
import { type Ticket, TicketStatus } from '../../../shared/tickets/ticket.ts';
import { createTicketStore, MAX_READ, type TicketList, type TicketStore } from '../../../shared/tickets/ticket-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { sized } from '../../support/sized.ts';

const START_MS = Date.UTC(2026, 0, 1);
// More than are read for a page.
const TICKETS = sized(1_500, 3_000);
// A ticket has three rows.
const STORED_AT_ONCE = Math.floor(MAX_WRITES / 3);
const clocks = createClocks(SupportPromise.parse({}));

let emulator: TestDatabase;
let tickets: TicketStore;

const newTicket = (i: number): Ticket => {
  const at = START_MS + i * 1_000;
  return {
    id: newTimedId('ticket', at),
    organization: i % 3 === 0 ? 'org_large' : `org_${i % 50}`,
    subject: `Ticket ${i}`,
    severity: 'normal',
    category: 'api',
    status: TicketStatus.options[i % 5] as TicketStatus,
    created_by: 'user_1',
    email: 'ann@example.com',
    assignee: i === 0 ? 'user_support' : null,
    evidence: [],
    message_count: 1,
    created_at: at,
    updated_at: at,
    closes_at: null,
    clocks: clocks.start('normal', at),
    version: 1,
  };
};

beforeAll(async () => {
  emulator = await startTestDatabase();
  const { database, tables } = emulator;
  tickets = createTicketStore(database, tables.Tickets as string, createRecordTable(database, tables.Tickets as string));
  const all = Array.from({ length: TICKETS }, (_, i) => newTicket(i));
  for (let i = 0; i < TICKETS; i += STORED_AT_ONCE)
    await transact(
      database,
      all.slice(i, i + STORED_AT_ONCE).flatMap((ticket) => tickets.toCreate(ticket)),
    );
});
afterAll(() => emulator.close());

const ALL: TicketList = { statuses: TicketStatus.options };
const LISTS: [string, TicketList, (ticket: { assignee: string | null }) => boolean][] = [
  ['all tickets', ALL, () => true],
  ['one status', { statuses: ['waiting_on_support'] }, () => true],
  ['an organization', { organization: 'org_large' }, () => true],
  ['an assignee with one old ticket', ALL, ({ assignee }) => assignee === 'user_support'],
  ['nothing that exists', ALL, () => false],
  ['nothing that an organization has', { organization: 'org_large' }, () => false],
];

test(`a page of any list reads at most ${MAX_READ} rows, whatever it looks for`, async () => {
  const lines: string[] = [];
  for (const [name, list, matches] of LISTS) {
    const page = await tickets.list(list, { limit: 20, matches });
    lines.push(
      `${name.padEnd(36)}${String(page.read).padStart(6)} rows read, ${page.tickets.length} listed, more: ${page.next !== undefined}`,
    );
    expect(page.read).toBeLessThanOrEqual(MAX_READ);
  }
  process.stdout.write(`A page of 20 of ${TICKETS} tickets:\n${lines.join('\n')}\n`);
});

test('pages have every ticket once, the last change first, also if many of them are empty', async () => {
  for (const [, list, matches] of LISTS) {
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page: Awaited<ReturnType<TicketStore['list']>> = await tickets.list(list, { limit: 100, after, matches });
      found.push(...page.tickets.map(({ subject }) => subject));
      after = page.next;
    } while (after !== undefined);
    const numbers = found.map((subject) => Number(subject.split(' ')[1]));
    expect(numbers).toEqual(numbers.toSorted((one, other) => other - one));
    expect(new Set(numbers).size).toBe(numbers.length);
    const expected = Array.from({ length: TICKETS }, (_, i) => newTicket(i)).filter(
      (ticket) =>
        matches(ticket) && ('organization' in list ? ticket.organization === list.organization : list.statuses.includes(ticket.status)),
    );
    expect(numbers).toHaveLength(expected.length);
  }
});
