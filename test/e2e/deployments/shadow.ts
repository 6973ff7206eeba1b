import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { awsNameOf } from '../../../shared/deployments/names.ts';
import { createCanaries } from '../../security/canaries/canaries.ts';
import { readPlaces } from '../../security/canaries/places.ts';
import type { Control, SignedIn } from '../../support/clients/control.ts';
import type { TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { deploymentRun, setTransitions, uploadWeights } from './run.ts';

const DEPLOYMENT = 'tiny';
const USER = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const TIMES = { instance_ms: 200, update_ms: 200, download_ms: 200, load_ms: 200, release_ms: 200 };
const PERCENT = 25;
const BATCH = 20;
// A quarter of them is drawn, and twenty decide.
const MAX_BATCHES = 20;
// With fewer requests, chance can draw half.
const LEAST_SENT = 100;
const TIMEOUT_MS = 300_000;

const canaries = createCanaries();

let run: TestRun;
let control: Control;
let organization: string;
let owner: SignedIn;
let id: string;
let openai: OpenAI;
let keyId: string;
let sent = 0;
const read = () => control.done('GET', `/v1/deployments/${id}`, { token: owner.token });
const report = () => control.done('GET', `/v1/deployments/${id}/shadow`, { token: owner.token });
const update = (body: object) => control.done('PATCH', `/v1/deployments/${id}`, { token: owner.token, body });

const ask = async (): Promise<void> => {
  sent++;
  const messages = [{ role: 'user' as const, content: canaries.plant('the prompt') }];
  const request = { model: DEPLOYMENT, messages, max_tokens: 4, temperature: 0 };
  if (sent % 2 === 0) {
    const { choices } = await openai.chat.completions.create(request);
    expect(choices).toHaveLength(1);
    return;
  }
  const chunks = [];
  for await (const chunk of await openai.chat.completions.create({ ...request, stream: true })) chunks.push(chunk);
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toEqual(expect.any(String));
};

// Each comparison is recorded after the caller has its reply.
const failedIn = ({ failed }: { failed: Record<string, number> }): number => Object.values(failed).reduce((sum, each) => sum + each, 0);
const recorded = async () => {
  let last = await report();
  await eventually(async () => {
    last = await report();
    return last.compared + failedIn(last) === last.used_requests;
  }, 'all comparisons are recorded');
  return last;
};
const askUntil = async (isEnough: (found: Awaited<ReturnType<typeof report>>) => boolean) => {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    for (let i = 0; i < BATCH; i++) await ask();
    const found = await recorded();
    if (isEnough(found)) return found;
  }
  throw new Error(`Too little was compared: ${JSON.stringify(await report())}`);
};

describe('the shadow of a deployment', () => {
  beforeAll(async () => {
    ({ run, control } = await deploymentRun.start());
    ({ id: organization } = await control.createOrganization());
    owner = await control.createUser({ role: 'owner', organization });
    await setTransitions(run, TIMES);
    const body = { name: DEPLOYMENT, ...(await uploadWeights(run, organization)) };
    ({ id } = await control.done('POST', '/v1/deployments', { token: owner.token, body }));
    await eventually(async () => (await read()).state === 'in_service', 'the deployment is in service');
    const key = await run.createKey({ org: organization, scope: 'on_demand' });
    keyId = key.key_id;
    openai = new OpenAI({ apiKey: key.secret, baseURL: `${run.ondemand_url}/v1`, maxRetries: 0, defaultHeaders: { 'X-User-Id': USER } });
  }, TIMEOUT_MS);
  afterAll(async () => {
    await run.control('sagemaker');
    await control.done('DELETE', `/v1/deployments/${id}`, { token: owner.token });
  });

  test(
    'a new generation is compared with the old one, found to fail, and rolled back unnoticed',
    async () => {
      const { shadow } = await update({ runtime: 'vllm-0.30.0', shadow: { percent: PERCENT } });
      expect(shadow).toMatchObject({ generation: 2, status: 'waiting' });
      await eventually(async () => (await read()).shadow.status === 'running', 'the comparison runs');

      // Both generations have the same weights.
      const same = await askUntil(({ compared }) => compared >= 10);
      expect(same).toMatchObject({ failed: { failed: 0 }, finish_reason: { different: 0 }, verdict: 'undecided', apply: null });
      expect(same.exact_matches).toEqual({ same: same.compared, different: 0 });
      expect(same.tokens.shadow).toEqual(same.tokens.serving);
      expect(same.time_to_first_token.shadow.count).toBe(same.compared);

      await run.control('sagemaker', { fault: { kind: 'model_error', endpoint: awsNameOf('sluice', id, 2) } });
      const failing = await askUntil(({ verdict, failed }) => verdict === 'roll_back' && failed.failed > 0 && sent >= LEAST_SENT);
      expect(failing.used_requests).toBeLessThan(sent * 0.5);

      const events = await run.eventsOf(keyId);
      expect(events).toHaveLength(sent);
      for (const event of events)
        expect(event).toMatchObject({ outcome: 'completed', endpoint: awsNameOf('sluice', id, 1), cost_nanos: 0n });
      expect(canaries.leaksIn(await readPlaces(run))).toEqual([]);

      const { method, path, body } = failing.apply;
      expect([method, path, body]).toEqual(['PATCH', `/v1/deployments/${id}`, { traffic_percent: 0 }]);
      await update(body);
      await eventually(async () => (await report()).status === 'ended', 'the comparison has ended');
      expect(await report()).toMatchObject({ end_reason: 'generation_ended', verdict: 'roll_back', apply: null });
    },
    TIMEOUT_MS,
  );
});
