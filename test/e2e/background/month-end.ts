import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { closableAt, monthOf, nextMonth } from '../../../shared/billing/month.ts';
import { controlOf } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { background } from './run.ts';

let run: TestRun;
beforeAll(async () => {
  run = await background.start();
});

test('the hourly run has an organization’s first month closed, and that closing starts the next one', async () => {
  const createdMs = Date.now();
  const { id } = await controlOf(run).createOrganization();
  const months = [monthOf(createdMs), nextMonth(monthOf(createdMs))];
  const offset_seconds = Math.ceil((closableAt(months[1] as string) - createdMs) / 1_000);
  await run.controlFunctions('clock', { offset_seconds });

  const event = JSON.stringify({ source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} });
  const reply = await fetch(`${run.lambda_endpoint}/2015-03-31/functions/billing/invocations`, { method: 'POST', body: event });
  expect([reply.headers.get('x-amz-function-error'), await reply.text()]).toEqual([null, expect.any(String)]);
  // The last line can still be written, and a message that is delivered twice can say it twice.
  const closed = () => {
    const lines = readFileSync(path.join(run.state, 'logs', 'billing.log'), 'utf8')
      .split('\n')
      .slice(0, -1);
    const ofOrganization = lines.filter((line) => line.includes('"month_closed"') && line.includes(id));
    return [...new Set(ofOrganization.map((line) => (JSON.parse(line) as { month: string }).month))];
  };
  await eventually(async () => closed().length >= months.length, 'both months are closed');
  expect(closed()).toEqual(months);
});
