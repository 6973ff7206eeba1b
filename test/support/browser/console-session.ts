import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
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
  /** Opens a screen as a user, who is signed in already: `path` is below the console's path. */
  open: (user: User, path?: string, options?: BrowserContextOptions) => Promise<ConsolePage>;
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

/**
 * Opens the console of a run with the browser of this worker. Logins are of the API: only its own suite types them.
 * @param started default: the run that the suites of this worker share
 */
export const openConsole = async <Run extends TestRun = TestRun>(started?: Promise<Run>): Promise<TestConsole<Run>> => {
  const [run, browser] = await Promise.all([started ?? (shareTestRun() as Promise<Run>), shareBrowser(startChromium)]);
  const url = run.control_url as string;
  const opened = new Set<ConsolePage>();
  const openAs = async (user: User | undefined, path: string, options?: BrowserContextOptions): Promise<ConsolePage> => {
    const visited = await openPage(browser, options);
    opened.add(visited);
    if (user) await signIn(visited.context, url, user);
    await visited.page.goto(`${url}/console${path}`);
    if (user) await visited.page.locator('#main').waitFor();
    return visited;
  };
  return {
    run,
    control: controlOf(run),
    browser,
    open: (user, path = '/', options) => openAs(user, path, options),
    openSignedOut: (path = '/', options) => openAs(undefined, path, options),
    close: async () => {
      await Promise.all([...opened].map(({ close }) => close()));
      await run.close();
    },
  };
};

/** A phone in the dark: the other width and the other theme. */
export const PHONE = { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } as const;

/** Text that would run a script if a screen took it for HTML. */
export const PLANTED = '<img src=x onerror="window.planted = true">';

/** True if a planted text has run. */
export const hasRunPlanted = ({ page }: ConsolePage): Promise<boolean> => page.evaluate<boolean>("'planted' in window");
