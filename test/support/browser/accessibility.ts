import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

const ONLY_VIOLATIONS = { resultTypes: ['violations'], elementRef: false };

/**
 * The faults that axe finds on a page as it is now, one text for each element. Tests expect none.
 * @param rule only this rule of axe, such as the one that another theme can break; absent: all
 */
export const accessibilityFaults = async (page: Page, rule?: 'color-contrast'): Promise<string[]> => {
  // As an evaluation, because the page's policy lets no script be added.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  const options = JSON.stringify({ ...ONLY_VIOLATIONS, ...(rule && { runOnly: [rule] }) });
  const violations = await page.evaluate<Violation[]>(`axe.run(${options}).then(({ violations }) => violations)`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`));
};
