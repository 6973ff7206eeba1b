import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ConsolePage } from '../../support/browser/console-page.ts';
import { openConsole, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';

let ui: TestConsole;
let owner: SignedIn;
let attacker: Server;
let url: string;

beforeAll(async () => {
  ui = await openConsole();
  url = ui.run.control_url as string;
  const { id: organization } = await ui.control.createOrganization();
  owner = await ui.control.createUser({ role: 'owner', organization });
  attacker = createServer((_, reply) => void reply.setHeader('content-type', 'text/html').end('<h1>Win a prize</h1>'));
  await new Promise<void>((resolve) => attacker.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await ui.close();
  attacker.close();
});

// The same host is the same site, so the browser sends even strict cookies there. The other name is another site.
const HOSTS = ['127.0.0.1', 'localhost'] as const;

const openAttack = async ({ context }: ConsolePage, host: (typeof HOSTS)[number]) => {
  const page = await context.newPage();
  await page.goto(`http://${host}:${(attacker.address() as AddressInfo).port}/`);
  return page;
};

const isSignedIn = async ({ page }: ConsolePage): Promise<boolean> => {
  await page.reload();
  await page.locator('#main, form').first().waitFor();
  return (await page.locator('#main').count()) === 1;
};

describe('a page of another origin', () => {
  test.each(HOSTS)('shows nothing of the console in a frame, from %s', async (host) => {
    const visited = await ui.open(owner);
    const page = await openAttack(visited, host);
    await page.evaluate(`new Promise((loaded) => {
      const frame = document.createElement('iframe');
      frame.src = ${JSON.stringify(`${url}/console/`)};
      frame.onload = loaded;
      document.body.append(frame);
    })`);
    const [, frame] = page.frames();
    expect(await frame?.locator('#root').count()).toBe(0);
    await visited.close();
  });

  test.each(HOSTS)('can neither end a session nor get a token of it, from %s', async (host) => {
    const visited = await ui.open(owner);
    const page = await openAttack(visited, host);
    const sent = await page.evaluate<string[]>(`(async () => {
      const results = [];
      for (const path of ['logout', 'refresh', 'login'])
        for (const init of [
          { mode: 'no-cors', headers: { 'content-type': 'text/plain' } },
          { mode: 'cors', headers: { 'content-type': 'application/json', 'x-sluice-console': '1' } },
        ]) {
          const request = fetch(${JSON.stringify(url)} + '/v1/auth/browser/' + path, { method: 'POST', credentials: 'include', body: '{}', ...init });
          results.push(await request.then(({ type, status }) => type + ' ' + status, () => 'blocked'));
        }
      return results;
    })()`);
    expect(sent).toEqual(Array.from({ length: 3 }, () => ['opaque 0', 'blocked']).flat());
    const [form] = await Promise.all([
      page.waitForResponse(/logout/),
      page.evaluate(`(() => {
        const form = document.createElement('form');
        Object.assign(form, { action: ${JSON.stringify(url)} + '/v1/auth/browser/logout', method: 'POST', enctype: 'text/plain' });
        document.body.append(form);
        form.submit();
      })()`),
    ]);
    expect(form.status()).toBe(403);
    expect(await isSignedIn(visited)).toBe(true);
    await visited.close();
  });
});

describe('a link to the console', () => {
  test.each([
    '//evil.example/',
    '/%2F%2Fevil.example',
    '/\\evil.example',
    '/https:evil.example',
    '/javascript:alert(1)',
    '/?return_to=https://evil.example#https://evil.example',
  ])('leads nowhere else after the login: %s', async (path) => {
    const { page, faults, close } = await ui.openSignedOut(path);
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).origin));
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Password').fill(owner.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.locator('#main').waitFor();
    expect([...new Set(requested)]).toEqual([new URL(url).origin]);
    expect(new URL(page.url()).origin).toBe(new URL(url).origin);
    expect(faults).toEqual([]);
    await close();
  });

  test.each([
    '//evil.example/',
    'https:evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'javascript:alert(1)',
    '/docs',
    '/console/../docs',
  ])('can begin no single sign-on that ends elsewhere: %s', async (return_to) => {
    const body = { email: 'ada@example.com', code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', return_to };
    const { status, body: refused } = await ui.control.call('POST', '/v1/auth/sso', { body });
    expect([status, refused.error.param]).toEqual([400, 'return_to']);
  });
});

describe('a session that ends while a form is filled in', () => {
  test('loses nothing that was typed', async () => {
    const { page, faults, close } = await ui.open(owner, '/api-keys?dialog=create');
    await page.getByLabel('Name').fill('typed before');
    const { token } = await ui.control.logIn(owner.email, owner.password);
    await ui.control.done('DELETE', '/v1/me/sessions', { token });
    await page.getByRole('button', { name: 'Create API key' }).last().click();
    const again = page.getByRole('dialog', { name: 'Your session has ended' });
    await again.getByLabel('Email').fill(owner.email);
    await again.getByLabel('Password').fill(owner.password);
    await again.getByRole('button', { name: 'Sign in', exact: true }).click();
    await again.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name').inputValue()).toBe('typed before');
    await page.getByRole('button', { name: 'Create API key' }).last().click();
    await page.getByRole('dialog', { name: 'API key typed before' }).waitFor();
    expect(faults).toEqual([]);
    await close();
  });
});
