import { describe, expect, test } from '@jest/globals';
import { waitBefore } from '../../../console/pages/deploy/call-pace.ts';
import {
  FIRST_DRAFT,
  faultsOf,
  fieldOf,
  folderIn,
  idleChoices,
  linesOf,
  type NewDraft,
  nameFor,
  newDeploymentOf,
  newestOf,
  variablesIn,
} from '../../../console/pages/deploy/deployment-draft.ts';
import {
  benchmarkFaults,
  benchmarkOf,
  boughtMs,
  canStart,
  driftText,
  FIRST_BENCHMARK,
  isTooLittle,
  kneeOf,
  meanLengths,
} from '../../../console/pages/deployment/benchmark-draft.ts';
import {
  COMPARED,
  rolloutChange,
  rolloutDraftOf,
  rolloutFaults,
  settingsChange,
  settingsFaults,
  settingsOf,
} from '../../../console/pages/deployment/settings-draft.ts';
import {
  actionsFor,
  type Deployment,
  expectedAt,
  lastStartSeconds,
  roughly,
  shortModel,
} from '../../../console/pages/deployments/deployment-state.ts';
import { choosableTypes, hourCostOf, type InstanceType } from '../../../console/pages/deployments/hour-cost.ts';
import { matchingTypes, nextPriceOf } from '../../../console/pages/instance-types/instance-filters.ts';

const typeOf = (id: string, accelerators: number, perHour: string | null, fields: Partial<InstanceType> = {}): InstanceType => ({
  object: 'instance_type',
  id,
  accelerator: 'NVIDIA A10G',
  accelerators,
  accelerator_memory_gib: 24,
  memory_gib: 16,
  status: 'available',
  price: perHour === null ? null : { version: 'price_1', per_hour: perHour, effective_at: 1 },
  version: 1,
  ...fields,
});

const draft: NewDraft = { ...FIRST_DRAFT, model: 's3://weights/org_1/Qwen3 8B/', runtime: 'vllm-0.30.0', instanceTypes: ['ml.g5.xlarge'] };

const deployment = {
  state: 'in_service',
  state_since: 100,
  copies: { min: 1, max: 2 },
  scale_to_zero_after_seconds: 1_800,
  schedule: [],
  max_concurrency_per_copy: 16,
  context_length: 8_192,
  max_output_tokens: 4_096,
  runtime: 'vllm-0.27.1',
  model: 's3://weights/org_1/qwen/',
  instance_types: ['ml.g5.xlarge', 'ml.g6.xlarge'],
  accelerators: 1,
  environment: { SM_VLLM_DTYPE: 'bfloat16' },
  history: [],
  wake: null,
} as unknown as Deployment;

describe('a new deployment', () => {
  test('is sent with defaults for what was not typed, and named after its model', () => {
    expect(newDeploymentOf(draft, undefined)).toEqual({
      name: 'qwen3-8b',
      model: 's3://weights/org_1/Qwen3 8B/',
      runtime: 'vllm-0.30.0',
      instance_types: ['ml.g5.xlarge'],
      accelerators: 1,
      copies: { min: 1 },
      scale_to_zero_after_seconds: 1_800,
      max_concurrency_per_copy: 16,
      environment: {},
      allow_code: false,
    });
    expect(
      newDeploymentOf({ ...draft, idle: '', maxCopies: '3', contextLength: '16384', environment: 'SM_VLLM_DTYPE=half' }, 'org_1'),
    ).toMatchObject({
      organization: 'org_1',
      copies: { min: 1, max: 3 },
      scale_to_zero_after_seconds: null,
      environment: { SM_VLLM_MAX_MODEL_LEN: '16384', SM_VLLM_DTYPE: 'half' },
    });
  });

  test('is sent without a model too, so that the API says where models can be', () => {
    expect(newDeploymentOf({ ...draft, windows: 'mon-tue 08:00-18:00 UTC' }, undefined)).toMatchObject({
      schedule: [{ days: ['mon', 'tue'], from: '08:00', to: '18:00', time_zone: 'UTC', min_copies: 1 }],
    });
    expect(newDeploymentOf({ ...draft, task: 'embed', dimensions: '1024' }, undefined)).toMatchObject({
      task: 'embed',
      embedding: { dimensions: 1_024 },
    });
    expect(newDeploymentOf({ ...draft, task: 'rerank' }, undefined)).toMatchObject({ task: 'rerank' });
    expect(newDeploymentOf({ ...draft, model: ' ' }, undefined)).toMatchObject({ model: 's3://', name: 'deployment' });
  });

  test.each([
    ['minCopies', '0'],
    ['maxCopies', 'many'],
    ['accelerators', ''],
    ['environment', 'no value'],
  ] as const)('is not sent with a fault in %s', (name, text) => {
    const faulty = { ...draft, [name]: text };
    expect(Object.keys(faultsOf(faulty))).toEqual([name]);
    expect(newDeploymentOf(faulty, undefined)).toBeUndefined();
  });

  test('has the words of the API beside the field that they are about', () => {
    const fields = ['model', 'instance_types[0]', 'copies.max', 'environment.SM_VLLM_DTYPE', 'name', null].map((param) =>
      fieldOf({ param }),
    );
    expect(fields).toEqual(['model', 'instanceTypes', 'maxCopies', 'environment', 'name', undefined]);
    expect(folderIn("Invalid value for 'model': expected a folder in s3://weights/org_1a/.")).toBe('s3://weights/org_1a/');
    expect(folderIn("Invalid value for 'runtime'.")).toBeUndefined();
  });

  test('reads and writes variables line by line', () => {
    const variables = { SM_VLLM_DTYPE: 'half', SM_VLLM_MAX_NUM_SEQS: '8' };
    expect(variablesIn(` ${linesOf(variables)}\n\n`)).toEqual(variables);
    expect(variablesIn('=half')).toBeUndefined();
  });

  test('offers the newest runtime, and also an idle time that only this deployment has', () => {
    expect(newestOf(['vllm-0.9.0', 'vllm-0.30.0', 'vllm-0.27.1'])).toBe('vllm-0.30.0');
    expect(nameFor('Qwen/Qwen3-8B')).toBe('qwen3-8b');
    expect(idleChoices('90').at(-1)?.[0]).toBe('90');
    expect(idleChoices('')).toHaveLength(7);
  });
});

describe('the estimate of a new deployment', () => {
  test('is asked for a second after the last time, and six times in a minute', () => {
    expect(waitBefore([], 5_000)).toBe(0);
    expect(waitBefore([4_400], 5_000)).toBe(400);
    expect(waitBefore([1_000, 2_000, 3_000, 4_000, 5_000, 6_000], 10_000)).toBe(51_000);
    expect(waitBefore([1_000, 2_000, 3_000, 4_000, 5_000, 6_000], 70_000)).toBe(0);
  });
});

describe('the cost of an hour', () => {
  test('is exact, and that of whole instances, which copies share', () => {
    expect(hourCostOf(typeOf('ml.g5.xlarge', 1, '1.41'), 1, 3)).toBe('4.23');
    expect(hourCostOf(typeOf('ml.g5.12xlarge', 4, '7.09'), 2, 3)).toBe('14.18');
    expect(hourCostOf(typeOf('ml.g5.xlarge', 1, null), 1, 1)).toBeUndefined();
    expect(hourCostOf(undefined, 1, 1)).toBeUndefined();
  });

  test('sorts the types that can be chosen, and leaves out all others', () => {
    const types = [
      typeOf('ml.g5.12xlarge', 4, '7.09'),
      typeOf('ml.g5.xlarge', 1, '1.41'),
      typeOf('ml.g6.xlarge', 1, '1.13'),
      typeOf('ml.g5.2xlarge', 1, null),
      typeOf('ml.p5.4xlarge', 1, '1', { status: 'retired' }),
    ];
    expect(choosableTypes(types, 1).map(({ id }) => id)).toEqual(['ml.g6.xlarge', 'ml.g5.xlarge', 'ml.g5.12xlarge']);
    expect(choosableTypes(types, 2).map(({ id }) => id)).toEqual(['ml.g5.12xlarge']);
    expect(matchingTypes(types, { kind: 'unpriced', text: '' }).map(({ id }) => id)).toEqual(['ml.g5.2xlarge']);
    expect(matchingTypes(types, { kind: 'retired', text: 'A10' }).map(({ id }) => id)).toEqual(['ml.p5.4xlarge']);
    expect(matchingTypes(types, { kind: '', text: 'g6' }).map(({ id }) => id)).toEqual(['ml.g6.xlarge']);
  });

  test('changes with the next price version that is planned', () => {
    const versions = [30, 20, 10].map((effective_at) => ({ version: `price_${effective_at}`, per_hour: '1', effective_at }));
    expect(nextPriceOf(typeOf('ml.g5.xlarge', 1, '1', { prices: versions }), 15)?.effective_at).toBe(20);
    expect(nextPriceOf(typeOf('ml.g5.xlarge', 1, '1', { prices: versions }), 30)).toBeUndefined();
  });
});

describe('a deployment', () => {
  test.each([
    ['in_service', ['stop', 'delete']],
    ['scaled_to_zero', ['wake', 'stop', 'delete']],
    ['stopped', ['start', 'delete']],
    ['failed', ['retry', 'stop', 'delete']],
    ['deleting', []],
  ] as const)('offers what can be done while it is %s', (state, actions) => {
    expect(actionsFor({ state })).toEqual(actions);
  });

  test('is expected when its wake is, when its creation estimated, or after as long as its last start', () => {
    const history = [
      { state: 'pending', at: 10, reason: null },
      { state: 'creating', at: 12, reason: null },
      { state: 'in_service', at: 70, reason: null },
      { state: 'stopped', at: 90, reason: null },
    ] as const;
    expect(lastStartSeconds([...history])).toBe(60);
    expect(lastStartSeconds([])).toBeUndefined();
    const wake = { started_at: 100, expected_at: 150, p50_seconds: 50, p90_seconds: 80 };
    expect(expectedAt({ ...deployment, state: 'waking', wake }, undefined)).toBe(150);
    expect(expectedAt({ ...deployment, state: 'creating' }, 700)).toBe(700);
    expect(expectedAt({ ...deployment, state: 'creating', history: [...history] }, undefined)).toBe(160);
    expect(expectedAt(deployment, 700)).toBeUndefined();
  });

  test('names its model and its times in a few words', () => {
    expect([shortModel('s3://weights/org_1/qwen/'), shortModel('Qwen/Qwen3-8B')]).toEqual(['qwen', 'Qwen/Qwen3-8B']);
    expect([roughly(45), roughly(601), roughly(7_300)]).toEqual(['45 s', '11 min', '3 h']);
  });

  test('is changed only in what differs', () => {
    expect(settingsChange(settingsOf(deployment), deployment)).toEqual({});
    expect(settingsFaults({ ...settingsOf(deployment), maxOutput: '' }, { task: 'generate' })).toHaveProperty('maxOutput');
    expect(settingsFaults({ ...settingsOf(deployment), maxOutput: '' }, { task: 'embed' })).not.toHaveProperty('maxOutput');
    expect(settingsChange({ ...settingsOf(deployment), maxCopies: '4', idle: '' }, deployment)).toEqual({
      copies: { max: 4 },
      scale_to_zero_after_seconds: null,
    });
  });

  test('sends the windows of its schedule, which are edited as lines', () => {
    const office = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00', time_zone: 'Europe/Berlin', min_copies: 2 };
    const scheduled = {
      ...deployment,
      schedule: [office, { ...office, days: ['sun', 'sat', 'mon'], to: '24:00', time_zone: 'UTC' }],
    } as Deployment;
    const opened = settingsOf(scheduled);
    expect(opened.windows).toBe('mon-fri 08:00-18:00 Europe/Berlin 2\nmon,sat-sun 08:00-24:00 UTC 2');
    expect(settingsChange(opened, scheduled)).toEqual({});
    expect(
      settingsChange({ ...opened, windows: ' MON-Fri  08:00-18:00 Europe/Berlin 2\n\nsun 22:00-06:00 Asia/Kathmandu' }, scheduled),
    ).toEqual({
      schedule: [office, { days: ['sun'], from: '22:00', to: '06:00', time_zone: 'Asia/Kathmandu', min_copies: 1 }],
    });
    expect(settingsChange({ ...opened, windows: '' }, scheduled)).toEqual({ schedule: [] });
    for (const windows of [
      'mon 08:00',
      'fri-mon 08:00-18:00 UTC',
      'mo 08:00-18:00 UTC',
      'mon 08:00-18:00',
      'mon 08:00-18:00 UTC 0',
      'mon-tue-wed 08:00-18:00 UTC',
    ])
      expect([windows, Object.keys(settingsFaults({ ...opened, windows }, deployment))]).toEqual([windows, ['windows']]);
    expect(settingsFaults(opened, deployment)).toEqual({});
  });

  test('gets a new generation only if it would run something else', () => {
    const opened = rolloutDraftOf(deployment);
    expect(rolloutChange({ ...opened, traffic: '10' }, deployment)).toBeUndefined();
    expect(rolloutChange({ ...opened, runtime: 'vllm-0.30.0', instanceTypes: 'ml.g6.xlarge', traffic: '10' }, deployment)).toEqual({
      runtime: 'vllm-0.30.0',
      instance_types: ['ml.g6.xlarge'],
      traffic_percent: 10,
    });
    expect(rolloutChange({ ...opened, runtime: 'vllm-0.30.0', traffic: COMPARED }, deployment)).toEqual({
      runtime: 'vllm-0.30.0',
      traffic_percent: 0,
      shadow: { percent: 10 },
    });
    expect(rolloutChange({ ...opened, adaptersLoaded: '4' }, deployment)).toBeUndefined();
    expect(rolloutChange({ ...opened, adapterRank: '16', adaptersLoaded: '4' }, deployment)).toMatchObject({
      adapters: { max_rank: 16, max_loaded: 4 },
    });
    const loading = { ...deployment, adapters: { max_rank: 16, max_loaded: 4 } };
    expect(rolloutChange(rolloutDraftOf(loading), loading)).toBeUndefined();
    expect(rolloutChange({ ...rolloutDraftOf(loading), adapterRank: '' }, loading)).toMatchObject({ adapters: null });
    expect(Object.keys(rolloutFaults({ ...opened, adapterRank: 'x', adaptersLoaded: '0' }))).toEqual(['adapterRank', 'adaptersLoaded']);
    expect(rolloutFaults({ ...opened, adapterRank: ' ', adaptersLoaded: '' })).toEqual({});
    expect(rolloutFaults({ ...opened, instanceTypes: ' , ', environment: 'half' })).toMatchObject({
      instanceTypes: expect.any(String),
      environment: expect.any(String),
    });
  });
});

describe('a benchmark', () => {
  const typed = { ...FIRST_BENCHMARK, budget: ' 2.50 ' };

  test('is sent without lengths if none were typed, so that those of the deployment’s requests are used', () => {
    expect(canStart(FIRST_BENCHMARK)).toBe(false);
    expect(canStart(typed)).toBe(true);
    expect(benchmarkOf(typed)).toEqual({ budget: '2.50', goals: { ttft_p95_ms: 2_000, inter_token_p95_ms: 100 }, apply: true });
    const lengths = { ...typed, promptTokens: '1000', completionTokens: '200', applies: false };
    expect(benchmarkOf(lengths)).toMatchObject({ mix: [{ prompt_tokens: 1_000, completion_tokens: 200 }], apply: false });
  });

  test('says before its start what the budget buys, and what is sent', () => {
    expect(boughtMs('2.82', '1.41')).toBe(7_200_000);
    expect(boughtMs('5', '0')).toBeUndefined();
    expect([isTooLittle('0.0587499', '0.05875'), isTooLittle('0.05875', '0.05875')]).toEqual([true, false]);
    const mix = [
      { prompt_tokens: 100, completion_tokens: 10, weight: 3 },
      { prompt_tokens: 1_000, completion_tokens: 50, weight: 1 },
    ];
    expect(meanLengths(mix)).toEqual({ prompt: 325, completion: 20 });
  });

  test('is summed up by the most requests at once that met the goals, and by its drift', () => {
    const points = [{ concurrency_per_copy: 4 }, { concurrency_per_copy: 8 }];
    expect([kneeOf({ result: 8, points }), kneeOf({ result: null, points })]).toEqual([points[1], undefined]);
    expect([driftText(-22), driftText(30), driftText(0)]).toEqual(['22% slower', '30% faster', 'same speed']);
  });

  test('is not sent if a field has a fault, which the field shows', () => {
    expect(benchmarkFaults({ ...typed, budget: 'a lot' })).toEqual({ budget: 'Enter an amount, such as 2.50.' });
    expect(benchmarkFaults({ ...typed, firstTokenMs: '0', betweenTokensMs: '1.5' })).toEqual({
      firstTokenMs: 'Enter a whole number of at least 1.',
      betweenTokensMs: 'Enter a whole number of at least 1.',
    });
    expect(benchmarkFaults({ ...typed, promptTokens: '100' })).toEqual({ completionTokens: 'Enter both lengths or neither.' });
    expect(canStart({ ...typed, completionTokens: '100' })).toBe(false);
  });
});
