import type { Browser, BrowserContext, Page } from 'playwright-core';

/** A page that a test uses, alone in its context. */
export interface OpenedPage {
  page: Page;
  context: BrowserContext;
  /** Where its faults are written: another list for each test. */
  faults: string[];
  /** True if a test has frozen its time, which Playwright can't end. */
  hasFrozenTime: boolean;
  /** True if it shows the console's form to sign in, and nobody is signed in. */
  showsForm: boolean;
}

const KEPT = Symbol.for('sluice.pages');

// Each suite has its own copy of this module, but not of the global object.
const worker = globalThis as typeof globalThis & { [KEPT]?: WeakMap<Browser, Map<string, OpenedPage[]>> };

const listOf = (browser: Browser, kind: string): OpenedPage[] => {
  worker[KEPT] ??= new WeakMap();
  const lists = worker[KEPT].get(browser) ?? new Map<string, OpenedPage[]>();
  worker[KEPT].set(browser, lists);
  const list = lists.get(kind) ?? [];
  lists.set(kind, list);
  return list;
};

// Texts, because they run in the browser. Of the globals that tests leave, these have no effect on others.
const HARMLESS = ['axe', 'effort'];
const MAX_FRAMES = 300;

/** To be run before the scripts of a page, so that what tests leave can be told from what is there anyway. */
export const REMEMBER_GLOBALS = "window[Symbol.for('globals')] = new Set(Object.keys(window))";

// The console does the same at a logout in another tab: it forgets its user and all replies, and shows its form.
const SIGN_OUT = `(async () => {
  const known = window[Symbol.for('globals')];
  const isUntouched = known && Object.keys(window).every((name) => known.has(name) || ${JSON.stringify(HARMLESS)}.includes(name));
  if (!isUntouched || !document.querySelector('#main') || document.documentElement.dataset.theme) return false;
  const channel = new BroadcastChannel('sluice-session');
  channel.postMessage('signed-out');
  const isSignedOut = () => document.querySelector('input[autocomplete=username]') !== null && !document.querySelector('#main, dialog');
  for (let frame = 0; frame < ${MAX_FRAMES} && !isSignedOut(); frame++) await new Promise(requestAnimationFrame);
  channel.close();
  return isSignedOut();
})()`;

// The document has the origin of the last one, and so its process.
const LEAVE = `location.replace(URL.createObjectURL(new Blob(['<!doctype html>'], { type: 'text/html' })))`;
const FORGET = 'localStorage.clear(), sessionStorage.clear()';

const forget = async (opened: OpenedPage): Promise<void> => {
  const { page, context } = opened;
  await Promise.all([page.unrouteAll({ behavior: 'ignoreErrors' }), context.unrouteAll({ behavior: 'ignoreErrors' })]);
  opened.showsForm = await page.evaluate<boolean>(SIGN_OUT);
  if (!opened.showsForm) await Promise.all([page.waitForURL(/^blob:/), page.evaluate(LEAVE)]);
  await Promise.all([page.evaluate(FORGET), context.clearCookies()]);
};

const canBeKept = ({ page, context, hasFrozenTime }: OpenedPage): boolean =>
  !hasFrozenTime && context.pages().length === 1 && !page.isClosed() && page.url().startsWith('http');

/** @returns a kept page of this kind, without anything of the tests that used it; undefined if there is none */
export const takePage = (browser: Browser, kind: string): OpenedPage | undefined => listOf(browser, kind).pop();

/**
 * Keeps a page for the next test that wants one of its kind, or closes it if it can't be kept. To load a kept page
 * costs half of the CPU time of a new one, because its process runs already and has the console's code, and to sign in
 * on one that shows the form a fifth.
 * @param kind the same for pages that can take each other's place
 */
export const keepPage = async (browser: Browser, kind: string, opened: OpenedPage): Promise<void> => {
  opened.faults = [];
  if (!canBeKept(opened)) return opened.context.close();
  await forget(opened);
  listOf(browser, kind).push(opened);
};
