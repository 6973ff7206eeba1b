import { describe, expect, test } from '@jest/globals';
import { type Evidence, plainFacts, requestIn } from '../../../console/pages/ticket/evidence-kinds.ts';
import { FILE_TYPES, fileTypeOf, formatBytes, MAX_FILES } from '../../../console/pages/ticket/file-types.ts';
import { changeTexts, nameOfAction } from '../../../console/pages/ticket/history-words.ts';
import { changesOfTicket, draftOfTicket, statusChoices } from '../../../console/pages/ticket/ticket-draft.ts';
import type { Ticket } from '../../../console/pages/tickets/ticket-words.ts';
import { EXTENSIONS } from '../../../functions/control/tickets/attachments/file-name.ts';
import { NewMessage } from '../../../functions/control/tickets/ticket-resource.ts';

describe('the files of a message', () => {
  test('have the types and the number that the API takes', () => {
    expect(FILE_TYPES).toEqual(EXTENSIONS);
    const withFiles = (count: number) => ({ body: 'See.', attachments: Array.from({ length: count }, (_, i) => `att_${i}`) });
    expect([MAX_FILES, MAX_FILES + 1].map((count) => NewMessage.safeParse(withFiles(count)).success)).toEqual([true, false]);
  });

  test.each([
    ['client.LOG', '', 'text/plain'],
    ['trace.har', '', 'application/json'],
    ['page.html', 'text/html', 'text/html'],
    ['core', '', 'application/octet-stream'],
  ])('announce %s with its type, for the API to judge', (name, type, expected) => {
    expect(fileTypeOf({ name, type })).toBe(expected);
  });

  test.each([
    [999, '999 bytes'],
    [52_144, '52.1 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [10_000_000, '10.0 MB'],
  ])('show %d bytes as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});

describe('the form of a ticket', () => {
  const ticket = { subject: 'Help', severity: 'low', status: 'open', assignee: null } as Ticket;

  test('sends only the fields that differ, and null for nobody', () => {
    const draft = draftOfTicket(ticket);
    expect(changesOfTicket(draft, ticket)).toEqual({});
    expect(changesOfTicket({ ...draft, severity: 'high', assignee: ' user_1 ' }, ticket)).toEqual({ severity: 'high', assignee: 'user_1' });
    expect(changesOfTicket({ ...draft, assignee: '' }, { ...ticket, assignee: 'user_1' })).toEqual({ assignee: null });
  });

  test('offers the states that support can set, and the current one', () => {
    expect(statusChoices('open').map(([status]) => status)).toEqual(['open', 'waiting_on_support', 'waiting_on_customer', 'resolved']);
    expect(statusChoices('resolved')).toHaveLength(3);
  });
});

describe('the history of a ticket', () => {
  test('names the changed fields, without what the ticket is about', () => {
    expect(nameOfAction('ticket.message_added')).toBe('message added');
    const changes = {
      status: { from: 'open', to: 'waiting_on_customer' },
      subject: { from: null, to: 'Help' },
      evidence: { from: null, to: [] },
    };
    expect(changeTexts(changes)).toEqual(['status: open → waiting on customer', 'subject: Help']);
    expect(changeTexts({ assignee: { from: 'user_1', to: null } })).toEqual(['assignee: user_1 → none']);
  });
});

describe('the evidence of a ticket', () => {
  const evidence = { object: 'ticket.evidence', type: 'request', id: 'req_1', recorded_at: 1, resource: {} } as Evidence;

  test('is shown as a request only if all of it was stored', () => {
    const resource = { phases: [], cost: { ratings: [] }, usage: {} };
    expect(requestIn({ ...evidence, resource })).toBe(resource);
    expect(requestIn(evidence)).toBeUndefined();
    expect(requestIn({ ...evidence, type: 'deployment', resource })).toBeUndefined();
  });

  test('shows the plain values of other things', () => {
    expect(
      plainFacts({ id: 'dep_1', object: 'deployment', served_name: 'qwen', scaling: { minimum: 0 }, is_public: false, due_at: 1793494800 }),
    ).toEqual([
      ['Served name', 'qwen'],
      ['Is public', 'false'],
      ['Due at', '2026-11-01 01:00:00 UTC'],
    ]);
  });
});
