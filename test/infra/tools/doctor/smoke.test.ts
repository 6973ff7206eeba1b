import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SmokeDependencies, smokeRow } from '../../../../infra/tools/doctor/smoke.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { shareTestRun, type TestRun } from '../../../support/clients/local-run.ts';

let run: TestRun;
let deps: SmokeDependencies;
let secret: string;
beforeAll(async () => {
  run = await shareTestRun();
  deps = { baseUrl: `${run.base_url}/v1`, models: run.models, limiters: run.limiters, usage: run.usage };
  ({ secret } = await run.createKey({ models: [run.model] }));
});
afterAll(() => run.close());

const billedWith = (fields: Partial<UsageEvent>): SmokeDependencies => ({
  ...deps,
  usage: {
    get: async (...key) => {
      const event = await run.usage.get(...key);
      return event && { ...event, ...fields };
    },
  },
});

test('a streamed request is billed as its stream says, at the price of its model', async () => {
  expect(await smokeRow(deps, secret)).toMatchObject({
    status: 'ok',
    found: expect.stringMatching(/^sluice-tiny: \d+ \+ \d+ tokens, 0\.0\d+ billed by price_demo_1$/),
  });
});

test.each([
  [{ cost_nanos: 1n }, /dollars: 0\.000000001 billed, but the stream says 0\.0\d+/],
  [{ completion_tokens: 1_000 }, /completion tokens: 1000 billed, but the stream says \d+/],
  [{ price_version: 'other' }, /the price version other is not the model's/],
] as const)('a bill with %j is a failure that says what differs', async (fields, found) => {
  expect(await smokeRow(billedWith(fields), secret)).toMatchObject({
    status: 'failure',
    found: expect.stringMatching(found),
    advice: expect.stringMatching(/^npm run admin -- why req_/),
  });
});

test('a request that fails, a key of the other host and a key that may call no model are failures', async () => {
  await run.control('sagemaker', { fault: { kind: 'no_capacity', times: 1 } });
  expect(await smokeRow(deps, secret)).toMatchObject({
    status: 'failure',
    found: expect.stringMatching(/^sluice-tiny: 503 .*no_capacity/),
  });
  await run.control('sagemaker');
  const { secret: ondemand } = await run.createKey({ scope: 'on_demand' });
  expect(await smokeRow(deps, ondemand)).toMatchObject({
    status: 'failure',
    found: expect.stringContaining('no API key for the serverless'),
  });
  const { secret: other } = await run.createKey({ models: ['no-such-model'] });
  expect(await smokeRow(deps, other)).toMatchObject({ status: 'failure', found: expect.stringContaining('no published model') });
});
