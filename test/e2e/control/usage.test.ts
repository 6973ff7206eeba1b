import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { openLocalDatabase } from '../../../infra/local/dynamodb/open-database.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { createOrganizationTotalsStore } from '../../../shared/usage/organization-totals-store.ts';
import { noTotals } from '../../../shared/usage/totals.ts';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { schemasOf } from '../../support/clients/schemas.ts';

const { faults } = schemasOf(JSON.parse(readFileSync(path.join(import.meta.dirname, '../../contract/openai-usage-schemas.json'), 'utf8')));

let run: TestRun;
let control: Control;
let owner: SignedIn;
let organization: string;
let todayMs: number;
// Only the base URL and the key are ours.
let client: OpenAI;

beforeAll(async () => {
  run = await shareTestRun();
  control = controlOf(run);
  ({ id: organization } = await control.createOrganization());
  owner = await control.createUser({ role: 'owner', organization });
  client = new OpenAI({ adminAPIKey: owner.token, apiKey: null, baseURL: `${run.control_url}/v1`, maxRetries: 0 } as ConstructorParameters<
    typeof OpenAI
  >[0]);
  const database = openLocalDatabase(run.dynamodb_endpoint);
  const totals = createOrganizationTotalsStore(database, run.tables.Usage as string);
  todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  for (const days of [0, 1, 2])
    for (const [i, model] of ['small', 'large', 'with, comma & [brackets]'].entries())
      for (const detail of ['model', 'key'] as const)
        await totals.put({
          organization,
          span: 'day',
          detail,
          startMs: todayMs - days * DAY_MS,
          model,
          route: '/v1/chat/completions',
          deployment: null,
          ...(detail === 'key' && { keyId: 'key_a' }),
          totals: {
            ...noTotals(),
            events: 1,
            requests: 1,
            prompt_tokens: BigInt(10 ** i),
            cached_tokens: 1n,
            completion_tokens: 5n,
            cost_nanos: 1_500_000_000n,
          },
        });
  database.destroy();
});
afterAll(async () => {
  await run.close();
});

const startTime = (): number => todayMs / 1_000 - 2 * 86_400;
// Without it, replies would have a fourth day once it is past midnight.
const endTime = (): number => todayMs / 1_000 + 86_400;

test('OpenAI’s client reads usage with filters and groups, and replies have OpenAI’s schema', async () => {
  const reply = await client.admin.organization.usage.completions({
    start_time: startTime(),
    end_time: endTime(),
    bucket_width: '1d',
    group_by: ['model', 'api_key_id'],
    models: ['small', 'with, comma & [brackets]'],
  });
  expect(faults({ $ref: '#/components/schemas/CompletionsPage' }, reply)).toEqual([]);
  expect(reply.data).toHaveLength(3);
  for (const { results } of reply.data)
    expect(results).toMatchObject([
      { model: 'small', api_key_id: 'key_a', input_tokens: 1, input_uncached_tokens: 0, num_model_requests: 1 },
      { model: 'with, comma & [brackets]', api_key_id: 'key_a', input_tokens: 100, input_uncached_tokens: 99, output_tokens: 5 },
    ]);
});

test('OpenAI’s client follows next_page to the end', async () => {
  const query = { start_time: startTime(), end_time: endTime(), limit: 1 };
  const starts: number[] = [];
  for (let page: string | null = '', pages = 0; page !== null && pages < 10; pages++) {
    const reply = await client.admin.organization.usage.completions({ ...query, ...(page && { page }) });
    starts.push(...reply.data.map(({ start_time }) => start_time));
    page = reply.next_page;
  }
  expect(starts).toEqual([0, 1, 2].map((days) => startTime() + days * 86_400));
});

test('OpenAI’s client reads costs by line item, and replies have OpenAI’s schema', async () => {
  const reply = await client.admin.organization.usage.costs({
    start_time: startTime(),
    end_time: endTime(),
    group_by: ['line_item', 'project_id'],
    limit: 180,
  });
  expect(faults({ $ref: '#/components/schemas/CostsPage' }, reply)).toEqual([]);
  expect(reply.data).toHaveLength(3);
  expect(reply.data[0]?.results).toMatchObject([
    { line_item: 'large', amount: { value: 1.5, currency: 'usd' }, quantity: 15, quantity_unit: 'tokens', project_id: null },
    { line_item: 'small' },
    { line_item: 'with, comma & [brackets]' },
  ]);
});

test('lists can be repeated with and without brackets', async () => {
  const resultsOf = async (query: string) => {
    const path = `/v1/organization/usage/completions?start_time=${startTime()}&${query}`;
    const { data } = await control.done('GET', path, { token: owner.token });
    return data[0].results.map(({ model }: { model: string }) => model);
  };
  const expected = ['large', 'small'];
  for (const name of ['models', 'models[]', 'models%5B%5D'])
    expect(await resultsOf(`group_by[]=model&${name}=small&${name}=large`)).toEqual(expected);
  expect(await resultsOf('group_by=model&models=small&models[]=large')).toEqual(expected);
});

test('events are listed for owners only', async () => {
  const member = await control.createUser({ role: 'member', organization });
  const path = `/v1/billing/events?start_time=${startTime()}&end_time=${todayMs / 1_000}`;
  expect((await control.call('GET', path, { token: member.token })).status).toBe(403);
  expect((await control.call('GET', path, { token: owner.token })).body).toEqual({ object: 'list', data: [], has_more: false, next: null });
});
