import type { Browser, BrowserContextOptions } from 'playwright-core';
import type { SignedIn } from '../clients/control.ts';
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

/** Text that would run a script if a screen took it for HTML. */
export const PLANTED = '<img src=x onerror="window.planted = true">';

/** True if a planted text has run. */
export const hasRunPlanted = ({ page }: ConsolePage): Promise<boolean> => page.evaluate<boolean>("'planted' in window");
