import type { Page } from 'playwright-core';

/** The clicks and fields of a person on a page. */
export interface Effort {
  /** Clicks, and keys that act as one: Enter and shortcuts. */
  clicks: number;
  /** Fields that were filled in or chosen from. */
  fields: number;
}

// A text, because it runs in the browser.
const COUNT = `(() => {
  const isCounting = 'effort' in window;
  window.effort = { clicks: 0, fields: new Set() };
  if (isCounting) return;
  const count = (event) => { if (event.isTrusted) window.effort.clicks++; };
  // Not on the window, where Playwright stops a click that would miss its element, and tries it again.
  document.addEventListener('pointerdown', count, true);
  addEventListener('keydown', (event) => {
    const isShortcut = (event.ctrlKey || event.metaKey) && !['Control', 'Meta'].includes(event.key);
    if (event.key === 'Enter' || isShortcut) count(event);
  }, true);
  for (const type of ['input', 'change'])
    addEventListener(type, ({ target }) => {
      if (!['checkbox', 'radio'].includes(target.type)) window.effort.fields.add(target);
    }, true);
})()`;

/** Counts what is done on a page from now on, until it is loaded again. @returns what reads the count */
export const countEffort = async (page: Page): Promise<() => Promise<Effort>> => {
  await page.evaluate(COUNT);
  return () => page.evaluate<Effort>('({ clicks: effort.clicks, fields: effort.fields.size })');
};
