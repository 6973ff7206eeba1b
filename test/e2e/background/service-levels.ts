import { beforeAll, expect, test } from '@jest/globals';
import { closableAt, monthOf, nextMonth, startOfMonth } from '../../../shared/billing/month.ts';
import { controlOf } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { textsOf } from '../../support/clients/pdf-text.ts';
import { eventually } from '../../support/eventually.ts';
import { background } from './run.ts';

const DAY_MS = 86_400_000;
const SELLER = { legal_name: 'Example GmbH', address: { lines: ['Hafenstraße 1', 'Hamburg'], country: 'DE' }, issue: 'automatic' };

let run: TestRun;
beforeAll(async () => {
  run = await background.start();
});

const moveTo = (ms: number): Promise<void> => run.controlFunctions('clock', { offset_seconds: Math.ceil((ms - Date.now()) / 1_000) });

const lookForMonths = async (): Promise<void> => {
  const event = JSON.stringify({ source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} });
  const reply = await fetch(`${run.lambda_endpoint}/2015-03-31/functions/billing/invocations`, { method: 'POST', body: event });
  expect(reply.headers.get('x-amz-function-error')).toBeNull();
};

test('a month that misses a promise ends with a credit note that its owner can download', async () => {
  const control = controlOf(run);
  const { done } = control;
  const month = nextMonth(monthOf(Date.now()));
  const { token } = await control.asAdmin();
  await done('PUT', '/v1/billing/seller', { token, body: SELLER });
  const { id: organization } = await control.createOrganization();
  const owner = await control.createUser({ role: 'owner', organization });
  const { secret } = await done('POST', '/v1/api-keys', { token: owner.token, body: { name: 'k' } });
  const price = { per_million: { prompt: '1000000', completion: '1000000' }, effective_at: startOfMonth(month) / 1_000 };
  await done('POST', '/v1/prices', { token, body: { model: run.model, ...price } });
  const tiers = [{ above: 1, credit_percent: 10 }];
  await done('POST', '/v1/service-promises', { token, body: { model: run.model, first_token_p95_ms: { tiers } } });

  await moveTo(startOfMonth(month) + DAY_MS);
  const body = JSON.stringify({ model: run.model, stream: true, max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const chat = await fetch(`${run.base_url}/v1/chat/completions`, { method: 'POST', headers, body });
  expect([chat.status, await chat.text()]).toEqual([200, expect.stringContaining('[DONE]')]);

  await moveTo(closableAt(month));
  await lookForMonths();
  await eventually(async () => (await run.logOf('billing')).includes('"service_levels_credited"'), 'the month is credited');
  // Tokens follow the real clock.
  await run.controlFunctions('clock');
  const read = (path: string) => done('GET', path, { token: owner.token });
  const { data } = await read('/v1/billing/credit-notes');
  expect(data).toMatchObject([{ reason: `Service levels of ${month}` }]);
  const note = `/v1/billing/credit-notes/${data[0].id}`;
  await eventually(async () => (await read(note)).files.length === 4, 'its files are made');
  const { amount, lines } = await read(note);
  expect(lines[0]).toMatchObject({ kind: 'service_credit', model: run.model, measure: 'first_token_p95_ms', percent: 10, requests: 1 });
  expect(Number(lines[0].amount)).toBeCloseTo(Number(lines[0].base) / 10);
  const { url } = await read(`${note}/files/pdf`);
  const texts = textsOf(Buffer.from(await (await fetch(url)).arrayBuffer())).map(({ text }) => text.trim());
  expect(texts).toContain(`$${Number(amount).toFixed(2)}`);
});
