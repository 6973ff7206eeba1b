import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { openConsole, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';

const COUNT = 10_000;
const MAX_ROWS = 400;

let ui: TestConsole;
let owner: SignedIn;
let key: { id: string };

beforeAll(async () => {
  ui = await openConsole();
  const { id: organization } = await ui.control.createOrganization();
  owner = await ui.control.createUser({ role: 'owner', organization });
  await ui.control.done('POST', '/v1/api-keys', { token: owner.token, body: { name: 'the one' } });
  ({
    data: [key],
  } = await ui.control.done('GET', '/v1/api-keys', { token: owner.token }));
});
afterAll(() => ui.close());

// As the API pages a list, with copies of one key.
const pageOf = (query: URLSearchParams): object => {
  const [first, limit] = [Number(query.get('after') ?? 0), Number(query.get('limit'))];
  const data = Array.from({ length: limit }, (_, i) => ({ ...key, id: `${key.id}${first + i}`, name: `key ${first + i}` }));
  const end = first + limit;
  return { object: 'list', data, has_more: end < COUNT, next: end < COUNT ? String(end) : null };
};

const rowCount = (page: Page): Promise<number> => page.evaluate<number>("document.querySelectorAll('tbody tr').length");

describe('a table of 10,000 API keys', () => {
  test('renders only the rows around those that are seen, and stays usable to its end', async () => {
    const { page, faults, close } = await ui.open(owner);
    await page.route(/\/v1\/api-keys\?/, (route) => {
      const { searchParams } = new URL(route.request().url());
      return searchParams.get('q') ? route.continue() : route.fulfill({ json: pageOf(searchParams) });
    });
    await page.evaluate("history.pushState(null, '', '/console/api-keys')");
    const more = page.getByRole('button', { name: 'Load more' });
    await more.waitFor();
    await page.evaluate(`(async () => {
      const more = () => [...document.querySelectorAll('main button')].find(({ textContent }) => /^Load/.test(textContent));
      for (let button = more(); button; button = more()) {
        button.click();
        await new Promise(requestAnimationFrame);
      }
    })()`);
    await page.getByText('10,000 in all').waitFor();
    expect(await rowCount(page)).toBeLessThanOrEqual(MAX_ROWS);
    await page.evaluate(`window.long = 0;
      new PerformanceObserver((list) => { window.long += list.getEntries().length }).observe({ type: 'longtask' });
      scrollTo(0, document.body.scrollHeight)`);
    const last = page.getByRole('row', { name: `key ${COUNT - 1} ` });
    await last.waitFor();
    expect(await last.getAttribute('aria-rowindex')).toBe(String(COUNT + 1));
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(COUNT + 1));
    expect(await rowCount(page)).toBeLessThanOrEqual(MAX_ROWS);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.evaluate('scrollTo(0, 0)');
    await page.getByRole('link', { name: 'key 0', exact: true }).waitFor();
    await page.getByLabel('Search').fill('the one');
    await page.getByLabel('Search').press('Enter');
    await page.getByText('1 in all').waitFor();
    expect(faults).toEqual([]);
    process.stderr.write(`\nA table of ${COUNT} rows: ${await page.evaluate<number>('window.long')} long tasks while it was used.\n`);
    await close();
  });
});
