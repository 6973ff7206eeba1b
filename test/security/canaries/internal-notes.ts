import { beforeAll, describe, expect, test } from '@jest/globals';
import { controlRoutes } from '../../../functions/control/routes.ts';
import { permissionsOf } from '../../../shared/hosts/permissions.ts';
import { OUTBOX_PREFIX } from '../../../shared/notifications/outbox.ts';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { readPlaces } from './places.ts';

// Support writes this down for itself.
const NOTE = 'canary-note-4711';
const SECOND_NOTE = 'canary-note-0815';

let run: TestRun;
let control: Control;
let organization: string;
let owner: SignedIn;
let member: SignedIn;
let support: SignedIn;
let ticket: string;

const reads = controlRoutes.filter(({ method, access }) => method === 'GET' && access !== 'public' && permissionsOf('owner').has(access));

// The ticket, or a list of the organization's resources.
const pathOf = (path: string): string =>
  path.replace(/\{\w+\+?\}/, path.startsWith('/v1/tickets/') ? ticket : organization).replaceAll(/\{\w+\}/g, 'x');

// They look at tickets, or write down what has happened.
const SCHEDULED = ['support', 'billing', 'metering'];

const invoke = async (name: string): Promise<void> => {
  const event = JSON.stringify({ source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} });
  const reply = await fetch(`${run.lambda_endpoint}/2015-03-31/functions/${name}/invocations`, { method: 'POST', body: event });
  expect(reply.headers.get('x-amz-function-error')).toBeNull();
};

/** Expects that the notes of support to a ticket are with the ticket alone. */
export const testInternalNotes = (runOf: () => TestRun): void => {
  describe('an internal note', () => {
    beforeAll(async () => {
      run = runOf();
      control = controlOf(run);
      ({ id: organization } = await control.createOrganization());
      owner = await control.createUser({ role: 'owner', organization });
      member = await control.createUser({ role: 'member', organization });
      support = await control.createUser({ role: 'support' });
      await control.done('POST', '/v1/webhooks', { token: owner.token, body: { url: 'https://example.com/hook' } });
      ({ id: ticket } = await control.done('POST', '/v1/tickets', { token: member.token, body: { subject: 'Help', body: 'It fails.' } }));
      const write = (token: string, body: string, visibility = 'public') =>
        control.done('POST', `/v1/tickets/${ticket}/messages`, { token, body: { body, visibility } });
      await write(support.token, NOTE, 'internal');
      await write(support.token, 'Which model is it?');
      await control.done('PATCH', `/v1/tickets/${ticket}`, { token: support.token, body: { assignee: support.id, severity: 'high' } });
      await write(member.token, 'The small one.');
      await write(support.token, SECOND_NOTE, 'internal');
      await control.done('PATCH', `/v1/tickets/${ticket}`, { token: support.token, body: { status: 'resolved' } });
    });

    test('shows neither notes nor the assigned supporter in replies to the ticket’s organization', async () => {
      for (const { token } of [owner, member])
        for (const { path } of reads) {
          const { body } = await control.call('GET', pathOf(path), { token });
          const text = JSON.stringify(body);
          // The audit log says by id who of the platform changed something of the organization.
          const ids = path === '/v1/audit-log' ? [] : [support.id];
          for (const internal of [NOTE, SECOND_NOTE, ...ids, support.email, 'ticket.note_added', 'ticket.assigned', 'assignee'])
            expect([path, text.includes(internal)]).toEqual([path, false]);
        }
      const messages = await control.done('GET', `/v1/tickets/${ticket}/messages`, { token: support.token });
      expect(JSON.stringify(messages)).toContain(NOTE);
    });

    test('stores notes with the ticket and nowhere else: no log, notification, email, audit entry or export', async () => {
      const announced = async () => {
        const { Items = [] } = await run.database.scan({ TableName: run.tables.Notifications as string });
        return Items.filter(({ account, record }) => account === organization && String(record).startsWith(OUTBOX_PREFIX)).length;
      };
      await eventually(async () => (await announced()) >= 4, 'all that everyone may know of is in the outbox');
      for (const name of SCHEDULED) await invoke(name);
      const places = await readPlaces(run);
      const found = [...places].filter(([, text]) => text.includes(NOTE) || text.includes(SECOND_NOTE)).map(([name]) => name);
      // The database of the run is a file, too.
      expect(found.filter((name) => !name.startsWith('file'))).toEqual(['table Tickets']);
      expect(found.filter((name) => name.includes('log'))).toEqual([]);
    });
  });
};
