import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { ROLES, type Role } from '../../../shared/hosts/permissions.ts';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import type { ConsolePage } from '../../support/browser/console-page.ts';
import { openConsole, type TestConsole } from '../../support/browser/console-session.ts';
import { exampleOf, isOfOneThing, screenOf, screenPaths } from '../../support/browser/screens.ts';
import { type ScreenCall, type SeenScreen, walkScreens } from '../../support/browser/walk.ts';
import type { SignedIn } from '../../support/clients/control.ts';

const SCREENS = screenPaths();
const MAX_CALLS = 3;
// An access token begins with these letters, and an id can have them.
const SECRET = /eyJ[\w-]{20}|sk-[\w-]{20}|ses_\w{18}\./;
const PLATFORM: readonly Role[] = ['support', 'platform_billing', 'admin'];
// A screen that reads only what all can read, and the route that its users need.
const SENDS = new Map([['/playground', '/v1/api-keys']]);
// A further page needs a process of its own, which costs more than to sign in on one that another role has left.
const MAX_PAGES = 2;
// Calls of the API. The control plane limits those of a user and an organization.
const MAX_CALLS_AT_ONCE = 4;
// Between them, they open every screen.
const FIRST: readonly Role[] = ['owner', 'admin'];

let ui: TestConsole;
let users: Record<Role, SignedIn>;

const createThings = async ({ token }: SignedIn): Promise<void> => {
  const create = (path: string, body: object) => ui.control.done('POST', path, { token, body });
  await create('/v1/projects', { name: 'Search', budgets: { month: '500' } });
  await create('/v1/api-keys', { name: 'production' });
  await ui.control.done('PUT', '/v1/model-aliases/assistant', {
    token,
    body: { model: ui.run.model, fallbacks: ['sluice-tiny-reasoning'], split: { model: 'sluice-tiny-reasoning', percent: 5 } },
  });
  await create('/v1/tickets', { subject: 'A question', body: 'Why?' });
  await create('/v1/webhooks', { url: 'https://example.com/events' });
  await create('/v1/service-accounts', { name: 'deployer', role: 'member' });
};

beforeAll(async () => {
  ui = await openConsole();
  const { id: organization } = await ui.control.createOrganization();
  const create = async (role: Role) =>
    [role, await ui.control.createUser({ role, ...(!PLATFORM.includes(role) && { organization }) })] as const;
  users = Object.fromEntries(await Promise.all(ROLES.map(create))) as typeof users;
  await createThings(users.owner);
});
afterAll(() => ui.close());

// A screen as a role has seen it, at this path.
interface Visit extends SeenScreen {
  role: Role;
  screen: string;
  path: string;
}

const areaOf = (screen: string): string | undefined => screen.split('/')[1];

const visits: Visit[] = [];
// One path for each screen, which all roles open.
const paths = new Map<string, string>();

// All screens share these, and the browser keeps the configuration.
const SHARED = /^\/v1\/(?:me|auth\/browser\/refresh|console\/configuration)$/;

const isOfScreen = ({ path }: ScreenCall): boolean => !SHARED.test(path);
const openVisits = (screen: string): Visit[] => visits.filter((visit) => visit.screen === screen && !visit.isForbidden);

// Screens of one thing come last, because the others have links to them.
const ORDER = [...SCREENS].sort((one, other) => Number(isOfOneThing(one)) - Number(isOfOneThing(other)));

const pathOf = (screen: string): string => {
  const links = visits.flatMap((visit) => visit.links);
  const path = paths.get(screen) ?? (isOfOneThing(screen) ? exampleOf(screen, links) : screen);
  if (path !== undefined) paths.set(screen, path);
  return path ?? screen.replace(/:\w+|\*/g, 'unknown');
};

const walk = async (
  role: Role,
  look?: (page: Page, visit: Visit, hide: () => Promise<ScreenCall[]>) => Promise<void>,
): Promise<ConsolePage> => {
  const opened = await (look ? ui.load : ui.open)(users[role]);
  const { go, hide, end, firstMs } = await walkScreens(opened.page);
  if (look) {
    process.stderr.write(`\nThe home screen of ${role} was whole after ${firstMs} ms.\n`);
    // The timers of that screen are not those of the clock, which could never end them.
    await go('/nowhere');
    await opened.page.clock.install();
  }
  for (const screen of ORDER) {
    const path = pathOf(screen);
    const visit = { ...(await go(path)), role, screen, path };
    visits.push(visit);
    if (look && !visit.isForbidden) await look(opened.page, visit, hide);
  }
  await end();
  return opened;
};

const themesOf = async (page: Page): Promise<string[]> => {
  const faults = await accessibilityFaults(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  faults.push(...(await accessibilityFaults(page, 'color-contrast')));
  await page.emulateMedia({ colorScheme: 'light' });
  return faults;
};

// On a desktop, the last columns of a table must not be out of sight.
const wideTables = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('main section[tabindex]')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ ariaLabel }) => ariaLabel)`);

const readableBy = (page: Page): Promise<string> =>
  page.evaluate<string>(`(async () => JSON.stringify([
    document.cookie, { ...localStorage }, { ...sessionStorage }, await indexedDB.databases(), await caches.keys(),
    history.state, location.href, performance.getEntries().map(({ name }) => name),
  ]))()`);

describe('every screen of the console', () => {
  test('opens without a fault in both themes, with few calls, and none while it is hidden', async () => {
    const faults: string[] = [];
    for (const role of FIRST) {
      const opened = await walk(role, async (page, { screen, path, calls }, hide) => {
        if (openVisits(screen).length > 1) return;
        faults.push(...(await themesOf(page)).map((fault) => `${path}: ${fault}`));
        faults.push(...(await wideTables(page)).map((table) => `${path}: the table ${table} is too wide`));
        const count = calls.filter(isOfScreen).length;
        if (count > MAX_CALLS) faults.push(`${path} sends ${count} requests: ${calls.map((call) => call.path).join(' ')}`);
        const hidden = await hide();
        if (hidden.length > 0) faults.push(`${path} sends ${hidden.length} requests while it is hidden: ${hidden[0]?.path}`);
      });
      faults.push(...opened.faults.map((fault) => `${role}: ${fault}`));
      expect(await readableBy(opened.page)).not.toMatch(SECRET);
      await opened.close();
    }
    expect(faults).toEqual([]);
    expect(SCREENS.filter((screen) => openVisits(screen).length === 0)).toEqual([]);
  });

  test('is open to exactly the roles to which the API is', async () => {
    const faults: string[] = [];
    const others = ROLES.filter((role) => !FIRST.includes(role));
    const visit = async (role: Role): Promise<void> => {
      const opened = await walk(role);
      faults.push(...opened.faults);
      await opened.close();
    };
    throwFailures(await inParallel(others, MAX_PAGES, visit));
    expect(faults).toEqual([]);
    // Any other failure says nothing about the role.
    const isForbidden = async (...call: Parameters<typeof ui.control.call>): Promise<boolean> => {
      const { status } = await ui.control.call(...call);
      if (status === 429 || status >= 500) throw new Error(`${call[0]} ${call[1]} answered ${status}.`);
      return status === 403;
    };
    const refuses = async ({ role, screen }: Visit): Promise<boolean> => {
      const [token, route] = [users[role].token, SENDS.get(screen)];
      if (route) return isForbidden('POST', route, { token, body: {} });
      // A screen of one thing can have read it with its list.
      const ofArea = SCREENS.filter((other) => areaOf(other) === areaOf(screen)).flatMap(openVisits);
      const reads = ofArea.flatMap(({ calls }) => calls.filter((call) => call.method === 'GET' && isOfScreen(call)));
      for (const path of new Set(reads.map((call) => call.path))) if (await isForbidden('GET', path, { token })) return true;
      return false;
    };
    const wrong: string[] = [];
    const compare = async (visit: Visit): Promise<void> => {
      const { role, path, isForbidden: isClosed, calls } = visit;
      if (!isClosed && calls.some(({ status }) => status === 403)) wrong.push(`${path} is open to ${role}, but the API is not`);
      if (isClosed && !(await refuses(visit))) wrong.push(`${path} is closed to ${role}, but the API is not`);
    };
    throwFailures(await inParallel(visits, MAX_CALLS_AT_ONCE, compare));
    expect(wrong).toEqual([]);
  });

  test('has no links to screens that are closed to its user', () => {
    const isClosed = (role: Role, path: string): boolean =>
      visits.some((visit) => visit.role === role && visit.isForbidden && visit.screen === screenOf(path));
    const wrong = visits.flatMap(({ role, path, links }) =>
      links.filter((link) => isClosed(role, link)).map((link) => `${path} links to ${link}, which is closed to ${role}`),
    );
    expect(wrong).toEqual([]);
  });
});
