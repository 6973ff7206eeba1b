import type { Browser, BrowserContextOptions } from 'playwright-core';
import { controlOf, type SignedIn } from '../clients/control.ts';
import { shareTestRun, type TestRun } from '../clients/local-run.ts';
import { startChromium } from './chromium.ts';
import { type ConsolePage, openPage } from './console-page.ts';

interface Visit {
  browser: Browser;
  /** The control plane's URL. */
  controlUrl: string;
  user: Pick<SignedIn, 'email' | 'password'>;
  /** Below the console's path, such as `/api-keys`. */
  path: string;
  options?: BrowserContextOptions;
}

/** Opens a screen of the console as a user, who signs in on it first. */
export const visit = async ({ browser, controlUrl, user, path, options }: Visit): Promise<ConsolePage> => {
  const opened = await openPage(browser, options);
  await opened.page.goto(`${controlUrl}/console${path}`);
  await opened.page.getByLabel('E-mail').fill(user.email);
  await opened.page.getByLabel('Password').fill(user.password);
  await opened.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await opened.page.locator('#main').waitFor();
  return opened;
};

/** The console of a local run, and a browser to look at it. */
export interface TestConsole {
  run: TestRun;
  control: ReturnType<typeof controlOf>;
  browser: Browser;
  /** Opens a screen as a user: `path` is below the console's path. */
  open: (user: Visit['user'], path?: string, options?: BrowserContextOptions) => Promise<ConsolePage>;
  /** Ends the browser; the run is of all suites. */
  close: () => Promise<void>;
}

/** Starts a browser for the console of the run that the suites of this worker share. */
export const openConsole = async (): Promise<TestConsole> => {
  const [run, browser] = await Promise.all([shareTestRun(), startChromium()]);
  const open: TestConsole['open'] = (user, path = '/', options) =>
    visit({ browser, controlUrl: run.control_url as string, user, path, ...(options && { options }) });
  return { run, control: controlOf(run), browser, open, close: () => browser.close() };
};

/** A phone in the dark: the other width and the other theme. */
export const PHONE = { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } as const;

/** Text that would run a script if a screen took it for HTML. */
export const PLANTED = '<img src=x onerror="window.planted = true">';

/** True if a planted text has run. */
export const hasRunPlanted = ({ page }: ConsolePage): Promise<boolean> => page.evaluate<boolean>("'planted' in window");
