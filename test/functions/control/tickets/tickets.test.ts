import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';
import { storeDeployment } from '../../../support/fixtures/deployments.ts';
import { storeInvoice } from '../../../support/fixtures/invoices.ts';
import { type Reply, type Sent, startTicketDesk, type TicketDesk } from './ticket-desk.ts';

let desk: TicketDesk;
let support: Actor;
let organization: string;
let owner: Actor;
let member: Actor;
let foreignOwner: Actor;

beforeAll(async () => {
  desk = await startTicketDesk();
  support = await desk.newUser('support', null);
});
afterAll(() => desk.close());
beforeEach(async () => {
  organization = await desk.newOrganization();
  owner = await desk.newUser('owner', organization);
  member = await desk.newUser('member', organization);
  foreignOwner = await desk.newUser('owner', await desk.newOrganization('Other'));
});

const send = (operationId: string, sent: Sent): Promise<Reply> => desk.send(operationId, sent);
const open = async (as: Actor, fields: object = {}, atMs?: number): Promise<string> => {
  const { status, body } = await send('createTicket', {
    as,
    body: { subject: 'Help', body: 'It fails.', ...fields },
    ...(atMs && { atMs }),
  });
  expect([status, body.message]).toEqual([201, undefined]);
  return body.id;
};
const write = (as: Actor, id: string, body: string, fields: object = {}): Promise<Reply> =>
  send('createTicketMessage', { as, id, body: { body, ...fields } });
const retrieve = async (as: Actor, id: string, atMs?: number) => (await send('retrieveTicket', { as, id, ...(atMs && { atMs }) })).body;
const messagesOf = async (as: Actor, id: string) => (await send('listTicketMessages', { as, id })).body.data;

describe('openTicket', () => {
  test('returns it with its first message, and one entry in the history, the audit log and the outbox', async () => {
    const { status, body } = await send('createTicket', {
      as: member,
      body: { subject: ' Slow answers ', body: 'Since nine.\n\tSee <b>this</b>.', severity: 'high', category: 'api' },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      object: 'ticket',
      id: expect.stringMatching(/^tkt_/),
      organization,
      subject: 'Slow answers',
      severity: 'high',
      category: 'api',
      status: 'open',
      created_by: member.userId,
      created_at: Math.floor(member.origin.nowMs / 1_000),
      updated_at: Math.floor(member.origin.nowMs / 1_000),
      closes_at: null,
      first_response_at: null,
      evidence: [],
      message_count: 1,
      version: 1,
    });
    const [message, ...others] = await messagesOf(member, body.id);
    expect(message).toMatchObject({
      body: 'Since nine.\n\tSee <b>this</b>.',
      visibility: 'public',
      author: { side: 'customer', user: member.userId },
    });
    expect(others).toEqual([]);
    const { body: history } = await send('listTicketHistory', { as: member, id: body.id });
    expect(history.data).toMatchObject([{ action: 'ticket.created', changes: { status: { from: null, to: 'open' } } }]);
    const { data: audited } = await desk.deps.audit.list(organization, { limit: 1 });
    expect(audited[0]).toMatchObject({ action: 'ticket.created', target: { type: 'ticket', id: body.id }, actor: { id: member.userId } });
    expect(audited[0]?.changes.subject).toEqual({ from: null, to: '[not recorded]' });
    expect(JSON.stringify(audited)).not.toMatch(/Since nine|Slow answers/);
    expect(await desk.notifications(organization)).toMatchObject([
      { type: 'sluice.ticket.created.v1', subject: body.id, data: { by: 'customer', subject: 'Slow answers' } },
    ]);
  });

  test('stores the current state of its requests, deployment and invoice', async () => {
    const requests = [await desk.failedRequest(owner), await desk.failedRequest(owner)];
    const { id: deployment } = await storeDeployment(desk.emulator, { organization, state: 'failed', wanted: 'running' });
    const { invoiceId: invoice } = await storeInvoice(desk.emulator, organization);
    const id = await open(owner, { request_ids: requests, deployment, invoice });
    expect((await retrieve(owner, id)).evidence).toEqual(
      expect.arrayContaining([
        ...requests.map((request) => ({ type: 'request', id: request })),
        { type: 'deployment', id: deployment },
        { type: 'invoice', id: invoice },
      ]),
    );
    const { body } = await send('listTicketEvidence', { as: support, id });
    const of = (type: string) => body.data.find((each: { type: string }) => each.type === type);
    expect(of('request')).toMatchObject({
      resource: {
        object: 'request',
        error: { status: 503, code: 'upstream_error', message: 'The model failed.' },
        phases: expect.arrayContaining([expect.objectContaining({ name: 'parse' })]),
        target: { endpoint: 'qwen-endpoint', tries: 2 },
        limiter: { in_flight: 3, concurrency: 32 },
      },
      internal: { events: [{ outcome: 'upstream_failed', price_version: 'price_1', cost_nanos: expect.any(Number) }] },
    });
    expect(of('deployment')).toMatchObject({
      resource: { state: 'failed', history: expect.any(Array) },
      internal: { deployment: { id: deployment } },
    });
    expect(of('invoice')).toMatchObject({
      resource: { number: 'INV-000001', lines: [{ description: 'qwen3-8b, completion tokens' }], lines_left_out: 0 },
    });
  });

  test('shows its organization the evidence without internal facts', async () => {
    const id = await open(owner, { request_ids: [await desk.failedRequest(owner)] });
    const { body } = await send('listTicketEvidence', { as: owner, id });
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).not.toHaveProperty('internal');
    expect(body.data[0].resource.object).toBe('request');
  });

  test('accepts a hundred unresolved tickets of an organization', async () => {
    const tickets: string[] = [];
    const hour = (i: number) => ({ atMs: owner.origin.nowMs + Math.floor(i / 20) * 3_600_000 });
    const body = { subject: 'a', body: 'b' };
    for (let i = 0; i < 100; i++) tickets.push((await send('createTicket', { as: owner, body, ...hour(i) })).body.id);
    const later = { as: owner, ...hour(100) };
    const tooMany = { status: 409, code: 'too_many_unresolved_tickets' };
    expect(await send('createTicket', { ...later, body })).toMatchObject(tooMany);
    const resolve = { id: tickets[0], body: { status: 'resolved' } };
    expect((await send('updateTicket', { ...later, ...resolve })).status).toBe(200);
    expect((await send('createTicket', { ...later, body })).status).toBe(201);
    expect(await send('createTicketMessage', { ...later, id: tickets[0], body: { body: 'It fails again.' } })).toMatchObject(tooMany);
    expect((await send('createTicketMessage', { ...later, id: tickets[1], body: { body: 'It still fails.' } })).status).toBe(201);
  });

  test('shows an owner who became a member no invoices, and no requests but those of their own keys', async () => {
    const another = await desk.newUser('owner', organization);
    const [own, others] = [await desk.failedRequest(owner), await desk.failedRequest(another)];
    const { id: deployment } = await storeDeployment(desk.emulator, { organization, state: 'failed', wanted: 'running' });
    const { invoiceId: invoice } = await storeInvoice(desk.emulator, organization);
    const id = await open(owner, { request_ids: [own, others], deployment, invoice });
    const seenBy = async (as: Actor): Promise<string[]> =>
      (await send('listTicketEvidence', { as, id })).body.data.map((each: { id: string }) => each.id).toSorted();
    expect(await seenBy(owner)).toEqual([own, others, deployment, invoice].toSorted());
    expect(await seenBy({ ...owner, role: 'member' })).toEqual([own, deployment].toSorted());
    expect(await seenBy(support)).toHaveLength(4);
  });

  test('returns 404 for ids of other organizations, and for those that a member can’t see', async () => {
    const foreign = await desk.failedRequest(foreignOwner);
    const ofOwner = await desk.failedRequest(owner);
    const { invoiceId: invoice } = await storeInvoice(desk.emulator, organization);
    const { id: deployment } = await storeDeployment(desk.emulator, { organization: foreignOwner.organization as string });
    const tryWith = async (as: Actor, fields: object) => {
      const { status, code, param } = await send('createTicket', { as, body: { subject: 'a', body: 'b', ...fields } });
      return [status, code, param];
    };
    expect(await tryWith(owner, { request_ids: [ofOwner, foreign] })).toEqual([404, 'request_not_found', 'request_ids']);
    expect(await tryWith(owner, { request_ids: ['req_none'] })).toEqual([404, 'request_not_found', 'request_ids']);
    expect(await tryWith(member, { request_ids: [ofOwner] })).toEqual([404, 'request_not_found', 'request_ids']);
    expect(await tryWith(owner, { deployment })).toEqual([404, 'deployment_not_found', null]);
    expect(await tryWith(foreignOwner, { invoice })).toEqual([404, 'invoice_not_found', null]);
    expect(await tryWith(member, { invoice })).toEqual([404, 'invoice_not_found', 'invoice']);
  });

  test.each([
    ['no subject', { subject: '  ' }, 'subject'],
    ['a subject of two lines', { subject: 'a\nb' }, 'subject'],
    ['a long subject', { subject: 'x'.repeat(201) }, 'subject'],
    ['an empty body', { body: ' \n ' }, 'body'],
    ['a body of more than 16,000 bytes', { body: 'é'.repeat(8_001) }, 'body'],
    ['control characters', { body: 'a\u0000b' }, 'body'],
    ['21 requests', { request_ids: Array.from({ length: 21 }, (_, i) => `req_${i}`) }, 'request_ids'],
    ['a request twice', { request_ids: ['req_1', 'req_1'] }, 'request_ids'],
    ['an unknown severity', { severity: 'huge' }, 'severity'],
    ['an organization', { organization: 'org_1' }, undefined],
  ])('rejects %s with 400', async (_, fields, param) => {
    const reply = await send('createTicket', { as: owner, body: { subject: 'a', body: 'b', ...fields } });
    expect([reply.status, reply.param?.split(/[.[]/)[0]]).toEqual([400, param]);
  });

  test.each(['subject', 'body'])('says that an empty %s is empty, and nothing about control characters', async (field) => {
    const { body } = await send('createTicket', { as: owner, body: { subject: 'a', body: 'b', [field]: ' ' } });
    expect(body).toEqual({ message: `Invalid value for '${field}': expected a text that is not empty.` });
  });

  test('is for users of an organization: support can’t act for them', async () => {
    for (const as of [support, desk.admin])
      expect((await send('createTicket', { as, body: { subject: 'a', body: 'b' } })).status).toBe(403);
  });

  test('is limited to 20 an hour for an organization, however many are opened at once', async () => {
    const hourMs = 3_600_000;
    const atMs = Math.floor(owner.origin.nowMs / hourMs) * hourMs + 1;
    const replies = await Promise.all(
      Array.from({ length: 25 }, () => send('createTicket', { as: owner, body: { subject: 'a', body: 'b' }, atMs })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(replies.filter(({ status, code }) => status === 429 && code === 'too_many_tickets')).toHaveLength(5);
    expect((await send('createTicket', { as: owner, body: { subject: 'a', body: 'b' }, atMs: atMs + hourMs })).status).toBe(201);
    expect((await send('createTicket', { as: foreignOwner, body: { subject: 'a', body: 'b' }, atMs })).status).toBe(201);
  });
});

describe('a ticket', () => {
  const READS = ['retrieveTicket', 'listTicketMessages', 'listTicketHistory', 'listTicketEvidence'];

  test('is visible to its creator, its organization’s owners and support, and a 404 for all others', async () => {
    const id = await open(member);
    const other = await desk.newUser('member', organization);
    for (const operation of READS) {
      for (const as of [member, owner, support, desk.admin]) expect((await send(operation, { as, id })).status).toBe(200);
      const expected = await send(operation, { as: owner, id: 'tkt_none' });
      expect(expected.status).toBe(404);
      for (const as of [other, foreignOwner]) {
        const { status, body } = await send(operation, { as, id });
        expect([status, body.message.replace(id, 'tkt_none')]).toEqual([404, expected.body.message]);
      }
    }
  });

  test('can be changed only by those who see it', async () => {
    const id = await open(member);
    for (const as of [foreignOwner, await desk.newUser('member', organization)]) {
      expect((await write(as, id, 'a')).status).toBe(404);
      expect((await send('updateTicket', { as, id, body: { severity: 'low' } })).status).toBe(404);
      expect((await send('reopenTicket', { as, id })).status).toBe(404);
    }
  });
});

describe('messages', () => {
  test('make it the other side’s turn', async () => {
    const id = await open(owner);
    await write(support, id, 'Which model?');
    expect((await retrieve(owner, id)).status).toBe('waiting_on_customer');
    await write(owner, id, 'The small one.');
    expect((await retrieve(owner, id)).status).toBe('waiting_on_support');
    expect((await messagesOf(owner, id)).map(({ body, author }: { body: string; author: object }) => [body, author])).toEqual([
      ['It fails.', { side: 'customer', user: owner.userId }],
      ['Which model?', { side: 'support', user: null }],
      ['The small one.', { side: 'customer', user: owner.userId }],
    ]);
    expect((await messagesOf(support, id))[1].author).toEqual({ side: 'support', user: support.userId });
    expect((await desk.notifications(organization)).map(({ type, data }) => [type, data.by, data.status])).toEqual([
      ['sluice.ticket.created.v1', 'customer', 'open'],
      ['sluice.ticket.message_added.v1', 'support', 'waiting_on_customer'],
      ['sluice.ticket.message_added.v1', 'customer', 'waiting_on_support'],
    ]);
  });

  test('are pages in the order in which they were written, with support’s notes among them for support alone', async () => {
    const id = await open(owner, {}, owner.origin.nowMs);
    for (let i = 1; i <= 5; i++) {
      const atMs = owner.origin.nowMs + i * 1_000;
      const visibility = i % 2 === 0 ? 'internal' : 'public';
      await send('createTicketMessage', { as: support, id, body: { body: `${i}`, visibility }, atMs });
    }
    const pages = async (as: Actor): Promise<string[]> => {
      const found: string[] = [];
      for (let after: string | undefined; ; ) {
        const { body } = await send('listTicketMessages', { as, id, query: { limit: '2', ...(after && { after }) } });
        found.push(...body.data.map((message: { body: string }) => message.body));
        if (!body.has_more) return found;
        after = body.next;
      }
    };
    expect(await pages(support)).toEqual(['It fails.', '1', '2', '3', '4', '5']);
    expect(await pages(owner)).toEqual(['It fails.', '1', '3', '5']);
  });

  test('a note changes nothing that its organization can see', async () => {
    const id = await open(owner);
    const before = await Promise.all([
      retrieve(owner, id),
      messagesOf(owner, id),
      send('listTicketHistory', { as: owner, id }),
      send('listTickets', { as: owner }),
      desk.notifications(organization),
      desk.deps.audit.list(organization, { limit: 100 }),
    ]);
    expect((await write(support, id, 'They are angry.', { visibility: 'internal' })).status).toBe(201);
    const atMs = owner.origin.nowMs + 60_000;
    await send('updateTicket', { as: support, id, atMs, body: { assignee: support.userId } });
    const [ticket, ...rest] = await Promise.all([
      retrieve(owner, id),
      messagesOf(owner, id),
      send('listTicketHistory', { as: owner, id }),
      send('listTickets', { as: owner }),
      desk.notifications(organization),
      desk.deps.audit.list(organization, { limit: 100 }),
    ]);
    const withoutTime = (reply: unknown): unknown =>
      JSON.parse(JSON.stringify(reply, (name, value) => (name === 'updated_at' ? 0 : value)));
    expect(withoutTime(rest)).toEqual(withoutTime(before.slice(1)));
    expect({ ...ticket, version: 1, updated_at: before[0].updated_at }).toEqual(before[0]);
    const { body } = await send('listTicketHistory', { as: support, id });
    expect(body.data.map(({ action }: { action: string }) => action)).toEqual(['ticket.created', 'ticket.note_added', 'ticket.assigned']);
  });

  test('only support can write notes', async () => {
    const id = await open(owner);
    const { status, param } = await write(owner, id, 'a', { visibility: 'internal' });
    expect([status, param]).toEqual([403, 'visibility']);
  });

  test('are all stored if they are written at once', async () => {
    const id = await open(owner);
    const replies = await Promise.all([1, 2, 3].flatMap((i) => [write(owner, id, `owner ${i}`), write(support, id, `support ${i}`)]));
    const kept = replies.filter(({ status }) => status === 201);
    expect(kept.length).toBeGreaterThanOrEqual(4);
    expect(replies.every(({ status }) => [201, 412, 503].includes(status))).toBe(true);
    expect(await messagesOf(owner, id)).toHaveLength(1 + kept.length);
    expect((await retrieve(owner, id)).message_count).toBe(1 + kept.length);
  });
});

describe('changing a ticket', () => {
  test('customers can resolve it, and change subject and severity', async () => {
    const id = await open(owner);
    const { body } = await send('updateTicket', { as: owner, id, body: { severity: 'urgent', subject: 'All fails', status: 'resolved' } });
    expect(body).toMatchObject({ severity: 'urgent', subject: 'All fails', status: 'resolved', version: 2 });
    expect(body.closes_at).toBe(Math.floor((owner.origin.nowMs + 7 * DAY_MS) / 1_000));
  });

  test.each([{ severity: 'normal' }, { subject: 'Slow' }, { status: 'open' }])(
    'a change to what it is already changes nothing: %j',
    async (body) => {
      const id = await open(owner, { subject: 'Slow', severity: 'normal' });
      const before = await retrieve(owner, id);
      expect((await send('updateTicket', { as: owner, id, body })).body).toEqual(before);
      const { body: history } = await send('listTicketHistory', { as: owner, id });
      expect([await retrieve(owner, id), (history.data as unknown[]).length]).toEqual([before, 1]);
    },
  );

  test.each(['open', 'closed', 'waiting_on_support', 'waiting_on_customer'])('customers can’t set %s', async (status) => {
    const id = await open(owner);
    await write(
      support,
      id,
      status === 'waiting_on_customer' ? 'note' : 'answer',
      status === 'waiting_on_customer' ? { visibility: 'internal' } : {},
    );
    const reply = await send('updateTicket', { as: owner, id, body: { status } });
    expect([reply.status, reply.code]).toEqual([403, 'status_not_settable']);
  });

  test('only support sets and sees the assignee, who must work for support', async () => {
    const id = await open(owner);
    expect((await send('updateTicket', { as: owner, id, body: { assignee: support.userId } })).status).toBe(403);
    for (const assignee of [owner.userId, 'user_none'])
      expect(await send('updateTicket', { as: support, id, body: { assignee } })).toMatchObject({ status: 400, param: 'assignee' });
    const { body } = await send('updateTicket', { as: support, id, body: { assignee: support.userId } });
    expect(body.assignee).toBe(support.userId);
    expect(await retrieve(owner, id)).not.toHaveProperty('assignee');
    expect(await retrieve(owner, id)).not.toHaveProperty('first_response_due_at');
  });

  test('returns 412 for a change of an earlier version', async () => {
    const id = await open(owner);
    await write(support, id, 'a');
    const reply = await send('updateTicket', { as: owner, id, body: { severity: 'low' }, headers: { 'if-match': '"1"' } });
    expect(reply.status).toBe(412);
  });

  test('a resolved ticket closes after seven days, and can be reopened for thirty more', async () => {
    const id = await open(owner);
    await send('updateTicket', { as: support, id, body: { status: 'resolved' } });
    const closes = support.origin.nowMs + 7 * DAY_MS;
    expect((await retrieve(owner, id, closes - 1)).status).toBe('resolved');
    expect((await retrieve(owner, id, closes)).status).toBe('closed');
    const late = { as: owner, id, atMs: closes + 30 * DAY_MS };
    expect(await send('createTicketMessage', { as: owner, id, atMs: closes, body: { body: 'Again.' } })).toMatchObject({
      status: 409,
      code: 'ticket_closed',
    });
    expect(await send('updateTicket', { as: support, id, atMs: closes, body: { severity: 'low' } })).toMatchObject({
      status: 409,
      code: 'ticket_closed',
    });
    expect(await send('reopenTicket', late)).toMatchObject({ status: 409, code: 'ticket_closed_for_good' });
    const { body } = await send('reopenTicket', { ...late, atMs: late.atMs - 1 });
    expect(body).toMatchObject({ status: 'waiting_on_support', closes_at: null });
    expect(await send('reopenTicket', late)).toMatchObject({ status: 409, code: 'ticket_not_resolved' });
  });

  test('a customer’s message reopens a resolved ticket; support’s leaves it resolved', async () => {
    const id = await open(owner);
    await send('updateTicket', { as: support, id, body: { status: 'resolved' } });
    await write(support, id, 'By the way.');
    expect((await retrieve(owner, id)).status).toBe('resolved');
    await write(owner, id, 'It fails again.');
    expect(await retrieve(owner, id)).toMatchObject({ status: 'waiting_on_support', closes_at: null });
  });
});

describe('lists', () => {
  const idsOf = ({ body }: Reply): string[] => body.data.map(({ id }: { id: string }) => id);

  test('have the tickets that someone can see, the last change first', async () => {
    const first = await open(owner, {}, owner.origin.nowMs);
    const second = await open(member, { severity: 'low' }, owner.origin.nowMs + 1_000);
    const third = await open(foreignOwner, {}, owner.origin.nowMs + 2_000);
    await send('createTicketMessage', { as: owner, id: first, atMs: owner.origin.nowMs + 3_000, body: { body: 'More.' } });
    expect(idsOf(await send('listTickets', { as: owner }))).toEqual([first, second]);
    expect(idsOf(await send('listTickets', { as: member }))).toEqual([second]);
    expect(idsOf(await send('listTickets', { as: foreignOwner }))).toEqual([third]);
    expect(idsOf(await send('listTickets', { as: support, query: { organization } }))).toEqual([first, second]);
    const all = idsOf(await send('listTickets', { as: support, query: { limit: '100' } }));
    expect(all.filter((id) => [first, second, third].includes(id))).toEqual([first, third, second]);
    expect(idsOf(await send('listTickets', { as: owner, query: { severity: ['low', 'high'] } }))).toEqual([second]);
    const billing = await open(owner, { category: 'billing' }, owner.origin.nowMs + 2_000);
    expect(idsOf(await send('listTickets', { as: owner, query: { category: 'billing' } }))).toEqual([billing]);
    const since = String(Math.ceil((owner.origin.nowMs + 2_000) / 1_000));
    expect(idsOf(await send('listTickets', { as: owner, query: { updated_since: since } }))).toEqual([first]);
  });

  test('are empty after a cursor from before `updated_since`, and from the year 2100 on', async () => {
    for (let i = 0; i < 3; i++) await open(owner, {}, owner.origin.nowMs + i * 1_000);
    const { body } = await send('listTickets', { as: owner, query: { limit: '1' } });
    const later = String(Math.ceil(owner.origin.nowMs / 1_000) + 3_600);
    const listed = await send('listTickets', { as: owner, query: { after: body.next, updated_since: later } });
    expect([listed.status, listed.body]).toEqual([200, { object: 'list', data: [], has_more: false, next: null }]);
    const far = await send('listTickets', { as: owner, query: { updated_since: '4102444800' } });
    expect([far.status, far.body.data]).toEqual([200, []]);
  });

  test('filter by status as it is now: a ticket that has closed by itself is among the closed ones', async () => {
    const resolved = await open(owner);
    await send('updateTicket', { as: support, id: resolved, body: { status: 'resolved' } });
    const opened = await open(owner);
    const atMs = owner.origin.nowMs + 7 * DAY_MS;
    const listed = async (as: Actor, status: string[]) =>
      idsOf(await send('listTickets', { as, atMs, query: { status, organization } })).sort();
    for (const as of [owner, support]) {
      expect(await listed(as, ['closed'])).toEqual([resolved]);
      expect(await listed(as, ['resolved'])).toEqual([]);
      expect(await listed(as, ['open', 'closed'])).toEqual([resolved, opened].sort());
    }
    const closed = await send('listTickets', { as: support, atMs, query: { status: 'closed', limit: '100' } });
    expect(idsOf(closed)).toContain(resolved);
  });

  test('filter by assignee, for support alone', async () => {
    const mine = await open(owner);
    const nobodys = await open(owner);
    await send('updateTicket', { as: support, id: mine, body: { assignee: support.userId } });
    const listed = async (assignee: string) => idsOf(await send('listTickets', { as: support, query: { assignee, organization } }));
    expect(await listed(support.userId)).toEqual([mine]);
    expect(await listed('none')).toEqual([nobodys]);
    expect(await send('listTickets', { as: owner, query: { assignee: 'none' } })).toMatchObject({ status: 403, param: 'assignee' });
  });

  test('can name another organization only for support', async () => {
    const reply = await send('listTickets', { as: owner, query: { organization: foreignOwner.organization as string } });
    expect([reply.status, reply.code]).toEqual([404, 'organization_not_found']);
  });

  test('are pages that continue where the last one ended', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) ids.unshift(await open(owner, {}, owner.origin.nowMs + i));
    const found: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await send('listTickets', { as: owner, query: { limit: '3', ...(after && { after }) } });
      found.push(...idsOf(page));
      if (!page.body.has_more) break;
      after = page.body.next;
    }
    expect(found).toEqual(ids);
    expect(await send('listTickets', { as: owner, query: { after: 'zzz' } })).toMatchObject({ status: 400, param: 'after' });
  });
});
