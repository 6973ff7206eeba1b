import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';

// The organization of the local run's deployment.
const DEMO = 'org_demo';
const CHAT = '**/v1/chat/completions';

let ui: TestConsole;
let member: SignedIn;
let owner: SignedIn;
let organization: string;

beforeAll(async () => {
  ui = await openConsole();
  ({ id: organization } = await ui.control.createOrganization());
  [member, owner] = await Promise.all([
    ui.control.createUser({ role: 'member', organization }),
    ui.control.createUser({ role: 'owner', organization: DEMO }),
  ]);
});
afterAll(() => ui.close());

const sendMessage = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
};

const answer = (page: Page, number = 0) => page.getByRole('article').nth(number);

// The values of an answer by their names.
const measuresOf = async (page: Page, number = 0): Promise<Record<string, string>> => {
  const [names, values] = await Promise.all(
    ['dt', 'dd'].map((tag) => answer(page, number).locator('dl').first().locator(tag).allTextContents()),
  );
  return Object.fromEntries((names ?? []).map((name, i) => [name, values?.[i] ?? '']));
};

const playgroundKeys = async ({ token }: SignedIn): Promise<{ id: string; status: string }[]> =>
  (await ui.control.done('GET', '/v1/api-keys?purpose=playground', { token })).data;

const reply = (route: Route, status: number, body: string, headers: Record<string, string> = {}): Promise<void> =>
  route.fulfill({
    status,
    body,
    headers: { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*', 'x-request-id': 'req_0123456789', ...headers },
  });

// The body that the snippet's curl would send.
const bodyOfCurl = (code: string): unknown => {
  const printed = execFileSync('sh', ['-c', `curl() { printf '%s\n' "$@"; }\n${code}`], { encoding: 'utf8' });
  return JSON.parse(printed.slice(printed.indexOf('-d\n') + 3));
};

describe('the playground of the console', () => {
  test('compares two models with their speed, exact cost, timeline and the code of what was sent', async () => {
    const { model } = ui.run;
    const { page, faults, close } = await ui.open(member, `/playground?${new URLSearchParams({ model, with: model })}`);
    const bodies: unknown[] = [];
    page.on('request', (request) => request.url().endsWith('/chat/completions') && bodies.push(request.postDataJSON()));
    await page.getByLabel('System prompt').fill("It's $brief.");
    await page.getByLabel('Max tokens').fill('12');
    await page.getByLabel('Temperature').fill('0');
    await sendMessage(page, 'Tell me about rivers.');
    await page.getByText('Timeline').nth(1).waitFor();
    for (const number of [0, 1]) {
      const measures = await measuresOf(page, number);
      expect(measures['Tokens out']).toBe('12');
      expect(measures['Finish reason']).toBe('length');
      expect(measures['First token']).toMatch(/s$/);
      const id = await answer(page, number).locator('code').last().textContent();
      const [key] = await playgroundKeys(member);
      const path = `/v1/observability/requests/${id}?api_key_id=${key?.id}`;
      const { cost, usage } = await ui.control.done('GET', path, { token: member.token });
      expect(measures.Cost).toBe(`$${cost.total}`);
      expect(measures['Tokens in']).toBe(String(usage.input_tokens));
    }
    await answer(page).getByText('Code for this request').click();
    expect(bodyOfCurl((await answer(page).locator('pre').textContent()) ?? '')).toEqual(bodies[0]);
    expect(bodies[0]).toMatchObject({ max_tokens: 12, temperature: 0, messages: [{ role: 'system', content: "It's $brief." }, {}] });

    await sendMessage(page, 'And canals?');
    await page.getByText('Timeline').nth(3).waitFor();
    expect(bodies.at(-1)).toMatchObject({ messages: [{}, {}, { role: 'assistant' }, { role: 'user', content: 'And canals?' }] });
    expect(await playgroundKeys(member)).toMatchObject([{ status: 'active' }]);
    await answer(page).getByRole('link', { name: 'Open request' }).click();
    await page.getByRole('heading', { name: /^Request/, level: 1 }).waitFor();
    await page.goBack();
    await page.getByText('You: And canals?').waitFor();
    expect(await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage, location.href])')).not.toMatch(/canals|sk-/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Email').waitFor();
    expect(await playgroundKeys(member)).toMatchObject([{ status: 'revoked' }]);
    expect(faults).toEqual([]);
    await close();
  });

  test('keeps what was typed through a failure and a stop, which says that the whole answer is billed', async () => {
    const { page, faults, close } = await ui.open(member, '/playground');
    await page.getByLabel('System prompt').fill('river '.repeat(20_000));
    await sendMessage(page, 'Tell me about harbours.');
    await answer(page).getByRole('alert').getByText('context').waitFor();
    await answer(page).getByRole('alert').getByRole('button', { name: /^req_/ }).waitFor();
    await page.getByLabel('System prompt').fill('');
    await page.getByLabel('Max tokens').fill('400');
    await ui.run.control('container', { token_delay_ms: 60 });
    await answer(page).getByRole('button', { name: 'Send again' }).click();
    await answer(page).getByText('answering').waitFor();
    await page.getByText('If you stop, the model still completes the answer').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await answer(page).getByText('You stopped reading here').waitFor();
    await ui.run.control('container');
    await ui.run.control('container', { fault: { kind: 'destroy', after_tokens: 3, times: 1 } });
    await answer(page).getByRole('button', { name: 'Send again' }).click();
    await answer(page).getByText('failed', { exact: true }).waitFor();
    expect(await answer(page).getByRole('alert').textContent()).toContain('req_');
    await page.getByText('You: Tell me about harbours.').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('waits for a deployment that wakes, sends again by itself, and can be cancelled', async () => {
    const visited = await ui.open(owner, `/playground?model=${ui.run.ondemand_model}`);
    const { page, faults, close } = visited;
    await page.clock.install();
    const waking = async (route: Route) => {
      const now = Math.floor(Date.now() / 1_000);
      const wake = { started_at: now - 60, expected_at: now + 60, p50_seconds: 100, p90_seconds: 160 };
      const error = { message: 'The deployment is starting.', type: 'server_error', param: 'model', code: 'deployment_waking', wake };
      await reply(route, 503, JSON.stringify({ error }), { 'retry-after': '60' });
    };
    await page.route(CHAT, waking, { times: 1 });
    const users: (string | undefined)[] = [];
    page.on('request', (request) => request.method() === 'POST' && users.push(request.headers()['x-user-id']));
    await page.getByLabel('Max tokens').fill('8');
    await sendMessage(page, 'Wake up.');
    await answer(page).getByText('starts took at most').waitFor();
    expect(Number(await page.getByRole('progressbar').getAttribute('value'))).toBeCloseTo(0.5, 1);
    await page.clock.fastForward('01:00');
    await page.getByText('Timeline').waitFor();
    expect(users.filter(Boolean)).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), users.at(-1)]);
    await page.route(CHAT, waking);
    await sendMessage(page, 'Again.');
    await answer(page, 1).getByRole('button', { name: 'Cancel' }).click();
    await answer(page, 1).getByText('This request costs nothing').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('shows markup as text on an accessible phone, and gets another key for one that was revoked', async () => {
    const visited = await ui.open(member, '/playground', PHONE);
    const { page, faults, close } = visited;
    const delta = { content: PLANTED, reasoning: `Hm. ${PLANTED}` };
    const chunk = JSON.stringify({ choices: [{ delta, finish_reason: null }] });
    const error = JSON.stringify({ error: { message: `Broken ${PLANTED}`, code: 'upstream_error' } });
    await page.route(CHAT, (route) => reply(route, 200, `data: ${chunk}\n\ndata: ${error}\n\n`, { 'x-sluice-ignored': PLANTED }), {
      times: 1,
    });
    await sendMessage(page, PLANTED);
    await page.getByText(`Broken ${PLANTED}`).waitFor();
    await page.getByText('Settings', { exact: true }).click();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await hasRunPlanted(visited)).toBe(false);
    const active = (await playgroundKeys(member)).filter(({ status }) => status === 'active');
    for (const { id } of active) await ui.control.done('DELETE', `/v1/api-keys/${id}`, { token: member.token });
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('complete', { exact: true }).waitFor();
    await page.goto('about:blank');
    expect(faults).toEqual([]);
    await close();
  });

  test('asks admins which organization pays, and is closed to viewers', async () => {
    const viewer = await ui.control.createUser({ role: 'viewer', organization });
    const asViewer = await ui.open(viewer, '/playground');
    await asViewer.page.getByText("Your role doesn't have access to this page").waitFor();
    const asAdmin = await ui.open(await ui.control.asAdmin(), '/playground');
    await asAdmin.page.getByLabel('Organization').fill(DEMO);
    await asAdmin.page.getByLabel('Organization').press('Enter');
    await asAdmin.page.getByLabel('Max tokens').fill('4');
    await sendMessage(asAdmin.page, 'Hello');
    await asAdmin.page.getByText('Timeline').waitFor();
    expect([...asViewer.faults, ...asAdmin.faults]).toEqual([]);
    await Promise.all([asViewer.close(), asAdmin.close()]);
  });
});
