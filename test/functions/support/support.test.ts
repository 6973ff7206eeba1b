import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../functions/control/access/actor.ts';
import { closeResolved } from '../../../functions/support/close-resolved.ts';
import { countTickets } from '../../../functions/support/count-tickets.ts';
import { deleteExpired } from '../../../functions/support/delete-expired.ts';
import type { SupportDependencies } from '../../../functions/support/dependencies.ts';
import { handleSchedule } from '../../../functions/support/handle-schedule.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { createOutbox } from '../../../shared/notifications/outbox.ts';
import { createTicketStore } from '../../../shared/tickets/ticket-store.ts';
import { DAY_MS, HOUR_MS } from '../../../shared/time/units.ts';
import { startTicketDesk, type TicketDesk } from '../control/tickets/ticket-desk.ts';

const RETENTION_MS = 730 * DAY_MS;

let desk: TicketDesk;
// With the function's permissions.
let own: Pick<SupportDependencies, 'database' | 'audit' | 'tickets' | 'outbox'>;
let support: Actor;
let organization: string;
let owner: Actor;
let startMs: number;

beforeAll(async () => {
  desk = await startTicketDesk();
  const { emulator } = desk;
  const database = await emulator.as('support');
  const table = (name: string) => createRecordTable(database, emulator.tables[name] as string);
  own = {
    database,
    audit: createAuditStore(table('Audit')),
    tickets: createTicketStore(database, emulator.tables.Tickets as string, table('Tickets')),
    outbox: createOutbox(table('Notifications')),
  };
  support = await desk.newUser('support', null);
});
afterAll(() => desk.close());
beforeEach(async () => {
  organization = await desk.newOrganization();
  owner = await desk.newUser('owner', organization);
  startMs = owner.origin.nowMs;
});

const at = (nowMs: number, more: Partial<SupportDependencies> = {}): SupportDependencies => ({
  ...own,
  deleteFiles: async () => true,
  retentionMs: RETENTION_MS,
  now: () => nowMs,
  hasTime: () => true,
  ...more,
});

const unexpected = (error: unknown): never => {
  throw error;
};
const closeDue = (deps: SupportDependencies) => closeResolved(deps, unexpected);
const deleteDue = (deps: SupportDependencies) => deleteExpired(deps, unexpected);

const open = async (fields: object = {}): Promise<string> =>
  (await desk.send('createTicket', { as: owner, atMs: startMs, body: { subject: 'a', body: 'b', ...fields } })).body.id;
const resolve = (id: string, atMs = startMs) => desk.send('updateTicket', { as: support, id, atMs, body: { status: 'resolved' } });
const statusOf = async (id: string) => (await desk.deps.tickets.find(id))?.status;

const rowsOf = async (id: string): Promise<Record<string, unknown>[]> => {
  const { Items = [] } = await desk.emulator.sdk.scan({ TableName: desk.emulator.tables.Tickets as string });
  return Items.filter(({ account, record }) => account === id || String(record).endsWith(id));
};

describe('resolved tickets', () => {
  test('are closed after seven days, once, with an entry in the history, the audit log and the outbox', async () => {
    const [due, fresh] = [await open(), await open()];
    await resolve(due);
    await resolve(fresh, startMs + HOUR_MS);
    const closesAt = startMs + 7 * DAY_MS;
    await closeDue(at(closesAt - 1));
    expect(await statusOf(due)).toBe('resolved');
    await closeDue(at(closesAt));
    await closeDue(at(closesAt + 1));
    expect([await statusOf(due), await statusOf(fresh)]).toEqual(['closed', 'resolved']);
    const { body } = await desk.send('listTicketHistory', { as: owner, id: due, atMs: closesAt });
    expect(body.data.at(-1)).toMatchObject({
      action: 'ticket.closed',
      actor: { side: 'support', user: null },
      changes: { status: { from: 'resolved', to: 'closed' } },
    });
    const { data } = await desk.deps.audit.list(organization, { limit: 100 });
    expect(data.filter(({ action }) => action === 'ticket.closed')).toMatchObject([
      { actor: { type: 'system', id: 'support' }, target: { type: 'ticket', id: due } },
    ]);
    const told = (await desk.notifications(organization)).filter(({ data: { status } }) => status === 'closed');
    expect(told).toMatchObject([{ type: 'sluice.ticket.status_changed.v1', subject: due, data: { by: null } }]);
  });

  test('are not closed by a run that loses against a message', async () => {
    const id = await open();
    await resolve(id);
    const closesAt = startMs + 7 * DAY_MS;
    const answers = await Promise.all([
      desk.send('createTicketMessage', { as: owner, id, atMs: closesAt - 1, body: { body: 'It fails again.' } }),
      closeDue(at(closesAt)),
    ]);
    const status = await statusOf(id);
    // Whoever comes first wins; the message's own time is before the closing.
    if (answers[0].status === 201) expect(['waiting_on_support', 'closed']).toContain(status);
    else expect([answers[0].code, status]).toEqual(['ticket_closed', 'closed']);
  });
});

describe('closed tickets', () => {
  const closed = async (): Promise<string> => {
    const id = await open({ request_ids: [await desk.failedRequest(owner)] });
    await desk.send('createTicketMessage', { as: support, id, atMs: startMs, body: { body: 'A note.', visibility: 'internal' } });
    await desk.send('updateTicket', { as: support, id, atMs: startMs, body: { assignee: support.userId } });
    await resolve(id);
    await closeDue(at(startMs + 7 * DAY_MS));
    return id;
  };
  const lateMs = () => startMs + 7 * DAY_MS + RETENTION_MS;

  test('are deleted after the retention, with every row and file', async () => {
    const id = await closed();
    await deleteDue(at(lateMs() - 1));
    expect((await rowsOf(id)).length).toBeGreaterThanOrEqual(10);
    const files: object[] = [];
    const deleteFiles = async (ticket: object) => files.push(ticket) > 0;
    await deleteDue(at(lateMs(), { deleteFiles }));
    expect(await rowsOf(id)).toEqual([]);
    expect(files).toContainEqual({ organization, ticket: id });
    const { data } = await desk.deps.audit.list(organization, { limit: 1 });
    expect(data).toMatchObject([{ action: 'ticket.deleted', target: { id }, reason: 'retention' }]);
  });

  test('stay as long as they have files that could not be deleted', async () => {
    const id = await closed();
    const before = (await rowsOf(id)).length;
    await deleteDue(at(lateMs(), { deleteFiles: async () => false }));
    expect(await rowsOf(id)).toHaveLength(before);
  });

  test('are gone after a run that crashes at any write, and the one after it', async () => {
    let crashes = 0;
    for (let survived = 0; crashes === survived; survived++) {
      const id = await closed();
      let writes = 0;
      const { database: whole } = desk.emulator;
      const transactWrite: Database['transactWrite'] = async (input) => {
        if (writes === survived) {
          crashes += 1;
          throw new Error('crashed');
        }
        writes += 1;
        return whole.transactWrite(input);
      };
      const crashing = { ...whole, transactWrite };
      const name = desk.emulator.tables.Tickets as string;
      const tickets = createTicketStore(crashing, name, createRecordTable(crashing, name));
      await deleteDue(at(lateMs(), { database: crashing, tickets })).catch((error: unknown) => expect(error).toEqual(new Error('crashed')));
      await deleteDue(at(lateMs()));
      expect(await rowsOf(id)).toEqual([]);
    }
    expect(crashes).toBeGreaterThan(1);
  });
});

describe('counts', () => {
  test('are by status, with the tickets that are late', async () => {
    const fresh = await startTicketDesk();
    try {
      const person = await fresh.newUser('owner', await fresh.newOrganization());
      const clerk = await fresh.newUser('support', null);
      const begin = person.origin.nowMs;
      const opened = async (severity: string): Promise<string> =>
        (await fresh.send('createTicket', { as: person, body: { subject: 'a', body: 'b', severity } })).body.id;
      const urgent = await opened('urgent');
      await opened('low');
      const answered = await opened('urgent');
      await fresh.send('createTicketMessage', { as: clerk, id: answered, atMs: begin, body: { body: 'Which one?' } });
      const countedAt = (nowMs: number) => countTickets({ ...at(nowMs), tickets: fresh.deps.tickets });
      expect(await countedAt(begin + HOUR_MS)).toEqual({
        statuses: { open: 2, waiting_on_support: 0, waiting_on_customer: 1, resolved: 0 },
        first_response_overdue: 0,
        resolution_overdue: 0,
      });
      expect(await countedAt(begin + 9 * HOUR_MS)).toMatchObject({ first_response_overdue: 1, resolution_overdue: 1 });
      await fresh.send('updateTicket', { as: clerk, id: urgent, atMs: begin, body: { status: 'resolved' } });
      expect(await countedAt(begin + 9 * HOUR_MS)).toMatchObject({
        statuses: { open: 1, resolved: 1 },
        first_response_overdue: 0,
        resolution_overdue: 0,
      });
      expect(await countTickets({ ...at(begin), tickets: fresh.deps.tickets, hasTime: () => false })).toBeUndefined();
    } finally {
      await fresh.close();
    }
  });
});

const logged = async (run: () => Promise<void>): Promise<{ message: string; ticket?: string }[]> => {
  const lines: { message: string; ticket?: string }[] = [];
  const spy = jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(JSON.parse(String(text))) > 0);
  try {
    await run();
  } finally {
    spy.mockRestore();
  }
  return lines;
};

test('a run writes one line with its counts, also if a part of its work fails', async () => {
  const lines = await logged(async () => {
    await handleSchedule(at(startMs));
    const ofStatus: SupportDependencies['tickets']['ofStatus'] = (status) => {
      if (status === 'resolved') throw new Error('no database');
      return own.tickets.ofStatus(status);
    };
    const run = handleSchedule(at(startMs + 7 * DAY_MS, { tickets: { ...own.tickets, ofStatus } }));
    await expect(run).rejects.toThrow('2 failed, the first with Error: no database');
  });
  expect(lines.filter(({ message }) => message.startsWith('tickets_')).map(({ message }) => message)).toEqual([
    'tickets_counted',
    'tickets_not_closed',
    'tickets_not_counted',
  ]);
});

test.each([
  ['close', 'tickets_not_closed', 'closed', 7 * DAY_MS],
  ['be deleted', 'tickets_not_deleted', undefined, 7 * DAY_MS + RETENTION_MS],
])('a ticket that can never %s holds up no other one, and is named in the log of each run', async (_, message, status, afterMs) => {
  const [broken, other] = [await open(), await open()];
  for (const [id, ms] of [
    [broken, 0],
    [other, 1],
  ] as const)
    await resolve(id, startMs + ms);
  if (status === undefined) await closeDue(at(startMs + 7 * DAY_MS + 1));
  const find = (id: string) => (id === broken ? Promise.reject(new Error('a broken row')) : own.tickets.find(id));
  const tickets = { ...own.tickets, find };
  for (let run = 1; run <= 2; run++) {
    const lines = await logged(() =>
      expect(handleSchedule(at(startMs + afterMs + 1, { tickets }))).rejects.toThrow('1 failed, the first with Error: a broken row'),
    );
    expect(lines.filter((line) => line.message === message)).toMatchObject([{ ticket: broken }]);
    expect(lines.filter((line) => line.message === 'tickets_counted')).toHaveLength(1);
  }
  expect(await statusOf(other)).toBe(status);
});

test('a run that finds no database tries no other ticket', async () => {
  for (let i = 0; i < 2; i++) await resolve(await open());
  let tried = 0;
  const find = () => Promise.reject(new DatabaseUnavailable(new Error(`attempt ${++tried}`)));
  await logged(() => expect(handleSchedule(at(startMs + 7 * DAY_MS, { tickets: { ...own.tickets, find } }))).rejects.toThrow('attempt 1'));
  expect(tried).toBe(1);
});
