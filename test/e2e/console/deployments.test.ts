import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createBenchmarkStore } from '../../../shared/deployments/benchmark-store.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { createShadowStore } from '../../../shared/deployments/shadow-store.ts';
import { DAY_MS, MINUTE_MS } from '../../../shared/time/units.ts';
import { accessibilityFaults } from '../../support/browser/accessibility.ts';
import { goTo, hasRunPlanted, openConsole, PHONE, PLANTED, type TestConsole } from '../../support/browser/console-session.ts';
import type { SignedIn } from '../../support/clients/control.ts';
import { eventually } from '../../support/eventually.ts';
import { adapterFiles } from '../../support/fixtures/adapters/adapter-files.ts';
import { newDeployment, storeDeployment } from '../../support/fixtures/deployments.ts';
import { benchmarkCurve, keepCurve } from '../../support/fixtures/gpu-time/benchmark-curve.ts';
import { officeDays, simulateLife, storeLife } from '../../support/fixtures/gpu-time/simulated-life.ts';

const TYPE = 'ml.g6e.2xlarge';
const POLL_MS = 5_000;
const SETTLED_MS = 1_000;
const QUICK = { instance_ms: 100, download_ms: 100, load_ms: 100, delete_ms: 100, release_ms: 100 };

let ui: TestConsole;
// Each organization can validate a few deployments a minute: tests that do have one of their own.
let first: Tenant;
let second: Tenant;

const setAws = (settings: object): Promise<unknown> =>
  fetch(`${ui.run.sagemaker_url}/control/deployments`, { method: 'PUT', body: JSON.stringify(settings) });

interface Tenant {
  organization: string;
  owner: SignedIn;
  /** Where its models are. */
  folder: string;
}

const newTenant = async (): Promise<Tenant> => {
  const { id: organization } = await ui.control.createOrganization();
  const owner = await ui.control.createUser({ role: 'owner', organization });
  const { s3_endpoint: s3, buckets } = ui.run;
  await fetch(`${s3}/${buckets.Weights}/${organization}/qwen3-8b/config.json`, { method: 'PUT', body: '{}' });
  return { organization, owner, folder: `s3://${buckets.Weights}/${organization}/` };
};

beforeAll(async () => {
  ui = await openConsole();
  await setAws({ times: QUICK, quotas: { [TYPE]: 2 } });
  const { token } = await ui.control.asAdmin();
  await ui.control.done('POST', `/v1/instance-types/${TYPE}/prices`, { token, body: { per_hour: '2.8' } });
  [first, second] = await Promise.all([newTenant(), newTenant()]);
});
afterAll(async () => {
  await setAws({});
  await ui.close();
});

const deploymentOf = async (id: string) => ui.control.done('GET', `/v1/deployments/${id}`, { token: (await ui.control.asAdmin()).token });

// The queue would look at it only every 15 seconds.
const reconcile = (id: string): Promise<unknown> =>
  fetch(`${ui.run.lambda_endpoint}/2015-03-31/functions/deployments/invocations`, {
    method: 'POST',
    body: JSON.stringify({ reconcile: id }),
  });

const becomes = (id: string, wanted: string): Promise<void> =>
  eventually(async () => {
    await reconcile(id);
    return (await deploymentOf(id)).state === wanted;
  }, `the deployment is ${wanted}`);

// As the curl command on the page sends it.
const sendShown = async (command: string, secret: string): Promise<Response> => {
  const [, url = ''] = /curl '([^']+)'/.exec(command) ?? [];
  const [, body = ''] = /-d '(.+)'$/s.exec(command) ?? [];
  const headers = Object.fromEntries([...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]) => [name, value]));
  return fetch(url, { method: 'POST', headers: { ...headers, authorization: `Bearer ${secret}` }, body });
};

// As if passes had compared the deployment's own requests with its curve.
const drift = (id: string, percent: number): Promise<void> => {
  const benchmarks = createBenchmarkStore(createRecordTable(ui.run.database, ui.run.tables.Deployments as string));
  return eventually(async () => {
    const row = await benchmarks.find(id);
    if (!row) return false;
    const [from, until] = [Date.now(), Date.now() - MINUTE_MS];
    const compared = { benchmark: row.id, until, percent };
    const watch = { from, copies: 1, beyond: -3, is_drifted: true, notified_at: until, compared };
    const isStored = transact(ui.run.database, [benchmarks.toReplace({ ...row, watch })]).then(() => true);
    return isStored.catch(() => false);
  }, 'the drift is stored');
};

// Four requests at the same time miss the goal between two tokens, and one meets it on a busy machine, too. Without
// these times, a benchmark sends more and more requests until it has used up this computer.
const BATCH = { step_ms: 30, step_ms_per_sequence: 80, prefill_ms_per_1000_tokens: 0, max_sequences: 64 };
const BETWEEN_TOKENS_MS = '300';

const slowDown = async (): Promise<void> => {
  const urls = (await (await fetch(`${ui.run.sagemaker_url}/control/containers`)).json()) as string[];
  for (const url of urls) await fetch(`${url}/control`, { method: 'PUT', body: JSON.stringify({ batch: BATCH }) });
};

describe('deployments in the console', () => {
  test('deploys a model from the empty list with four clicks until it answers a request, and stops it', async () => {
    const { organization, owner, folder } = first;
    const { page, faults, close } = await ui.open(owner, '/deployments');
    await page.clock.install();
    await page.getByRole('link', { name: 'Deploy a model' }).last().click();
    await page.getByRole('button', { name: "Use your organization's folder" }).click();
    expect(await page.getByLabel('Model files').inputValue()).toBe(folder);
    await page.getByLabel('Model files').fill(`${folder}qwen3-8b/`);
    await page.getByRole('radio', { name: TYPE }).click();
    await page.clock.fastForward(SETTLED_MS);
    await page.getByText('Ready to deploy').waitFor();
    await page.getByText('The AWS quota has 2 of 2 instances left.').waitFor();
    expect(await page.locator('main').textContent()).toContain('$2.80 per hour');
    await page.getByRole('button', { name: 'Create deployment' }).click();
    await page.getByRole('heading', { name: 'qwen3-8b' }).waitFor();
    await page.getByText(/Expected to answer in \d+ minutes/).waitFor();
    const [, id = ''] = /deployments\/(dep_\w+)/.exec(page.url()) ?? [];
    await becomes(id, 'in_service');
    await page.clock.fastForward(POLL_MS);
    await page.getByText('It answers requests.').waitFor();
    const command = await page.getByLabel('Example request to this deployment').locator('pre').textContent();
    const { secret } = await ui.run.createKey({ org: organization, scope: 'on_demand' });
    expect((await sendShown(command ?? '', secret)).status).toBe(200);
    await page.getByRole('button', { name: 'Stop deployment' }).click();
    await page.getByText('which ends its cost of').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop deployment' }).click();
    await page.getByText('Its AWS resources are being removed. Its settings are kept.').waitFor();
    expect(await deploymentOf(id)).toMatchObject({ state: 'stopping', instance_types: [TYPE] });
    expect(faults).toEqual([]);
    await close();
  });

  test('creates a model of vectors with windows, and says before what the windows cost', async () => {
    const { owner, folder } = await newTenant();
    const { page, faults, close } = await ui.open(owner, '/deployments/new');
    await page.clock.install();
    await page.getByLabel('Model files').fill(`${folder}qwen3-8b/`);
    await page.getByLabel('Name', { exact: true }).fill('planned');
    await page.getByRole('radio', { name: TYPE }).click();
    await page.getByLabel('Task').selectOption({ label: 'Embeddings' });
    await page.getByLabel('Dimensions').fill('8');
    const windows = page.getByLabel('Stay awake in these windows');
    await windows.fill('weekdays 8-18');
    await page.getByText('Enter one window per line').waitFor();
    await windows.fill('mon-fri 08:00-18:00 Europe/Berlin 3');
    await page.clock.fastForward(SETTLED_MS);
    await page.getByText('expected at most copies.max (1)').waitFor();
    await windows.fill('mon-fri 08:00-18:00 Europe/Berlin 1');
    await page.clock.fastForward(SETTLED_MS);
    // 50 of 168 hours, in a month of 730 hours at $2.80.
    await page.getByText('at least $608.33 per month, for 50 hours per week').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create deployment' }).click();
    await page.getByRole('heading', { name: 'planned' }).waitFor();
    const [, id = ''] = /deployments\/(dep_\w+)/.exec(page.url()) ?? [];
    const window = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00', time_zone: 'Europe/Berlin', min_copies: 1 };
    expect(await deploymentOf(id)).toMatchObject({ schedule: [window], task: 'embed', embedding: { dimensions: 8 } });
    await ui.control.done('DELETE', `/v1/deployments/${id}`, { token: owner.token });
    expect(faults).toEqual([]);
    await close();
  });

  test('shows the API’s words beside what they are about, and keeps what somebody else has changed', async () => {
    const { owner, folder } = await newTenant();
    const { page, faults, close } = await ui.open(owner, '/deployments/new');
    await page.clock.install();
    await page.getByLabel('Model files').fill(`${folder}nothing/`);
    await page.getByRole('radio', { name: TYPE }).click();
    await page.clock.fastForward(SETTLED_MS);
    await page.getByText('has no files').waitFor();
    expect(await page.getByLabel('Model files').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Model files').fill(`${folder}qwen3-8b/`);
    await page.getByLabel('Minimum copies').fill('3');
    await page.clock.fastForward(SETTLED_MS);
    await page.getByText(`The deployment can't start on ${TYPE}, because AWS's quota has too few instances left`).waitFor();
    await page.getByText('$8.40 per hour').waitFor();
    await page.getByLabel('Minimum copies').fill('1');
    await page.getByRole('button', { name: 'Create deployment' }).click();
    await page.getByRole('button', { name: 'Change settings' }).click();
    const [, id = ''] = /deployments\/(dep_\w+)/.exec(page.url()) ?? [];
    await ui.control.done('PATCH', `/v1/deployments/${id}`, { token: owner.token, body: { max_concurrency_per_copy: 4 } });
    await page.getByLabel('Maximum copies').fill('2');
    await page.getByLabel('Stay awake in these windows').fill('mon-sun 00:00-24:00 Europe/Berlin 1');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Someone else changed this').waitFor();
    await page.getByRole('button', { name: 'Continue with these values' }).click();
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await deploymentOf(id)).toMatchObject({
      copies: { min: 1, max: 2 },
      max_concurrency_per_copy: 4,
      schedule: [{ from: '00:00', to: '24:00', time_zone: 'Europe/Berlin', min_copies: 1 }],
    });
    await page.getByText('A scheduled window is open').waitFor();
    await page.getByText('mon-sun 00:00-24:00 Europe/Berlin 1').waitFor();
    await page.getByRole('button', { name: 'Delete deployment' }).click();
    await page.getByLabel('Type qwen3-8b to confirm').fill('qwen3-8b');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete deployment' }).click();
    await page.getByText(/Then its name can be used again|It is deleted/).waitFor();
    expect(faults).toEqual([]);
    await close();
  });

  test('shows a request for vectors to a deployment that embeds, and no playground', async () => {
    const { owner, folder } = second;
    const fields = { name: 'vectors', task: 'embed', embedding: { dimensions: 8 }, model: `${folder}qwen3-8b/`, runtime: 'vllm-0.27.1' };
    const { id } = await ui.control.done('POST', '/v1/deployments', { token: owner.token, body: { ...fields, instance_types: [TYPE] } });
    const { page, faults, close } = await ui.open(owner, `/deployments/${id}`);
    const code = page.getByLabel('Example request to this deployment').locator('pre');
    expect(await code.textContent()).toContain(`${ui.run.ondemand_url}/v1/embeddings'`);
    expect(await page.getByRole('link', { name: 'Try it' }).count()).toBe(0);
    await ui.control.done('DELETE', `/v1/deployments/${id}`, { token: owner.token });
    expect(faults).toEqual([]);
    await close();
  });

  test('shows what other times to sleep after would have cost, and applies the suggested one', async () => {
    const { organization, owner } = first;
    const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const range = { fromMs: todayMs - 2 * DAY_MS, toMs: todayMs };
    const requests = officeDays(range.fromMs, 2);
    const stopped = {
      wanted: 'stopped',
      state: 'stopped',
      name: 'sleepy',
      created_at: range.fromMs,
      scale_to_zero_after_seconds: 2_400,
    } as const;
    const { id, generations } = await storeDeployment(ui.run, { organization, ...stopped });
    const life = simulateLife(requests, { range, idleMs: 40 * MINUTE_MS, seed: 3, deployment: { id, organization, name: 'sleepy' } });
    await storeLife(ui.run, { id, organization }, { life, requests, range });
    const { model = '', instance_types: [own = ''] = [], accelerators = 1 } = generations[0] ?? {};
    const benchmarks = createBenchmarkStore(createRecordTable(ui.run.database, ui.run.tables.Deployments as string));
    for (const instance_type of [own, TYPE])
      await keepCurve(ui.run, benchmarks, id, benchmarkCurve({ model, instance_type, accelerators }));
    const { page, faults, close } = await ui.open(owner, `/deployments/${id}`);
    await page.getByRole('button', { name: 'Sleep advice' }).click();
    await page.getByRole('cell', { name: 'after 40 min (now)' }).waitFor();
    await page
      .getByRole('region', { name: `Settings on ${TYPE}` })
      .getByRole('cell', { name: /^\$[1-9]/ })
      .first()
      .waitFor();
    await page.getByText('requests take 100% of the current time').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const sentence = (await page.getByText('a month and causes').textContent()) ?? '';
    expect(sentence).toMatch(/^Stay awake .* 08:00-18:00 UTC/);
    const [, minutes] = /sleep after (\d+) minutes? without a request, rather than after 40 minutes: that /.exec(sentence) ?? [];
    await page.getByRole('button', { name: 'Apply suggestion' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const window = { from: '08:00', to: '18:00', time_zone: 'UTC', min_copies: 1 };
    expect(await deploymentOf(id)).toMatchObject({ scale_to_zero_after_seconds: Number(minutes) * 60, schedule: [window] });
    expect(faults).toEqual([]);
    await close();
  });

  test('measures how many requests a deployment serves at once, shows the curve, and cancels a benchmark', async () => {
    const { owner, folder } = await newTenant();
    const admin = await ui.control.asAdmin();
    await ui.control.done('POST', '/v1/instance-types/ml.g5.xlarge/prices', { token: admin.token, body: { per_hour: '1.41' } });
    const body = { name: 'measured', model: `${folder}qwen3-8b/`, runtime: 'vllm-0.27.1', instance_types: ['ml.g5.xlarge'] };
    const { id } = await ui.control.done('POST', '/v1/deployments', { token: owner.token, body });
    await becomes(id, 'in_service');
    await slowDown();
    const { page, faults, close } = await ui.open(owner, `/deployments/${id}`);
    await page.getByRole('button', { name: 'Benchmark' }).click();
    const start = async (answer: string): Promise<void> => {
      await page.getByLabel('Budget (USD)').fill('5');
      await page.getByLabel('Between tokens goal (ms)').fill(BETWEEN_TOKENS_MS);
      await page.getByLabel('Prompt tokens').fill('40');
      await page.getByLabel('Completion tokens').fill(answer);
      await page.getByRole('button', { name: 'Estimate cost' }).click();
      await page.getByText('which buys 3 h 32 min of GPU time').waitFor();
      await page.getByText(`40 prompt tokens and ${Number(answer).toLocaleString('en')} completion tokens`).waitFor();
      await page.getByRole('button', { name: 'Start benchmark' }).click();
    };
    await page.getByLabel('Budget (USD)').fill('0.01');
    await page.getByLabel('Prompt tokens').fill('40');
    await page.getByLabel('Completion tokens').fill('2');
    await page.getByRole('button', { name: 'Estimate cost' }).click();
    await page.getByText('The budget is below the minimum').waitFor();
    expect(await page.getByRole('button', { name: 'Start benchmark' }).isEnabled()).toBe(false);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await start('2');
    await page.getByText('within the goals').waitFor({ timeout: 240_000 });
    await page.getByRole('figure', { name: 'Tokens per second by concurrency' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const [, found] = /A copy serves (\d+) /.exec((await page.getByText('within the goals').textContent()) ?? '') ?? [];
    expect(await deploymentOf(id)).toMatchObject({ max_concurrency_per_copy: Number(found) });
    const kept = page.getByRole('region', { name: 'Previous benchmark results' }).getByRole('row').nth(1).getByRole('cell');
    expect((await kept.allTextContents()).slice(1, 4)).toEqual(['1', 'ml.g5.xlarge', found]);
    await page.getByText('not compared yet').waitFor();

    await start('4000');
    await page.getByRole('button', { name: 'Cancel benchmark' }).click();
    await page.getByText('Someone cancelled it.').waitFor();
    await drift(id, -34);
    await page.reload();
    await page.getByRole('button', { name: 'Benchmark' }).click();
    await page.getByText('34% slower').waitFor();
    await page.getByRole('status').getByText('has drifted from the benchmark').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  });

  test('compares a new generation with the old one, shows the verdict, and rolls it back', async () => {
    const { owner, folder } = await newTenant();
    const fields = { name: 'compared', model: `${folder}qwen3-8b/`, runtime: 'vllm-0.27.1', instance_types: [TYPE] };
    const { id } = await ui.control.done('POST', '/v1/deployments', { token: owner.token, body: fields });
    await becomes(id, 'in_service');
    const { page, faults, close } = await ui.open(owner, `/deployments/${id}`);
    await page.getByRole('button', { name: 'Roll out change' }).click();
    await page.getByLabel('Runtime', { exact: true }).selectOption('vllm-0.30.0');
    await page.getByLabel('Share of requests').selectOption('0');
    await page.getByRole('button', { name: 'Roll out change' }).last().click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually(async () => {
      await reconcile(id);
      return (await deploymentOf(id)).shadow.status === 'running';
    }, 'the comparison runs');
    const { database, tables } = ui.run;
    const shadows = createShadowStore(database, tables.Deployments as string);
    const budget = { number: 1, max_requests: 100, max_tokens: 100 };
    const place = await shadows.reserve(id, budget, { id: 'a', tokens: 1, nowMs: Date.now(), expiresAtMs: Date.now() });
    if (typeof place === 'string') throw new Error(place);
    await shadows.record(id, 1, place, { unusedTokens: 0, counts: { compared: 20, failed_refused: 20 } });
    await page.reload();
    await page.getByText('The new generation failed to answer 50% of 40 requests.').waitFor();
    await page.getByRole('cell', { name: 'Successful responses' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Roll back generation' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back generation' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await deploymentOf(id)).generations.at(-1)).toMatchObject({ number: 2, status: 'retired' });
    await ui.control.done('DELETE', `/v1/deployments/${id}`, { token: owner.token });
    expect(faults).toEqual([]);
    await close();
  });

  test('adds an adapter, says why another one failed, and deletes it; a member sees them', async () => {
    const { organization, owner, folder } = await newTenant();
    const { s3_endpoint: s3, buckets } = ui.run;
    for (const [file, body] of Object.entries(adapterFiles(8)))
      await fetch(`${s3}/${buckets.Weights}/${organization}/legal/${file}`, { method: 'PUT', body: new Uint8Array(body) });
    // Nothing runs, so that an adapter is only checked and copied.
    const [generation] = newDeployment({ organization }).generations as [Deployment['generations'][number]];
    const generations = [{ ...generation, adapters: { max_rank: 16, max_loaded: 2 } }];
    const { id } = await storeDeployment(ui.run, { organization, generations, wanted: 'stopped', state: 'stopped' });
    const { page, faults, close } = await ui.open(owner, `/deployments/${id}`);
    await page.getByText('No adapters').waitFor();
    const add = async (name: string, source: string): Promise<void> => {
      await page.getByRole('button', { name: 'Add adapter' }).click();
      await page.getByLabel('Name of the adapter').fill(name);
      await page.getByLabel('Adapter files').fill(source);
      await page.getByRole('dialog').getByRole('button', { name: 'Add adapter' }).click();
    };
    await add('stolen', 's3://other/legal/');
    await page.getByRole('dialog').getByRole('alert').first().waitFor();
    await page.keyboard.press('Escape');
    await add('legal', `${folder}legal/`);
    await page.getByRole('cell', { name: 'legal', exact: true }).waitFor();
    await add('empty', `${folder}nothing/`);
    await page.getByRole('cell', { name: 'empty', exact: true }).waitFor();
    await eventually(async () => {
      await reconcile(id);
      return (await page.getByText('Loads as soon as the deployment runs.').count()) > 0;
    }, 'the adapter is checked');
    const row = page.getByRole('row').filter({ hasText: 'legal' });
    expect(await row.getByRole('cell').allTextContents()).toEqual(expect.arrayContaining(['8']));
    await page.getByRole('row').filter({ hasText: 'empty' }).getByText('adapter_config.json').first().waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.getByRole('button', { name: 'Delete legal' }).click();
    await page.getByText('requests to legal return 404').waitFor();
    await page.getByLabel('Type legal to confirm').fill('legal');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete adapter' }).click();
    await page.getByText('No longer gets requests.').waitFor();
    expect(faults).toEqual([]);
    await close();

    const member = await ui.open(await ui.control.createUser({ role: 'member', organization }), `/deployments/${id}`, PHONE);
    await member.page.getByRole('cell', { name: 'empty', exact: true }).waitFor();
    expect(await member.page.getByRole('button', { name: /adapter|Delete/ }).count()).toBe(0);
    expect(await accessibilityFaults(member.page)).toEqual([]);
    expect(member.faults).toEqual([]);
    await member.close();
  });

  test('lets a member see deployments, and offers them no change', async () => {
    const member = await ui.control.createUser({ role: 'member', organization: first.organization });
    const { page, faults, close } = await ui.open(member, '/deployments');
    await page.getByRole('link', { name: 'qwen3-8b' }).click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    const buttons = await page.locator('main').getByRole('button').allTextContents();
    expect(buttons.filter((name) => /deployment|settings|Roll out/.test(name))).toEqual([]);
    expect(await page.getByText('Cost this month').count()).toBe(0);
    await goTo(page, '/deployments/new');
    await page.getByText("Your role can't deploy models").waitFor();
    expect(faults).toEqual([]);
    await close();
  });
});

describe('the catalogue of deployments in the console', () => {
  test('registers a runtime and a price on a phone, and shows texts of others as text', async () => {
    const admin = await ui.control.asAdmin();
    const visited = await ui.open(admin, '/runtimes?dialog=add', PHONE);
    const { page, faults, close } = visited;
    const id = `planted-${randomUUID()}`;
    await page.getByLabel('Id').fill(id);
    await page.getByLabel('Image').fill('vllm:server-sagemaker-cuda-v2.5');
    await page.getByLabel('Description', { exact: true }).fill(PLANTED);
    await page.getByRole('dialog').getByRole('button', { name: 'Register runtime' }).click();
    await page.getByText(PLANTED).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: `Actions of ${id}` }).click();
    await page.getByRole('menuitem', { name: 'Retire runtime' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retire runtime' }).click();
    await page.getByText('retired', { exact: true }).first().waitFor();
    const type = `ml.x${id.slice(-12)}.xlarge`;
    await ui.control.done('POST', '/v1/instance-types', {
      token: admin.token,
      body: { id: type, accelerator: PLANTED, accelerators: 1, accelerator_memory_gib: 24, memory_gib: 16 },
    });
    await goTo(page, `/instance-types?q=${type}`);
    await page.getByRole('button', { name: `Actions of ${type}` }).click();
    await page.getByRole('menuitem', { name: 'Add price' }).click();
    await page.getByLabel('USD per hour').fill('999');
    await page.getByRole('dialog').getByRole('button', { name: 'Add price' }).click();
    await page.getByText('$999.00').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await goTo(page, `/deployments/new?organization=${second.organization}`);
    await page.getByText(`1 × ${PLANTED}`).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await hasRunPlanted(visited)).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });
});
