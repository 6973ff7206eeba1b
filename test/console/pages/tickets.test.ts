import { describe, expect, test } from '@jest/globals';
import { draftAbout, faultOfRequests, idsIn, newTicketOf, toggled } from '../../../console/pages/tickets/new-ticket-draft.ts';
import { byClock, clockOf } from '../../../console/pages/tickets/ticket-clock.ts';
import { stateChoices, ticketsQueryOf } from '../../../console/pages/tickets/ticket-filters.ts';
import { faultOfText, isText } from '../../../console/pages/tickets/ticket-text.ts';
import { statusFor, type TicketEntry, type TicketReader } from '../../../console/pages/tickets/ticket-words.ts';
import { NewTicket } from '../../../functions/control/tickets/ticket-resource.ts';

const ticket: TicketEntry = {
  object: 'ticket',
  id: 'tkt_1',
  organization: 'org_1',
  subject: 'Help',
  severity: 'normal',
  category: 'api',
  status: 'open',
  created_by: 'user_1',
  created_at: 0,
  updated_at: 0,
  closes_at: null,
  first_response_at: null,
  assignee: null,
  first_response_due_at: 10_000,
  resolution_due_at: 50_000,
};

describe('the clock of a ticket', () => {
  test.each([
    ['the first response until support has answered', {}, { kind: 'first_response', dueAt: 10_000, isOverdue: false, isNear: false }],
    ['the resolution after that', { first_response_at: 1 }, { kind: 'resolution', dueAt: 50_000, isOverdue: false, isNear: false }],
    ['near in its last hour', { first_response_due_at: 4_600 }, { kind: 'first_response', isOverdue: false, isNear: true }],
    ['overdue at its end', { first_response_due_at: 1_000 }, { kind: 'first_response', isOverdue: true }],
  ])('is %s', (_, changes, expected) => {
    expect(clockOf({ ...ticket, ...changes }, 1_000)).toMatchObject(expected);
  });

  test.each([
    ['while it is the customer’s turn', { status: 'waiting_on_customer' }],
    ['when it is resolved', { status: 'resolved' }],
    ['for customers', { first_response_due_at: undefined, resolution_due_at: undefined }],
  ] as const)('does not run %s', (_, changes) => {
    expect(clockOf({ ...ticket, ...changes } as TicketEntry, 1_000)).toBeUndefined();
  });

  test('orders a queue, and keeps the order of tickets without one', () => {
    const late = { ...ticket, id: 'late', first_response_at: 1 };
    const [one, two] = ['one', 'two'].map((id) => ({ ...ticket, id, status: 'resolved' as const })) as [TicketEntry, TicketEntry];
    expect(byClock([one, late, two, ticket], 0).map(({ id }) => id)).toEqual(['tkt_1', 'late', 'one', 'two']);
  });
});

describe('the filters of tickets', () => {
  const none = { state: '', severity: '', category: '', assignee: '', organization: '' };

  test('show tickets that wait for support to support, and all unresolved ones to customers, by default', () => {
    expect(ticketsQueryOf(none, 'support', 'user_1')).toEqual({ status: ['open', 'waiting_on_support'] });
    expect(ticketsQueryOf(none, 'customer', 'user_1')).toEqual({ status: ['open', 'waiting_on_support', 'waiting_on_customer'] });
    expect(ticketsQueryOf({ ...none, state: 'all' }, 'customer', 'user_1')).toEqual({});
  });

  test('name the reader as the assignee, and are left out where only support can use them', () => {
    const chosen = { state: 'resolved', severity: 'high', category: 'api', assignee: 'me', organization: 'org_1' };
    const plain = { status: ['resolved'], severity: ['high'], category: ['api'] };
    expect(ticketsQueryOf(chosen, 'support', 'user_1')).toEqual({ ...plain, assignee: 'user_1', organization: 'org_1' });
    expect(ticketsQueryOf(chosen, 'customer', 'user_1')).toEqual(plain);
  });

  test('offer both sides the same states', () => {
    const valuesFor = (reader: TicketReader) => stateChoices(reader).map(([value]) => value);
    expect(valuesFor('support').sort()).toEqual(valuesFor('customer').sort());
    expect(valuesFor('viewer')).toEqual(valuesFor('customer'));
  });
});

describe('a status', () => {
  test('stands out for the side whose turn it is', () => {
    expect(statusFor('waiting_on_customer', 'customer')).toEqual({ words: 'waiting for you', tone: 'warn' });
    expect(statusFor('waiting_on_customer', 'support')).toEqual({ words: 'waiting for the customer', tone: 'accent' });
    expect(statusFor('open', 'support').tone).toBe('warn');
    expect(statusFor('waiting_on_support', 'customer').tone).toBe('accent');
  });

  test('asks nothing of those who can only read tickets', () => {
    expect(statusFor('waiting_on_customer', 'viewer')).toEqual({ words: 'waiting for your organization', tone: 'accent' });
    expect(statusFor('open', 'viewer').tone).toBe('accent');
    expect(stateChoices('viewer')).toContainEqual(['customer', 'Waiting for your organization']);
  });
});

describe('a new ticket', () => {
  test('has what the address names, and a category that fits it', () => {
    const draft = draftAbout({ request: 'req_1', deployment: '', invoice: '' });
    expect(draft).toMatchObject({ category: 'api', requests: 'req_1' });
    const body = newTicketOf({ ...draft, subject: 'Slow', body: 'It was slow.', requests: ' req_1, req_2\nreq_1' });
    expect(NewTicket.parse(body)).toMatchObject({ subject: 'Slow', request_ids: ['req_1', 'req_2'] });
    expect(draftAbout({ request: '', deployment: 'dep_1', invoice: '' }).category).toBe('deployment');
  });

  test.each(['a', 'a\tb\r\n', 'é'.repeat(8_000), 'é'.repeat(8_001), '\u001b[31mred', 'a\u007f', ' ', ''])(
    'takes a text exactly where the API takes it: %#',
    (body) => {
      expect(isText(body)).toBe(NewTicket.safeParse({ subject: 'Slow', body }).success);
    },
  );

  test('says what to change in a text or in the requests, but not in empty fields', () => {
    expect([faultOfText('a'.repeat(16_001)), faultOfText('\u001b[0m'), faultOfText('')]).toEqual([
      'Enter at most 16,000 bytes. Attach a file for more.',
      'Remove the control characters, such as the color codes of a terminal.',
      undefined,
    ]);
    const requests = Array.from({ length: 21 }, (_, i) => `req_${i}`);
    expect([faultOfRequests(requests.join(' ')), faultOfRequests(requests.slice(1).join(','))]).toEqual([
      'Name at most 20 requests.',
      undefined,
    ]);
  });

  test('adds a request, or takes it away', () => {
    expect(toggled('req_1', 'req_2')).toBe('req_1 req_2');
    expect(toggled('req_1 req_2', 'req_1')).toBe('req_2');
    expect(idsIn(' ')).toEqual([]);
  });
});
