import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { ReservedConcurrency } from '../../infra/config/config.ts';
import { heldRequestsOf, organizationConcurrencyOf } from '../../infra/config/shares.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const MIN_ROWS = 20;
const page = readFileSync(path.join(ROOT, 'docs/fairness.md'), 'utf8');

test('docs/fairness.md names for each share a test that exists', () => {
  const rows = page.split('\n').filter((line) => /^\| .*`test\//.test(line));
  expect(rows.length).toBeGreaterThanOrEqual(MIN_ROWS);
  for (const row of rows) {
    const [, file = '', title = ''] = /`(test\/[^`]+)`: "([^"]+)"/.exec(row) ?? [];
    expect(readFileSync(path.join(ROOT, file), 'utf8')).toContain(title);
  }
});

test('docs/fairness.md has the numbers of the configuration', () => {
  const reservedConcurrency = ReservedConcurrency.parse({});
  const { ofOrganization, ofDeployment, ofCaller } = heldRequestsOf({ reservedConcurrency, deployments: {} });
  for (const text of [
    `\`inference\`: ${reservedConcurrency.inference} environments`,
    `\`ondemand-inference\`: ${reservedConcurrency['ondemand-inference']} environments`,
    `\`tokenizer\`: ${reservedConcurrency.tokenizer} environments`,
    `\`control\`: ${reservedConcurrency.control} environments`,
    `\`sign-in\`: ${reservedConcurrency['sign-in']} environments`,
    `\`machine-sign-in\`: ${reservedConcurrency['machine-sign-in']} environments`,
    `\`single-sign-on\`: ${reservedConcurrency['single-sign-on']} environments`,
    `\`console\`: ${reservedConcurrency.console} environments`,
    `\`payloads\`: ${reservedConcurrency.payloads} environments`,
    `${organizationConcurrencyOf({ reservedConcurrency, deployments: {} })} requests in flight, on both hosts together`,
    `${ofOrganization}, for all deployments together`,
    `${ofCaller} of ${ofDeployment}`,
  ])
    expect(page).toContain(text);
});
