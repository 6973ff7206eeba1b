import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openConsole, type TestConsole } from '../../support/browser/console-session.ts';

let ui: TestConsole;

beforeAll(async () => {
  ui = await openConsole();
});
afterAll(() => ui.close());

describe('a tab of an older release', () => {
  test('loads the page again once if a file of a screen is gone, then says what to do', async () => {
    const { id: organization } = await ui.control.createOrganization();
    const owner = await ui.control.createUser({ role: 'owner', organization });
    const { page, faults, close } = await ui.open(owner, '/');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    const known = new Set(await page.evaluate<string[]>("performance.getEntriesByType('resource').map(({ name }) => name)"));
    let loads = 0;
    await page.route('**/console/**', async (route) => {
      const request = route.request();
      if (request.resourceType() === 'document') loads++;
      if (request.url().includes('/assets/') && !known.has(request.url())) await route.fulfill({ status: 404 });
      else await route.continue();
    });
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByText('The console was updated.').waitFor();
    expect(loads).toBe(1);
    await page.unroute('**/console/**');
    await page.getByRole('button', { name: 'Load the page again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    // Those of the files that were gone.
    expect(faults.filter((fault) => !/dynamically imported module|net::ERR_ABORTED/.test(fault))).toEqual([]);
    await close();
  });
});
