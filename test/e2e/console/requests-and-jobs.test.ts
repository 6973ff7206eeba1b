import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { goTo, hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';
import { startTestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { describeJobs } from './jobs/jobs.ts';

let ui: TestConsole;
let owner: SignedIn;
let member: SignedIn;
let billing: SignedIn;
let ownersKey: { id: string; secret: string };
let ownersRequest: string;
let membersRequest: string;

const open = (path: string, user: SignedIn = owner, options = {}) => ui.open(user, path, options);

// In Unix seconds. Midnight can pass before the costs are read.
const FIRST_DAY = Math.floor(Date.now() / 86_400_000) * 86_400;

// The API refuses names with angle brackets.
const FILE = '&lt;img src=x onerror=planted=1&gt;.log';

// A canvas has no text to look for.
const RECORD_LABELS = `(() => {
  window.labels = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    window.labels.push(text);
    return fillText.call(this, text, ...rest);
  };
})()`;

// Those of the filter by project, and of the table: what is seen of it, and all of it.
const WIDTHS = `(() => {
  const [{ control }] = [...document.querySelectorAll('main label')].filter(({ textContent }) => textContent === 'Project');
  const table = document.querySelector('main section[aria-label=Requests]');
  return [control.clientWidth, table.clientWidth, table.scrollWidth];
})()`;

const createKey = ({ token }: SignedIn) => ui.control.done('POST', '/v1/api-keys', { token, body: { name: 'key' } });

const send = async (secret: string, fields: object = {}): Promise<string> => {
  const reply = await fetch(`${ui.run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: ui.run.model,
      max_tokens: 4,
      messages: [{ role: 'user', content: 'Mail ann@example.com' }],
      ...fields,
    }),
  });
  await reply.text();
  return reply.headers.get('x-request-id') ?? '';
};

const untilFound = (id: string): Promise<void> =>
  eventually(
    async () => (await ui.control.call('GET', `/v1/observability/requests/${id}`, { token: owner.token })).status === 200,
    `request ${id} is found`,
  );

beforeAll(async () => {
  // Requests are found, and usage is counted, after the batching window.
  ui = await openConsole(startTestRun('--batch-window-ms', '200'));
  const { id: organization } = await ui.control.createOrganization();
  [owner, member, billing] = await Promise.all([
    ui.control.createUser({ role: 'owner', organization }),
    ui.control.createUser({ role: 'member', organization }),
    ui.control.createUser({ role: 'billing', organization }),
  ]);
  await ui.control.done('PUT', '/v1/observability/payload-log', { token: owner.token, body: { enabled: true } });
  ownersKey = await createKey(owner);
  const { secret } = await createKey(member);
  ownersRequest = await send(ownersKey.secret, { user: PLANTED, metadata: { team: PLANTED } });
  membersRequest = await send(secret);
  await Promise.all([untilFound(ownersRequest), untilFound(membersRequest)]);
});
afterAll(() => ui.close());

// In the same suite, because a run of its own takes more time than all of them.
describeJobs(() => ui);

const shortened = (id: string): string => `req_…${id.slice(-8)}`;

describe('requests in the console', () => {
  test('finds requests by their key, and opens one with its exact cost and timeline', async () => {
    const { page, faults, close } = await open('/requests');
    await page.getByRole('link', { name: shortened(membersRequest) }).waitFor();
    await page.getByLabel('API key').fill(ownersKey.id);
    await page.getByLabel('API key').press('Enter');
    await page.getByRole('link', { name: shortened(membersRequest) }).waitFor({ state: 'detached' });
    expect(page.url()).toContain(`api_key_id=${ownersKey.id}`);
    await page.getByRole('link', { name: shortened(ownersRequest) }).click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    const { cost, usage } = await ui.control.done('GET', `/v1/observability/requests/${ownersRequest}`, { token: owner.token });
    const text = await page.locator('main').textContent();
    expect(text).toContain(`$${cost.total}`);
    expect(text).toContain(cost.ratings[0].price_version);
    expect(text).toMatch(new RegExp(`Input\\s*${usage.input_tokens}(?!\\d)`));
    expect(await page.getByLabel('Phases').textContent()).toMatch(/Check limits\s*\d+ ms/);
    expect(faults).toEqual([]);
    await close();
  });

  test('fits into the width of a desktop, whatever the names of projects', async () => {
    await ui.control.done('POST', '/v1/projects', { token: owner.token, body: { name: 'A project with a long name '.repeat(3) } });
    const { page, faults, close } = await open('/requests');
    await page.getByRole('link', { name: shortened(membersRequest) }).waitFor();
    const [chosen = 0, seen, whole] = await page.evaluate<number[]>(WIDTHS);
    expect(chosen).toBeLessThan(300);
    expect(whole).toBe(seen);
    expect(faults).toEqual([]);
    await close();
  });

  test('keeps its filters in the address, and undoes one with the back button', async () => {
    const { page, faults, close } = await open('/requests');
    await page.getByLabel('Status').selectOption('5xx');
    await page.getByText('No request matches the filters').waitFor();
    await page.goBack();
    await page.getByRole('link', { name: shortened(ownersRequest) }).waitFor();
    await page.goForward();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('link', { name: shortened(ownersRequest) }).waitFor();
    expect(new URL(page.url()).search).toBe('');
    const reversed = 'range=custom&from=2026-11-02&to=2026-11-01';
    for (const screen of ['requests', 'audit-log', 'usage', 'economics']) {
      await goTo(page, `/${screen}?${reversed}`);
      await page.getByRole('heading', { name: /^Choose an end that is after|^Choose a last day that is/ }).waitFor();
    }
    expect(faults).toEqual([]);
    await close();
  });

  test('shows requests that arrive while it is live', async () => {
    const { page, faults, close } = await open('/requests');
    await page.getByRole('link', { name: shortened(ownersRequest) }).waitFor();
    await page.clock.install();
    await page.getByLabel('Live').check();
    const id = await send(ownersKey.secret);
    await untilFound(id);
    await page.clock.fastForward(5_000);
    await page.getByRole('link', { name: shortened(id) }).waitFor();
    expect(page.url()).toContain('live=on');
    expect(faults).toEqual([]);
    await close();
  });

  test('says how many requests were rejected and why, because they are not in the list', async () => {
    const { id, secret } = await createKey(owner);
    const rejected = await send(secret, { model: 'no-such-model' });
    const refusals = async () => {
      const { series } = await ui.control.done('GET', `/v1/observability/metrics?api_key_ids=${id}`, { token: owner.token });
      return series[0]?.totals.refusals;
    };
    await eventually(async () => (await refusals())?.model_not_found === 1, 'the rejected request is counted');
    const { page, faults, close } = await open(`/requests?api_key_id=${id}`);
    await page.getByText('1 request in this time got an error as the reply: 1 time model_not_found').waitFor();
    await goTo(page, `/requests/${rejected}`);
    await page.getByText('Rejected requests, such as those over a limit or for an unknown model, are only counted').waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('saves what a search finds as a file', async () => {
    const { page, faults, close } = await open(`/requests?api_key_id=${ownersKey.id}`);
    await page.getByRole('button', { name: 'Export' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save file' }).click()]);
    const text = await readFile(await download.path(), 'utf8');
    expect(download.suggestedFilename()).toBe('requests.csv');
    expect(text).toMatch(/^id,created_at,/);
    expect([text.includes(ownersRequest), text.includes(membersRequest)]).toEqual([true, false]);
    expect(faults).toEqual([]);
    await close();
  });

  test('reads logged content only when it is asked to, because each read is audited', async () => {
    const reads = async (): Promise<number> => {
      const { data } = await ui.control.done('GET', '/v1/audit-log?limit=100', { token: owner.token });
      return data.filter(({ action }: { action: string }) => action === 'payload.read').length;
    };
    const { page, faults, close } = await open(`/requests/${ownersRequest}`);
    await page.getByRole('button', { name: 'Show content' }).waitFor();
    expect(await reads()).toBe(0);
    await page.getByRole('button', { name: 'Show content' }).click();
    expect(await page.getByLabel('Content of the request').textContent()).toContain('Mail [redacted:email]');
    expect(await reads()).toBe(1);
    expect(faults).toEqual([]);
    await close();
  });

  test('leads to a ticket that support answers, with a note that the customer does not see', async () => {
    const customer = await open(`/requests/${membersRequest}`, member);
    const { page } = customer;
    await page.getByRole('button', { name: 'Open a ticket about this' }).click();
    await page.getByLabel('Subject').fill(PLANTED);
    await page.getByLabel('What happened, and what did you expect?').fill(`It was slow. ${PLANTED}`);
    await page.getByRole('button', { name: 'Open ticket', exact: true }).click();
    await page.getByRole('log').waitFor();
    const address = new URL(page.url()).pathname.replace('/console', '');
    await page.getByLabel('Attach files').setInputFiles({ name: FILE, mimeType: '', buffer: Buffer.from('slow\n') });
    await page.getByRole('textbox', { name: 'Reply' }).fill('Here is our log.');
    await page.getByText('uploaded', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Send reply' }).click();
    await page.getByRole('log').getByText('Here is our log.').waitFor();

    const colleague = await open(address);
    await colleague.page.getByRole('log').getByText(`Colleague ${member.id}`).first().waitFor();
    await colleague.close();
    const supporter = await open(address, await ui.control.createUser({ role: 'support' }));
    await supporter.page.getByRole('log').getByText(`Customer ${member.id}`).first().waitFor();
    await supporter.page.getByLabel('Phases').getByText('Call the model').waitFor();
    await supporter.page.getByText('Support only', { exact: true }).waitFor({ state: 'attached' });
    const download = supporter.page.waitForEvent('download');
    await supporter.page.getByRole('button', { name: 'Download' }).click();
    expect([(await download).suggestedFilename(), await readFile(await (await download).path(), 'utf8')]).toEqual([FILE, 'slow\n']);
    await supporter.page.getByText('Internal note', { exact: true }).click();
    await supporter.page.getByText('Visible to support only').waitFor();
    await supporter.page.getByRole('textbox', { name: 'Internal note' }).fill('The container had restarted.');
    await supporter.page.getByRole('button', { name: 'Save internal note' }).click();
    await supporter.page.getByText('Internal note, visible only to support').waitFor();
    await supporter.page.getByText('Reply to the customer', { exact: true }).first().click();
    await supporter.page.getByRole('textbox', { name: 'Reply to the customer' }).fill('We have more room now.');
    await supporter.page.getByRole('button', { name: 'Send to customer' }).click();
    await supporter.page.getByRole('log').getByText('We have more room now.').waitFor();

    await page.reload();
    await page.getByRole('log').getByText('We have more room now.').waitFor();
    expect(await page.getByText('The container had restarted.').count()).toBe(0);
    await page.getByRole('button', { name: 'Show history' }).click();
    await page.getByLabel('Changes of this ticket').getByText('waiting on customer').waitFor();
    expect([await hasRunPlanted(customer), await hasRunPlanted(supporter)]).toEqual([false, false]);
    expect([...customer.faults, ...supporter.faults]).toEqual([]);
    await Promise.all([customer.close(), supporter.close()]);
  });

  test('hides what a role may not see', async () => {
    const membersPage = await open('/requests', member);
    await membersPage.page.getByRole('link', { name: shortened(membersRequest) }).waitFor();
    expect(await membersPage.page.getByRole('link', { name: shortened(ownersRequest) }).count()).toBe(0);
    await goTo(membersPage.page, `/requests/${ownersRequest}`);
    await membersPage.page.getByText('Request not found').waitFor();
    const billingPage = await open('/requests', billing);
    await billingPage.page.getByText("Your role doesn't have access to this page").waitFor();
    await billingPage.page.keyboard.press('Control+k');
    await billingPage.page.getByRole('dialog').getByRole('combobox').fill(ownersRequest);
    await billingPage.page.getByText('nothing that you can open has an id like this').waitFor();
    expect([...membersPage.faults, ...billingPage.faults]).toEqual([]);
    await Promise.all([membersPage.close(), billingPage.close()]);
  });

  test('shows what callers wrote as text, and is accessible on a phone in the dark', async () => {
    const visited = await open('/requests', owner, PHONE);
    const { page, faults, close } = visited;
    await page.getByText(PLANTED).first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: shortened(ownersRequest) }).click();
    await page.getByText(PLANTED).first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });
});

describe('what members see of their organization', () => {
  test('is called theirs where it is only that of their API keys, and is not compared with the budget of all', async () => {
    const { organization } = await ui.control.done('GET', '/v1/me', { token: owner.token });
    const { token } = await ui.control.asAdmin();
    await ui.control.done('PUT', `/v1/organizations/${organization}/limits`, { token, body: { month_budget: '1000' } });
    const [ofOwner, ofMember] = await Promise.all([open(`/organizations/${organization}`), open(`/organizations/${organization}`, member)]);
    await ofOwner.page.getByText('Budget used').first().waitFor();
    await ofMember.page.getByRole('heading', { name: 'Cost of your API keys this month' }).waitFor();
    await ofMember.page.getByText('Show data').waitFor();
    expect(await ofMember.page.getByText('Budget used').count()).toBe(0);
    await goTo(ofMember.page, '/');
    await ofMember.page.getByText('Your cost this month').waitFor();
    await goTo(ofMember.page, '/usage');
    await ofMember.page.getByText('Of your own API keys').waitFor();
    expect([...ofOwner.faults, ...ofMember.faults]).toEqual([]);
    await Promise.all([ofOwner.close(), ofMember.close()]);
  });
});

describe('usage and costs in the console', () => {
  const costs = () => ui.control.done('GET', `/v1/organization/costs?start_time=${FIRST_DAY}&group_by=api_key_id`, { token: owner.token });
  const resultsOf = ({ data }: { data: { results: { cost: string; api_key_id: string }[] }[] }) => data.flatMap(({ results }) => results);

  test('shows the exact cost of each key, and copies it as CSV', async () => {
    const { page, faults, close } = await open('/usage', owner, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByLabel('Group by').selectOption('api_key_id');
    const row = page.getByRole('region', { name: 'Usage by API key' }).getByRole('row', { name: ownersKey.id.slice(-6) });
    await row.waitFor();
    const { cost } = resultsOf(await costs()).find(({ api_key_id }) => api_key_id === ownersKey.id) ?? { cost: '' };
    expect(await row.textContent()).toContain(`$${cost}`);
    // The button says that it has copied for a moment only.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.getByRole('button', { name: 'Copy days as CSV' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain(`,${ownersKey.id},${cost}\r\n`);
    expect(faults).toEqual([]);
    await close();
  });

  test('labels its charts with UTC days, whatever the reader’s zone', async () => {
    const { page, faults, close } = await open('/', owner, { timezoneId: 'America/Los_Angeles' });
    await page.evaluate(RECORD_LABELS);
    await goTo(page, `/api-keys/${ownersKey.id}`);
    const today = new Date();
    const label = `${today.getUTCMonth() + 1}/${today.getUTCDate()}`;
    await eventually(async () => (await page.evaluate<string[]>('window.labels')).includes(label), `the day ${label} is labelled`);
    expect(await page.evaluate<string[]>('window.labels')).not.toContainEqual(expect.stringMatching(/am|pm/));
    expect(faults).toEqual([]);
    await close();
  });

  test('counts requests, is accessible on a phone in the dark, and draws its chart for each theme', async () => {
    const visited = await open('/usage?measure=requests&group=user_id', owner, PHONE);
    const { page, faults, close } = visited;
    await page.getByRole('cell', { name: PLANTED }).first().waitFor();
    await page.getByText('Show data').click();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.locator('canvas').waitFor({ state: 'attached' });
    const drawn = "document.querySelector('canvas').toDataURL()";
    const inTheDark = await page.evaluate<string>(drawn);
    await page.emulateMedia({ colorScheme: 'light' });
    await eventually(async () => (await page.evaluate<string>(drawn)) !== inTheDark, 'the chart is drawn for the light theme');
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });
});
