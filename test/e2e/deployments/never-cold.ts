import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { createDeploymentStore, type DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import type { Model } from '../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { HOUR_MS } from '../../../shared/time/units.ts';
import { percentile } from '../../bench/lib/statistics.ts';
import type { Control, SignedIn } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { sized } from '../../support/sized.ts';
import { deploymentRun, setTransitions, uploadWeights } from './run.ts';

const CALLERS = sized(60, 200);
const AT_ONCE = 10;
const LATER_CALLERS = sized(20, 40);
const DEPLOYMENT = 'tiny';
const ALIAS = 'assistant';
const USER = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const TIMES = { instance_ms: 200, update_ms: 200, download_ms: 200, load_ms: 200, release_ms: 200 };
// About as long as a warm model on a GPU takes.
const FIRST_TOKEN_MS = 200;
// The call that gives a deployment its copies back.
const HELD = { kind: 'throttling', operation: 'UpdateInferenceComponentRuntimeConfig' };

let run: TestRun;
let control: Control;
let deployments: DeploymentStore;
let organization: string;
let owner: SignedIn;
let id: string;
let call: Record<'alias' | 'warm', Call>;
let keyId: string;
let prices: Model['prices'];
const find = async (): Promise<Deployment> => (await deployments.find(id)) as Deployment;
const isIn = (state: Deployment['state']) => async (): Promise<boolean> => (await find()).state === state;

const createSleeping = async (): Promise<string> => {
  const body = { name: DEPLOYMENT, ...(await uploadWeights(run, organization)), scale_to_zero_after_seconds: 60 };
  ({ id } = await control.done('POST', '/v1/deployments', { token: owner.token, body }));
  await eventually(isIn('in_service'), 'the deployment is in service');
  // Nobody has used it for an hour.
  await eventually(async () => {
    const write = deployments.toReplace({ ...(await find()), last_used_at: Date.now() - HOUR_MS });
    return transact(run.database, [write]).then(
      () => true,
      () => false,
    );
  }, 'the deployment looks unused');
  await eventually(isIn('scaled_to_zero'), 'the deployment is asleep');
  return id;
};

interface Answer {
  model: string;
  fallback: string | null;
  firstTokenMs: number;
  promptTokens: number;
  completionTokens: number;
}

type Call = (number: number) => Promise<Answer>;

const createCaller =
  (secret: string, model: string): Call =>
  async (number) => {
    const client = new OpenAI({ apiKey: secret, baseURL: `${run.ondemand_url}/v1`, maxRetries: 0, defaultHeaders: { 'X-User-Id': USER } });
    const startedMs = performance.now();
    const { data, response } = await client.chat.completions
      .create({
        model,
        messages: [{ role: 'user', content: `Question ${number} about rivers` }],
        max_tokens: 1 + (number % 7),
        stream: true,
        stream_options: { include_usage: true },
      })
      .withResponse();
    let firstTokenMs = Number.NaN;
    let usage: OpenAI.CompletionUsage | null | undefined;
    const names = new Set<string>();
    for await (const chunk of data) {
      names.add(chunk.model);
      if (Number.isNaN(firstTokenMs) && chunk.choices[0]?.delta.content) firstTokenMs = performance.now() - startedMs;
      usage = chunk.usage ?? usage;
    }
    return {
      model: [...names].join(),
      fallback: response.headers.get('x-sluice-fallback'),
      firstTokenMs,
      promptTokens: usage?.prompt_tokens ?? Number.NaN,
      completionTokens: usage?.completion_tokens ?? Number.NaN,
    };
  };

// So many callers, of whom a few call at once.
const callAll = async <Result>(callers: number, call: (number: number) => Promise<Result>): Promise<Result[]> => {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < callers) {
      const number = next++;
      results.push(await call(number));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
};

const print = (fallenBack: readonly Answer[], direct: readonly Answer[]): void => {
  const at = (answers: readonly Answer[], share: number): number =>
    percentile(
      answers.map(({ firstTokenMs }) => firstTokenMs),
      share,
    );
  const [p50, p95, ownP50, ownP95] = [at(fallenBack, 0.5), at(fallenBack, 0.95), at(direct, 0.5), at(direct, 0.95)];
  const ms = (value: number): string => `${value.toFixed(0)} ms`;
  process.stderr.write(
    `\nFirst token of ${CALLERS} callers of a deployment that sleeps: p50 ${ms(p50)}, p95 ${ms(p95)}. Of the warm model itself: p50 ${ms(ownP50)}, p95 ${ms(ownP95)}. Ratio of p95: ${(p95 / ownP95).toFixed(2)}.\n`,
  );
};

const sumOf = (answers: readonly Answer[], of: (answer: Answer) => number): number => answers.reduce((sum, answer) => sum + of(answer), 0);

// In nano-dollars. After midnight, a model has costs on two days.
const costsByModel = async (): Promise<Map<string, number>> => {
  const query = `start_time=${Math.floor(Date.now() / 1_000) - 86_400}&group_by[]=model&group_by[]=line_item`;
  const { data } = await control.done('GET', `/v1/organization/costs?${query}`, { token: owner.token });
  const costs = new Map<string, number>();
  for (const { results } of data)
    for (const { line_item, cost } of results) costs.set(line_item, (costs.get(line_item) ?? 0) + Math.round(Number(cost) * 1e9));
  return costs;
};

const usageByModel = async (): Promise<Record<string, number[]>> => {
  const query = `start_time=${Math.floor(Date.now() / 1_000) - 86_400}&group_by[]=model`;
  const { data } = await control.done('GET', `/v1/organization/usage/completions?${query}`, { token: owner.token });
  const usage: Record<string, number[]> = {};
  for (const { results } of data)
    for (const { model, num_model_requests, input_tokens, output_tokens } of results) {
      const [requests = 0, input = 0, output = 0] = usage[model] ?? [];
      usage[model] = [requests + num_model_requests, input + input_tokens, output + output_tokens];
    }
  return usage;
};

describe('an alias with a fallback', () => {
  beforeAll(async () => {
    ({ run, control } = await deploymentRun.start());
    deployments = createDeploymentStore(createRecordTable(run.database, run.tables.Deployments as string));
    ({ id: organization } = await control.createOrganization());
    owner = await control.createUser({ role: 'owner', organization });
    await setTransitions(run, TIMES);
    id = await createSleeping();
    const body = { model: DEPLOYMENT, fallbacks: [run.model] };
    await control.done('PUT', `/v1/model-aliases/${ALIAS}`, { token: owner.token, body });
    const key = await run.createKey({ org: organization, scope: 'on_demand', concurrency: CALLERS });
    keyId = key.key_id;
    // On the same host, another organization calls the warm model itself.
    const warm = await run.models.get(SERVERLESS_POOL, run.model);
    if (!warm) throw new Error('The local run has no model.');
    prices = warm.prices;
    await run.models.put('org_test', warm);
    const other = await run.createKey({ scope: 'on_demand', concurrency: CALLERS });
    call = { alias: createCaller(key.secret, ALIAS), warm: createCaller(other.secret, run.model) };
  });
  afterAll(() => control.done('DELETE', `/v1/deployments/${id}`, { token: owner.token }));

  test(`${CALLERS} callers of an alias are answered by a warm model, and wake its deployment once`, async () => {
    await callAll(LATER_CALLERS, call.warm);
    // The deployment can't wake before all callers are answered.
    await setTransitions(run, TIMES, [HELD]);
    await run.control('container', { first_token_delay_ms: FIRST_TOKEN_MS });
    const direct: Answer[] = [];
    const fallenBack = await callAll(CALLERS, async (number) => {
      direct.push(await call.warm(number));
      return call.alias(number);
    });
    expect(new Set(fallenBack.map(({ model, fallback }) => `${model} ${fallback}`))).toEqual(new Set([`${run.model} 1`]));
    expect((await find()).state).toBe('waking');
    const events = (await run.eventsOf(keyId)).filter(({ model }) => model === run.model);
    expect(events).toHaveLength(CALLERS);
    for (const event of events) {
      expect(event).toMatchObject({
        alias: ALIAS,
        model: run.model,
        is_shared: true,
        attempts: [{ model: DEPLOYMENT, code: 'deployment_waking' }],
      });
      // One call of SageMaker, of the model that answered.
      expect(event.tries).toBeUndefined();
    }
    expect(await run.logOf('ondemand-inference')).toMatch(
      /"message":"request".*"fallback":1.*"attempts":\[\{"model":"tiny","code":"deployment_waking"/,
    );
    print(fallenBack, direct);

    await setTransitions(run, TIMES);
    await eventually(isIn('in_service'), 'the deployment is in service again');
    await run.control('container');
    const own = await callAll(LATER_CALLERS, call.alias);
    expect(new Set(own.map(({ model, fallback }) => `${model} ${fallback}`))).toEqual(new Set([`${DEPLOYMENT} null`]));
    expect((await find()).transitions.filter(({ state }) => state === 'waking')).toHaveLength(1);

    const expected = Object.fromEntries(
      Object.entries({ [run.model]: fallenBack, [DEPLOYMENT]: own }).map(([model, answers]) => [
        model,
        [answers.length, sumOf(answers, ({ promptTokens }) => promptTokens), sumOf(answers, ({ completionTokens }) => completionTokens)],
      ]),
    );
    const counted = async (): Promise<number> => Object.values(await usageByModel()).reduce((sum, [requests = 0]) => sum + requests, 0);
    await eventually(async () => (await counted()) === CALLERS + LATER_CALLERS, 'all requests are counted');
    expect(await usageByModel()).toEqual(expected);

    const [price] = prices;
    if (!price) throw new Error('The shared model has no price.');
    const nanos = sumOf(fallenBack, ({ promptTokens, completionTokens }) =>
      Math.round((promptTokens * price.prompt_nanos + completionTokens * price.completion_nanos) / 1_000_000),
    );
    const costs = await costsByModel();
    // A deployment costs GPU time, and its tokens nothing.
    expect([...costs.keys()].sort()).toEqual(['GPU time, ml.g5.xlarge', run.model, DEPLOYMENT]);
    expect([costs.get(run.model), costs.get(DEPLOYMENT)]).toEqual([nanos, 0]);
  });
});
