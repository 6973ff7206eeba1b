import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { goTo, hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';

let ui: TestConsole;
let owner: SignedIn;
let member: SignedIn;
let support: SignedIn;
let organization: string;

beforeAll(async () => {
  ui = await openConsole();
  ({ id: organization } = await ui.control.createOrganization());
  [owner, member, support] = (await Promise.all([
    ui.control.createUser({ role: 'owner', organization }),
    ui.control.createUser({ role: 'member', organization }),
    ui.control.createUser({ role: 'support' }),
  ])) as [SignedIn, SignedIn, SignedIn];
});
afterAll(() => ui.close());

const openTicket = async (fields: object = {}, { token } = member): Promise<string> => {
  const body = { subject: 'Slow', body: 'It is slow.', ...fields };
  return (await ui.control.done('POST', '/v1/tickets', { token, body })).id;
};

// Lines of the text in the first cell that says so.
const LINES_OF_UNASSIGNED = `(() => {
  const range = document.createRange();
  range.selectNodeContents([...document.querySelectorAll('td')].find(({ textContent }) => textContent === 'unassigned'));
  return range.getClientRects().length;
})()`;

const write = (id: string, { token }: SignedIn, body: object) => ui.control.done('POST', `/v1/tickets/${id}/messages`, { token, body });

describe('tickets in the console', () => {
  test('opens a ticket, refuses a file in the words of the API, and resolves and reopens it', async () => {
    const { page, faults, close } = await ui.open(member, '/tickets');
    await page.getByRole('button', { name: 'Open ticket' }).click();
    await page.getByLabel('Subject').fill('How do I rotate a key?');
    await page.getByLabel('What happened, and what did you expect?').fill('I found no button.');
    await page.getByRole('button', { name: 'Open ticket' }).last().click();
    await page.getByRole('heading', { name: 'How do I rotate a key?' }).waitFor();
    await page.getByLabel('Attach files').setInputFiles({ name: 'page.html', mimeType: 'text/html', buffer: Buffer.from('<p>') });
    await page.getByText("Invalid value for 'content_type'").waitFor();
    await page.getByRole('textbox', { name: 'Reply' }).fill('See the file.');
    expect(await page.getByRole('button', { name: 'Send reply' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Remove page.html' }).click();
    await page.getByRole('button', { name: 'Send reply' }).click();
    await page.getByRole('log').getByText('See the file.').waitFor();
    // The button says so only when the ticket was read again, too, whose version the message has changed.
    await page.getByRole('button', { name: 'Send reply' }).waitFor();
    await page.getByRole('button', { name: 'Resolve ticket' }).click();
    await page.getByRole('button', { name: 'Reopen ticket' }).click();
    await page.getByText('waiting for support').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('shows new messages by itself, and keeps a reply while its session ends', async () => {
    const id = await openTicket();
    const writer = await ui.control.createUser({ role: 'owner', organization });
    const { page, faults, close } = await ui.open(writer, '/nowhere');
    await page.clock.install();
    await goTo(page, `/tickets/${id}`);
    await page.getByRole('textbox', { name: 'Reply' }).fill('A long reply.');
    await write(id, support, { body: 'Since when?' });
    await page.clock.fastForward('00:11');
    await page.getByRole('log').getByText('Since when?').waitFor();
    await ui.control.done('DELETE', '/v1/me/sessions', { token: writer.token });
    // The next look for new messages is refused.
    await page.clock.fastForward('01:00');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Email').fill(writer.email);
    await dialog.getByLabel('Password').fill(writer.password);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByRole('textbox', { name: 'Reply' }).inputValue()).toBe('A long reply.');
    // The ticket is read again, and the button moves up when the notices go.
    await page.getByText('This may be out of date').first().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send reply' }).click();
    await page.getByRole('log').getByText('A long reply.').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('orders the queue of support by its clocks, filters it, and assigns a ticket with one click', async () => {
    const { id: other } = await ui.control.createOrganization();
    const theirs = await ui.control.createUser({ role: 'owner', organization: other });
    await openTicket({ subject: 'Nothing works', severity: 'urgent', category: 'billing' }, theirs);
    await openTicket({ subject: 'A question', severity: 'low', category: 'api' }, theirs);
    const { page, faults, close } = await ui.open(support, `/tickets?organization=${other}`);
    const subjects = page.getByRole('region', { name: 'Tickets' }).getByRole('link');
    await subjects.first().waitFor();
    expect(await subjects.allTextContents()).toEqual(['Nothing works', 'A question']);
    await page.getByText('due soon').waitFor();
    await page.setViewportSize(PHONE.viewport);
    expect(await page.evaluate<number>(LINES_OF_UNASSIGNED)).toBe(1);
    await page.getByLabel('Category').selectOption('API');
    await page.getByRole('link', { name: 'Nothing works' }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe(`?organization=${other}&category=api`);
    await page.getByRole('link', { name: 'A question' }).click();
    await page.getByRole('button', { name: 'Assign to me' }).click();
    await page.getByRole('button', { name: 'Assign to me' }).waitFor({ state: 'detached' });
    // A note that support begins stays a note while it looks at other tickets.
    await page.getByText('Internal note').click();
    await page.getByRole('textbox', { name: 'Internal note' }).fill('I look at');
    await page.getByRole('link', { name: 'All tickets' }).click();
    await page.getByRole('link', { name: 'Nothing works' }).click();
    expect(await page.getByRole('textbox', { name: 'Reply to the customer' }).inputValue()).toBe('');
    await page.goBack();
    await goTo(page, '/tickets?assignee=me');
    await page.getByRole('link', { name: 'A question' }).click();
    const note = page.getByRole('textbox', { name: 'Internal note' });
    expect(await note.inputValue()).toBe('I look at');
    await page.getByRole('button', { name: 'Save internal note' }).click();
    await page.getByRole('log').getByText('I look at').waitFor();
    expect(await note.inputValue()).toBe('');
    expect(faults).toEqual([]);
    await close();
  });

  test('saves nothing over the change of somebody else', async () => {
    const id = await openTicket();
    const { page, faults, close } = await ui.open(support, `/tickets/${id}`);
    await page.getByRole('button', { name: 'Edit ticket' }).click();
    await page.getByRole('dialog').getByLabel('Severity').selectOption('high');
    await ui.control.done('PATCH', `/v1/tickets/${id}`, { token: member.token, body: { severity: 'low', subject: 'Very slow' } });
    await page.getByRole('button', { name: 'Save ticket' }).click();
    await page.getByText('Keep your value').waitFor();
    await page.getByRole('button', { name: 'Continue with these values' }).click();
    await page.getByRole('button', { name: 'Save ticket' }).click();
    // The page reads the other change by itself, maybe before it has saved its own.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Very slow' }).waitFor();
    expect((await ui.control.done('GET', `/v1/tickets/${id}`, { token: member.token })).severity).toBe('high');
    expect(faults).toEqual([]);
    await close();
  });

  test('shows what others wrote as text, and is accessible on a phone in the dark', async () => {
    const id = await openTicket({ subject: PLANTED, body: PLANTED });
    await write(id, support, { body: PLANTED, visibility: 'internal' });
    await write(id, support, { body: PLANTED });
    const visited = await ui.open(support, `/tickets/${id}?history=shown`, PHONE);
    const { page, faults, close } = visited;
    await page.getByRole('heading', { name: PLANTED }).waitFor();
    await page.getByLabel('Changes of this ticket').getByText(PLANTED).waitFor();
    const messages = page.getByRole('log').getByText(PLANTED);
    await messages.first().waitFor();
    expect(await messages.count()).toBe(3);
    expect(await accessibilityFaults(page)).toEqual([]);
    await goTo(page, `/tickets?state=all&organization=${organization}`);
    await page.getByRole('link', { name: PLANTED }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });

  test('hides tickets of others, and offers viewers no button that changes a ticket', async () => {
    const id = await openTicket({ subject: 'Of the owner' }, owner);
    const viewer = await ui.control.createUser({ role: 'viewer', organization });
    const asViewer = await ui.open(viewer, `/tickets/${id}`);
    await asViewer.page.getByRole('log').getByText('It is slow.').waitFor();
    expect(await asViewer.page.getByRole('button', { name: /Send|Edit|Resolve|Assign/ }).count()).toBe(0);
    const asMember = await ui.open(member, `/tickets/${id}`);
    await asMember.page.getByText('does not exist').waitFor();
    expect([...asViewer.faults, ...asMember.faults]).toEqual([]);
    await Promise.all([asViewer.close(), asMember.close()]);
  });
});
