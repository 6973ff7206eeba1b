import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { keepPage, type OpenedPage, REMEMBER_GLOBALS, takePage } from './kept-pages.ts';

/** A page of a browser, and what went wrong on it. */
export interface ConsolePage {
  page: Page;
  context: BrowserContext;
  /** Errors and warnings of the page, violations of its policy, and failed requests for its files. */
  faults: string[];
  /** True if it shows the form to sign in of a console that an earlier test has used, and nobody is signed in. */
  showsForm: boolean;
  close(): Promise<void>;
}

// A text, because it runs in the browser.
const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy violation: ' + violatedDirective + ' ' + blockedURI));`;

// A bound against hanging: a busy machine may take many times as long as a quiet one.
const LIMIT_MS = 120_000;

const DESKTOP = { width: 1280, height: 720 };

const createPage = async (browser: Browser, options: BrowserContextOptions): Promise<OpenedPage> => {
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  const opened: OpenedPage = { page, context, faults: [], hasFrozenTime: false, showsForm: false };
  page.on('console', (message) => {
    // A status of the API is shown on the page, and the browser says it as well.
    if (['error', 'warning'].includes(message.type()) && !/Failed to load resource/.test(message.text()))
      opened.faults.push(message.text());
  });
  page.on('pageerror', (error) => opened.faults.push(String(error)));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    const isOfAssets = new URL(request.url()).pathname.includes('/assets/');
    // A page that is left while it loads has aborted requests.
    if (reason !== 'net::ERR_ABORTED' && isOfAssets) opened.faults.push(`${request.url()}: ${reason}`);
  });
  const freeze = context.clock.install.bind(context.clock);
  context.clock.install = (time) => {
    opened.hasFrozenTime = true;
    return freeze(time);
  };
  await context.addInitScript({ content: `${REMEMBER_GLOBALS}; ${REPORT_VIOLATIONS}` });
  return opened;
};

/**
 * Opens a page with a session of its own. Times are in UTC, and nothing moves. It may be a page that an earlier test
 * has closed, without its cookies, stored values and routes.
 */
export const openPage = async (
  browser: Browser,
  { viewport = DESKTOP, colorScheme = 'light', ...fixed }: BrowserContextOptions = {},
): Promise<ConsolePage> => {
  const kind = JSON.stringify(fixed);
  const opened = takePage(browser, kind) ?? (await createPage(browser, fixed));
  const { page, context, faults, showsForm } = opened;
  await page.emulateMedia({ colorScheme });
  if (viewport) await page.setViewportSize(viewport);
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await keepPage(browser, kind, opened);
    isOpen = false;
  };
  return { page, context, faults, showsForm, close };
};
