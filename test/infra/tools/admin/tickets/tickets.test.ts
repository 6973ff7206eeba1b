import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { startTicketDesk, type TicketDesk } from '../../../../functions/control/tickets/ticket-desk.ts';
import { runAdmin } from '../run-admin.ts';

let desk: TicketDesk;
let organization: string;
let owner: Actor;
let ticket: string;

beforeAll(async () => {
  desk = await startTicketDesk();
  organization = await desk.newOrganization();
  owner = await desk.newUser('owner', organization);
  const request = await desk.failedRequest(owner);
  const body = { subject: 'It \u202efails', body: 'Since nine.\nSee the request.', severity: 'high', request_ids: [request] };
  ticket = (await desk.send('createTicket', { as: owner, body })).body.id;
});
afterAll(() => desk.close());

const admin = (...args: string[]) => {
  const { Tickets: TICKETS_TABLE, Notifications: NOTIFICATIONS_TABLE } = desk.emulator.tables;
  const more = { TICKETS_TABLE: TICKETS_TABLE as string, NOTIFICATIONS_TABLE: NOTIFICATIONS_TABLE as string, SUPPORT_PROMISE: '{}' };
  return runAdmin(desk.emulator, ['tickets', '--actor', 'sue', ...args], more);
};

test('lists the tickets that wait for support, without characters that control a terminal', async () => {
  const { stdout, stderr } = await admin();
  expect(stderr).toBe('');
  expect(stdout).toMatch(new RegExp(`^${ticket} +high +open +${organization} +in [34]\\.\\d h +It \ufffdfails$`, 'm'));
  expect((await admin('--status', 'closed')).stdout).toBe('There are no such tickets.\n');
  expect((await admin('--org', 'org_none')).stdout).toBe('There are no such tickets.\n');
});

test('shows a ticket with its messages, evidence and history; answers it, notes something, and resolves it', async () => {
  expect((await admin('--ticket', ticket, '--note', 'Looks like the GPU.')).code).toBe(0);
  expect((await admin('--ticket', ticket, '--reply', 'Fixed. Please try again.', '--resolve')).code).toBe(0);
  const { stdout } = await admin('--ticket', ticket);
  expect(stdout).toContain(`${ticket}  resolved, high, api`.replace('api', 'other'));
  expect(stdout).toContain('  Since nine.\n  See the request.');
  expect(stdout).toMatch(/support operator:sue {2}\(note\)\n {2}Looks like the GPU\./);
  expect(stdout).toMatch(/support operator:sue\n {2}Fixed\. Please try again\./);
  expect(stdout).toContain('"code": "upstream_error"');
  expect(stdout).toContain('ticket.updated by support operator:sue  status: resolved');
  expect((await desk.send('listTicketMessages', { as: owner, id: ticket })).body.data).toMatchObject([
    { author: { side: 'customer', user: owner.userId } },
    { body: 'Fixed. Please try again.', author: { side: 'support', user: null } },
  ]);
  // Entries of one millisecond have no order.
  const { data } = await desk.deps.audit.list(organization, { limit: 100 });
  const updates = data.filter(({ action }) => action === 'ticket.updated');
  expect(updates).toEqual([expect.objectContaining({ actor: expect.objectContaining({ type: 'operator', id: 'sue' }) })]);
});

test.each([
  [['--reply', 'a'], '--ticket is missing'],
  [['--ticket', 'tkt_1', '--reply', 'a', '--note', 'b'], 'not both at once'],
  [['--ticket', 'org_1'], 'expected the id of a ticket'],
  [['--status', 'great'], 'Invalid input in --status'],
  [['--ticket', 'tkt_none'], "The ticket 'tkt_none' does not exist"],
])('%j is refused with what is wrong', async (args, message) => {
  const { code, stderr } = await admin(...args);
  expect([code, stderr.includes(message)]).toEqual([1, true]);
});
