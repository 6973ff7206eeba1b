import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openConsole, type TestConsole } from '../../support/browser/console-session.ts';
import { exampleOf, isOfOneThing, screenPaths } from '../../support/browser/screens.ts';
import { type SeenScreen, walkScreens } from '../../support/browser/walk.ts';
import type { SignedIn } from '../../support/clients/control.ts';

const SCREENS = [...screenPaths()].sort((one, other) => Number(isOfOneThing(one)) - Number(isOfOneThing(other)));

let ui: TestConsole;
let users: SignedIn[];
const links: string[] = [];

beforeAll(async () => {
  ui = await openConsole();
  const { id: organization } = await ui.control.createOrganization();
  users = await Promise.all([ui.control.createUser({ role: 'owner', organization }), ui.control.createUser({ role: 'admin' })]);
  const token = users[0]?.token;
  await ui.control.done('POST', '/v1/api-keys', { token, body: { name: 'production' } });
  await ui.control.done('POST', '/v1/tickets', { token, body: { subject: 'A question', body: 'Why?' } });
  await ui.control.done('POST', '/v1/webhooks', { token, body: { url: 'https://example.com/events' } });
});
afterAll(() => ui.close());

// Scripts of the page: what a newer API replies in place of this one, but not to who the user is.
const NEWER = `({ status, json }) => {
  const changed = (value) => {
    if (Array.isArray(value)) return value.map(changed);
    if (value === null || typeof value !== 'object') return value;
    const fields = Object.entries(value).map(([name, one]) => [
      name,
      ['state', 'status', 'role', 'type', 'severity', 'kind'].includes(name) && typeof one === 'string' ? 'newer_than_this' : changed(one),
    ]);
    return { ...Object.fromEntries(fields), field_of_a_newer_release: { nested: [1] } };
  };
  return { status, json: changed(json) };
}`;
const GONE = 'Nothing is here any more.';

const gone = (status: number) => ({
  status,
  json: { error: { message: GONE, type: 'invalid_request_error', code: null, param: null } },
});

type Walk = Awaited<ReturnType<typeof walkScreens>>;

// Opens all screens with replies that are not those of this release, and returns what is wrong with them.
const walkWith = async (
  user: SignedIn,
  changeReplies: (walk: Walk) => Promise<void>,
  isRight: (seen: SeenScreen) => boolean,
): Promise<string[]> => {
  const opened = await ui.open(user);
  const walk = await walkScreens(opened.page);
  const { go, end } = walk;
  await changeReplies(walk);
  const wrong: string[] = [];
  for (const screen of SCREENS) {
    const path = isOfOneThing(screen) ? (exampleOf(screen, links) ?? screen.replace(/:\w+|\*/g, 'unknown')) : screen;
    const seen = await go(path);
    links.push(...seen.links);
    if (seen.hasCrashed || !isRight(seen)) wrong.push(path);
  }
  await end();
  await opened.close();
  return [...wrong, ...opened.faults];
};

describe('a console that was opened before the API was updated', () => {
  test('shows every screen if replies have new fields and states', async () => {
    const wrong = await Promise.all(
      users.map((user) =>
        walkWith(
          user,
          ({ change }) => change(NEWER),
          ({ calls }) => calls.every(({ status }) => status < 500),
        ),
      ),
    );
    expect(wrong.flat()).toEqual([]);
  });

  test('says on every screen that something is gone if its routes answer 404 or 410', async () => {
    // Some screens say it in words of their own.
    const saysIt = ({ calls, alerts, headings }: SeenScreen): boolean =>
      calls.length === 0 || headings.length > 0 || alerts.some((text) => text.includes(GONE));
    const wrong = await Promise.all(users.map((user, i) => walkWith(user, ({ answer }) => answer(gone([404, 410][i] as number)), saysIt)));
    expect(wrong.flat()).toEqual([]);
  });

  test('keeps the navigation, and offers to load the page again, if a field is gone', async () => {
    const { page, close } = await ui.open(users[0] as SignedIn);
    await page.route(/\/v1\/api-keys\?/, async (route) => {
      const { data, ...rest } = (await (await route.fetch()).json()) as { data: Record<string, unknown>[] };
      await route.fulfill({ json: { ...rest, data: data.map(({ limits: _, ...fields }) => fields) } });
    });
    await page.evaluate("history.pushState(null, '', '/console/api-keys')");
    await page.getByRole('button', { name: 'Reload page' }).waitFor();
    await page.getByRole('link', { name: 'Account', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    await close();
  });

  test('loads the page again once if a file of a screen is gone, then says what to do', async () => {
    const { page, faults, close } = await ui.load(users[0] as SignedIn);
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
    await page.getByText('The console has been updated.').waitFor();
    expect(loads).toBe(1);
    await page.unroute('**/console/**');
    await page.getByRole('button', { name: 'Reload page' }).click();
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    // Those of the files that were gone.
    expect(faults.filter((fault) => !/dynamically imported module|net::ERR_ABORTED/.test(fault))).toEqual([]);
    await close();
  });
});
