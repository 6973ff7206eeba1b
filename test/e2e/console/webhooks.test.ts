import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { goTo, hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';
import { eventually } from '../../support/eventually.ts';

let ui: TestConsole;
let owner: SignedIn;
let organization: string;
let receiver: Server;
let url: string;
const received: { headers: IncomingHttpHeaders; body: string }[] = [];

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: (await Array.fromAsync(request)).join('') });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
  ui = await openConsole();
  ({ id: organization } = await ui.control.createOrganization());
  owner = await ui.control.createUser({ role: 'owner', organization });
});
afterAll(async () => {
  receiver.close();
  await ui.close();
});

const createWebhook = (fields: object = {}): Promise<{ id: string }> =>
  ui.control.done('POST', '/v1/webhooks', { token: owner.token, body: { url, ...fields } });

describe('webhooks in the console', () => {
  test('creates a webhook, tests it with one click, and replays the delivery with the same id', async () => {
    const { page, faults, close } = await ui.open(owner, '/nowhere');
    await page.clock.install();
    await goTo(page, '/webhooks');
    await page.getByText('No webhook yet').waitFor();
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByLabel('URL').fill(url);
    await page.getByLabel('All events').uncheck();
    await page.getByLabel('Ticket opened').check();
    await page.getByRole('button', { name: 'Create webhook' }).last().click();
    const secret = (await page.getByLabel('Secret', { exact: true }).locator('pre').textContent()) ?? '';
    await page.getByLabel('Verify the signature').waitFor();
    await page.getByRole('button', { name: 'I have saved the secret' }).click();
    await page.getByRole('button', { name: 'Send test event' }).click();
    const row = page.getByRole('row', { name: /^Test/ });
    const untilShown = (text: string) =>
      eventually(async () => {
        // The screen reads deliveries again every five seconds.
        await page.clock.fastForward('00:05');
        return row
          .getByText(text)
          .waitFor({ timeout: 1_000 })
          .then(
            () => true,
            () => false,
          );
      }, `${text} is shown`);
    await untilShown('1: Status 204');
    await row.getByText('delivered').waitFor();
    await row.getByRole('button', { name: 'Replay' }).click();
    await untilShown('2: Status 204');
    const events = received.map(
      ({ headers, body }) => new Webhook(secret).verify(body, headers as Record<string, string>) as { id: string },
    );
    expect(events).toHaveLength(2);
    expect(new Set(events.map(({ id }) => id)).size).toBe(1);
    expect(await page.content()).not.toContain(secret);
    expect(faults).toEqual([]);
    await close();
  });

  test('edits and pauses a webhook, rotates its secret, and deletes it', async () => {
    const { id } = await createWebhook({ description: 'Accounting' });
    const stored = () => ui.control.done('GET', `/v1/webhooks/${id}`, { token: owner.token });
    const { page, faults, close } = await ui.open(owner, `/webhooks/${id}`);
    await page.getByRole('button', { name: 'Edit webhook' }).click();
    await page.getByLabel('Description').fill('Books');
    await ui.control.done('PATCH', `/v1/webhooks/${id}`, { token: owner.token, body: { types: ['sluice.invoice.paid.v1'] } });
    await page.getByRole('button', { name: 'Save webhook' }).click();
    await page.getByRole('button', { name: 'Continue with these values' }).click();
    await page.getByRole('button', { name: 'Save webhook' }).click();
    await page.getByRole('heading', { name: 'Books' }).waitFor();
    await page.getByRole('button', { name: 'Pause webhook' }).click();
    await page.getByText('paused', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Send test event' }).count()).toBe(0);
    expect(await stored()).toMatchObject({ description: 'Books', types: ['sluice.invoice.paid.v1'], enabled: false });
    const slow = Promise.withResolvers<void>();
    await page.route(`**/v1/webhooks/${id}`, async (route) => {
      if (route.request().method() === 'GET') await slow.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('button', { name: 'Rotate secret' }).last().click();
    await page.getByText('each request is also signed with the previous secret').waitFor();
    await page.getByRole('button', { name: 'I have saved the secret' }).click();
    expect(await page.getByRole('dialog').count()).toBe(1);
    slow.resolve();
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByRole('button', { name: 'Delete webhook' }).last().click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    expect((await ui.control.call('GET', `/v1/webhooks/${id}`, { token: owner.token })).status).toBe(404);
    expect(faults).toEqual([]);
    await close();
  });

  test('shows what others wrote as text, and is accessible on a phone in the dark', async () => {
    const { id } = await createWebhook({ description: PLANTED });
    const visited = await ui.open(owner, `/webhooks/${id}`, PHONE);
    const { page, faults, close } = visited;
    await page.getByRole('heading', { name: PLANTED }).waitFor();
    await page.getByText('No deliveries yet').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'All webhooks' }).click();
    await page.getByText(PLANTED).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });

  test('offers no changes to viewers, and nothing to members', async () => {
    const { id } = await createWebhook();
    const [viewer, member] = await Promise.all([
      ui.control.createUser({ role: 'viewer', organization }),
      ui.control.createUser({ role: 'member', organization }),
    ]);
    const asViewer = await ui.open(viewer, `/webhooks/${id}`);
    await asViewer.page.getByRole('heading', { name: 'Deliveries', exact: true }).waitFor();
    expect(await asViewer.page.getByRole('button', { name: /Edit|Rotate|Pause|Delete|test/ }).count()).toBe(0);
    await asViewer.page.getByText(`${new URL(url).origin}/[hidden]`).waitFor();
    expect(await asViewer.page.getByText(url).count()).toBe(0);
    const asMember = await ui.open(member, `/webhooks/${id}`);
    await asMember.page.getByText("Your role doesn't have access to this page").waitFor();
    expect([...asViewer.faults, ...asMember.faults]).toEqual([]);
    await Promise.all([asViewer.close(), asMember.close()]);
  });
});
