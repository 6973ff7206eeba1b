import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { bundledProgram } from '../../../infra/local/processes/bundled-program.ts';
import { compileCache } from '../../../infra/local/processes/compile-cache.ts';
import { type Control, controlOf } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

const MAIN = path.join(import.meta.dirname, '../../../infra/tools/admin/main.ts');

let run: TestRun;
let control: Control;
let secret: string;
beforeAll(async () => {
  run = await shareTestRun();
  control = controlOf(run);
  const { id: organization } = await control.createOrganization();
  const owner = await control.createUser({ role: 'owner', organization });
  ({ secret } = await control.done('POST', '/v1/api-keys', { token: owner.token, body: { name: 'k' } }));
});
afterAll(() => run.close());

const send = (body: object = {}) =>
  fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: run.model, max_tokens: 4, messages: [{ role: 'user', content: 'Hi' }], ...body }),
  });

const why = async (subject: string): Promise<string> => {
  const env = {
    ...compileCache,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: run.dynamodb_endpoint,
    AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: run.sagemaker_url,
    KEYS_TABLE: run.tables.Keys,
    MODELS_TABLE: run.tables.Models,
    USAGE_TABLE: run.tables.Usage,
    BILLING_TABLE: run.tables.Billing,
  };
  const { stdout } = await promisify(execFile)(process.execPath, [await bundledProgram(MAIN), 'why', subject], { env });
  return stdout;
};

test('says what an alarm means and what to do, and counts what the logs have about it', async () => {
  await run.control('sagemaker', { fault: { kind: 'no_capacity', times: 3 } });
  for (let i = 0; i < 3; i++) expect((await send()).status).toBe(503);
  await run.control('sagemaker');
  const text = await why('sluice-operations-HostUnavailable');
  expect(text).toMatch(
    /^HostUnavailable \(page\)\nThe serverless host returned more than five 5XX responses in five minutes, besides those of shared models .*\. Callers get errors\.\n/,
  );
  expect(text).toContain('1. Look at the log lines of `inference` with `status` 503');
  const [, count] = /\| no_capacity +\| (\d+) +\|/.exec(text) ?? [];
  expect(Number(count)).toBeGreaterThanOrEqual(3);
});

test('shows lines and usage event of an admitted request, and the refusal of a rejected one, on any host', async () => {
  const response = await send({ stream: true });
  await response.text();
  const id = response.headers.get('x-request-id') ?? '';
  const text = await why(id);
  expect(text).toMatch(/\| request +\| completed +\|/);
  expect(text).toMatch(/^route +\/v1\/chat\/completions, streamed$/m);
  expect(text).toMatch(/^cost +\D+[\d.]+ by /m);

  const rejected = await send({ model: 'no-such-model' });
  const refusal = await why(rejected.headers.get('x-request-id') ?? '');
  expect(refusal).toMatch(/\| refused +\| \/v1\/chat\/completions +\| model_not_found +\| 404 +\|/);
  expect(refusal).toContain('There is no usage event');

  const login = await fetch(`${run.control_url}/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email": "nobody@example.com", "password": "Not-the-password-1"}',
  });
  expect(await why(login.headers.get('x-request-id') ?? '')).toMatch(/\| refused +\| \/v1\/auth\/login +\| login_refused +\| 401 +\|/);
});

test('knows the alarm of which a part went off', async () => {
  expect(await why('sluice-dev-operations-ServerlessAvailabilityBurning-FastLong')).toMatch(/^ServerlessAvailabilityBurning \(page\)\n/);
});

test('rejects what is neither an alarm nor a request', async () => {
  await expect(why('NoSuchAlarm')).rejects.toMatchObject({
    stderr: expect.stringContaining("'NoSuchAlarm' is neither an alarm of docs/runbook.md nor the id of a request."),
  });
});
