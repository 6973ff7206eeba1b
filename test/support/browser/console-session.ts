import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { startChromium } from '../../../infra/tools/browser/chromium.ts';
import { controlOf, type SignedIn } from '../clients/control.ts';
import { shareTestRun, type TestRun } from '../clients/local-run.ts';
import { totpOf } from '../clients/totp.ts';
import { type ConsolePage, openPage } from './console-page.ts';
import { shareBrowser } from './shared-browser.ts';

type User = Pick<SignedIn, 'email' | 'password' | 'secondFactor'>;

/** The console of a local run, and a browser to look at it. */
export interface TestConsole<Run = TestRun> {
  run: Run;
  control: ReturnType<typeof controlOf>;
  browser: Browser;
  /**
   * Opens a screen as a user, who is signed in already: `path` is below the console's path. It may be on a page that
   * an earlier test has signed out of, without its stored values, routes and replies.
   */
  open: (user: User, path?: string, options?: BrowserContextOptions) => Promise<ConsolePage>;
  /** The same on a page that loads the console anew, for what depends on that. */
  load: (user: User, path?: string, options?: BrowserContextOptions) => Promise<ConsolePage>;
  /** Opens a screen as nobody. */
  openSignedOut: (path?: string, options?: BrowserContextOptions) => Promise<ConsolePage>;
  /** Closes all pages, and ends the run unless it is shared. The browser is of all suites. */
  close: () => Promise<void>;
}

// As the console's own page sends it.
const postAsPage = async (url: string, path: string, body: object): Promise<Response> => {
  const headers = { 'content-type': 'application/json', 'x-sluice-console': '1', origin: new URL(url).origin };
  const reply = await fetch(`${url}/v1/auth/browser/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`The login of a browser failed: ${reply.status} ${await reply.text()}`);
  return reply;
};

const signIn = async (context: BrowserContext, url: string, { email, password, secondFactor }: User): Promise<void> => {
  let reply = await postAsPage(url, 'login', { email, password });
  if (secondFactor) {
    const { session } = (await reply.json()) as { session: string };
    reply = await postAsPage(url, 'challenge', { email, session, code: totpOf(secondFactor) });
  }
  const [, name = '', value = ''] = /^([^=]+)=([^;]+)/.exec(reply.headers.get('set-cookie') ?? '') ?? [];
  // Pages of this computer may set such a cookie without TLS, but the browser's protocol may not.
  const asSecure = url.replace('http:', 'https:');
  await context.addCookies([{ name, value, url: asSecure, httpOnly: true, secure: true, sameSite: 'Strict' }]);
};

// On a page that shows the form: that costs a third of a load.
const signInOn = async (page: Page, { email, password, secondFactor }: User, path: string): Promise<void> => {
  await page.evaluate(`history.replaceState(null, '', ${JSON.stringify(`/console${path}`)})`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByLabel('Password').press('Enter');
  if (secondFactor) {
    await page.getByLabel('Code from your authenticator app').fill(totpOf(secondFactor));
    await page.getByLabel('Code from your authenticator app').press('Enter');
  }
  await page.locator('#main').waitFor();
};

/**
 * Opens the console of a run with the browser of this worker. Pages are loaded after a login of the API; on a page that
 * an earlier test has left, the login is typed.
 * @param started default: the run that the suites of this worker share
 */
export const openConsole = async <Run extends TestRun = TestRun>(started?: Promise<Run>): Promise<TestConsole<Run>> => {
  const [run, browser] = await Promise.all([started ?? (shareTestRun() as Promise<Run>), shareBrowser(startChromium)]);
  const url = run.control_url as string;
  const opened = new Set<ConsolePage>();
  const openPageOf = async (options?: BrowserContextOptions): Promise<ConsolePage> => {
    const visited = await openPage(browser, options);
    opened.add(visited);
    return visited;
  };
  const load = async (visited: ConsolePage, user: User | undefined, path: string): Promise<ConsolePage> => {
    if (user) await signIn(visited.context, url, user);
    await visited.page.goto(`${url}/console${path}`);
    if (user) await visited.page.locator('#main').waitFor();
    return visited;
  };
  const open = async (user: User, path: string, options?: BrowserContextOptions): Promise<ConsolePage> => {
    const visited = await openPageOf(options);
    const canSignIn = visited.showsForm && visited.page.url().startsWith(`${url}/`);
    if (!canSignIn) return load(visited, user, path);
    await signInOn(visited.page, user, path);
    return visited;
  };
  return {
    run,
    control: controlOf(run),
    browser,
    open: (user, path = '/', options) => open(user, path, options),
    load: async (user, path = '/', options) => load(await openPageOf(options), user, path),
    openSignedOut: async (path = '/', options) => load(await openPageOf(options), undefined, path),
    close: async () => {
      await Promise.all([...opened].map(({ close }) => close()));
      await run.close();
    },
  };
};

// A bound against hanging: 120 s on a quiet machine, several times as much on a busy one.
const MAX_FRAMES = 7_200;

// The screen before is shown until the next one is rendered.
const QUIET_FRAMES = 3;

// A text, because it runs in the browser.
const navigation = (path: string): string => `(async () => {
  history.pushState(null, '', ${JSON.stringify(`/console${path}`)});
  const isWhole = () => document.querySelector('main h1') !== null && !document.querySelector('main [role=status][aria-label=Loading]');
  for (let frame = 0, quiet = 0; frame < ${MAX_FRAMES} && quiet < ${QUIET_FRAMES}; frame++) {
    await new Promise(requestAnimationFrame);
    quiet = isWhole() ? quiet + 1 : 0;
  }
})()`;

/** Opens another screen on a page of the console without loading it again, as a link does, until nothing is loading. */
export const goTo = (page: Page, path: string): Promise<void> => page.evaluate<void>(navigation(path));

/** A phone in the dark: the other width and the other theme. */
export const PHONE = { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } as const;

/** Text that would run a script if a screen took it for HTML. */
export const PLANTED = '<img src=x onerror="window.planted = true">';

/** True if a planted text has run. */
export const hasRunPlanted = ({ page }: ConsolePage): Promise<boolean> => page.evaluate<boolean>("'planted' in window");
