import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

/** A page of a browser, and what went wrong on it. */
export interface ConsolePage {
  page: Page;
  context: BrowserContext;
  /** Errors and warnings of the page, violations of its policy, and failed requests for its files. */
  faults: string[];
  close(): Promise<void>;
}

// A text, because it runs in the browser.
const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy violation: ' + violatedDirective + ' ' + blockedURI));`;

// A bound against hanging: a busy machine may take many times as long as a quiet one.
const LIMIT_MS = 120_000;

/** Opens a page with a session of its own. Times are in UTC, and nothing moves. */
export const openPage = async (browser: Browser, options: BrowserContextOptions = {}): Promise<ConsolePage> => {
  const context = await browser.newContext({
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    colorScheme: 'light',
    ...options,
  });
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => {
    // A status of the API is shown on the page, and the browser says it as well.
    if (['error', 'warning'].includes(message.type()) && !/Failed to load resource/.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // A page that is left while it loads has aborted requests.
    if (reason !== 'net::ERR_ABORTED' && new URL(request.url()).pathname.includes('/assets/')) faults.push(`${request.url()}: ${reason}`);
  });
  await context.addInitScript({ content: REPORT_VIOLATIONS });
  return { page, context, faults, close: () => context.close() };
};
