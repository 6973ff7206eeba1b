import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../../tools/browser/chromium.ts';
import { CONSOLE_PICTURES, type ConsolePicture, PICTURES } from './console-pictures.ts';
import { makeSampleData, NOW_MS, START_MS } from './sample-data.ts';
import { type Login, startSampleRun } from './sample-run.ts';

const DESKTOP = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' } as const;
const DARK_PHONE = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const;
// Charts and sections that are loaded later.
const SETTLE_MS = 1_500;
// The page's clock is ahead of that of the replies.
const LOADED_AFTER_MS = 20_000;

const signIn = async (page: Page, url: string, { email, password }: Login): Promise<void> => {
  await page.goto(url);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('#main').waitFor();
};

interface Setting {
  browser: Browser;
  /** The console's address. */
  url: string;
  logins: Readonly<Record<ConsolePicture['user'], Login>>;
  /** Sets the service's clock again, so that times don't depend on how long pictures take. */
  resetClock: () => void;
}

// Pictures of the same user and device, with one login.
const takeAll = async (
  { browser, url, logins, resetClock }: Setting,
  pictures: readonly (ConsolePicture & { address: string })[],
): Promise<void> => {
  const [some] = pictures;
  if (!some) return;
  const device = some.device === 'dark phone' ? DARK_PHONE : DESKTOP;
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce', ...device });
  const page = await context.newPage();
  await page.clock.setFixedTime(NOW_MS + LOADED_AFTER_MS);
  await signIn(page, `${url}/`, logins[some.user]);
  for (const { name, address, shows, first } of pictures) {
    resetClock();
    await page.goto(url + address);
    if (first) {
      if (first.input) await page.getByLabel(first.input.label).fill(first.input.text);
      await page.getByRole('button', { name: first.button, exact: true }).click();
    }
    await page.locator('#main').getByText(shows).first().waitFor();
    await page.waitForTimeout(SETTLE_MS);
    await page.screenshot({ path: path.join(CONSOLE_PICTURES, `${name}.png`) });
  }
  await context.close();
};

/**
 * Takes the pictures of the console, with a local run in memory and sample data.
 * @throws Error if a screen doesn't show what the list says, or no Chromium can be started
 */
export const takePictures = async (): Promise<void> => {
  mkdirSync(CONSOLE_PICTURES, { recursive: true });
  await using ending = new AsyncDisposableStack();
  const sample = await startSampleRun(START_MS);
  ending.defer(sample.close);
  const { owner, member, ids } = await makeSampleData(sample);
  const browser = await startChromium();
  ending.defer(() => browser.close());
  const setting = {
    browser,
    url: `${sample.run.hosts.control}/console`,
    logins: { owner, member, admin: sample.admin },
    resetClock: () => sample.moveTo(NOW_MS),
  };
  const groups = Map.groupBy(PICTURES, ({ user, device }) => `${user} ${device}`);
  for (const pictures of groups.values())
    await takeAll(
      setting,
      pictures.map((picture) => ({ ...picture, address: picture.path(ids) })),
    );
};
