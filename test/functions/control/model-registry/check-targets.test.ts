import { createServer } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { checkTargets, type TargetCheckDependencies } from '../../../../functions/control/model-registry/check-targets.ts';
import { createTargetFacts } from '../../../../functions/control/model-registry/target-facts.ts';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import type { NewModel } from '../../../../shared/models/model.ts';
import { eventually } from '../../../support/eventually.ts';
import { checksWith, type Fakes, modelOf, startFakes } from './target-check-fixtures.ts';

let fakes: Fakes;
let sagemaker: Fakes['sagemaker'];
let deps: Fakes['deps'];
beforeAll(async () => {
  fakes = await startFakes();
  ({ sagemaker, deps } = fakes);
});
afterAll(() => fakes.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  sagemaker.reset();
});
afterEach(() => {
  jest.restoreAllMocks();
});

const { check, checkOne } = checksWith(() => fakes.deps);

describe('an endpoint that can serve', () => {
  test('passes every check', async () => {
    sagemaker.deploy('e');
    const report = await check([{ endpoint: 'e' }]);
    expect(report).toMatchObject({ targets: [{ endpoint: 'e', component: null, region: null }], tokenizer: null, passed: true });
    expect(report.targets[0]?.checks.map(({ passed }) => passed)).toEqual([true, true, true, true]);
  });

  test('receives a request for one token in the usual request format', async () => {
    sagemaker.deploy('e');
    await check([{ endpoint: 'e', container_model: 'inner' }]);
    expect(sagemaker.requests.slice(0, 1)).toEqual([
      {
        model: 'inner',
        messages: [{ role: 'user', content: expect.any(String) }],
        max_tokens: 1,
        stream: true,
        stream_options: { include_usage: true },
        request_id: expect.stringMatching(/^req_/),
        cache_salt: expect.stringMatching(/./),
      },
    ]);
  });

  test('passes with its inference component, and in a region of its own', async () => {
    sagemaker.deploy('e', { component: 'c' });
    const report = await check([{ endpoint: 'e', component: 'c', region: 'eu-west-1' }]);
    expect(report).toMatchObject({ targets: [{ endpoint: 'e', component: 'c', region: 'eu-west-1' }], passed: true });
  });
});

describe('a target that does not exist', () => {
  test('is reported, and its other checks are skipped', async () => {
    const { targets } = await check([{ endpoint: 'none' }]);
    expect(targets[0]?.checks).toEqual([
      { name: 'exists', passed: false, detail: expect.stringContaining("The endpoint 'none' does not exist") },
      ...['tagged', 'in_service', 'answers'].map((name) => ({ name, passed: false, detail: expect.stringContaining('Skipped') })),
    ]);
    expect(sagemaker.requests).toEqual([]);
  });

  test('is reported if it is the inference component', async () => {
    sagemaker.deploy('e', { component: 'c' });
    const { failed, detail } = await checkOne({ endpoint: 'e', component: 'other' });
    expect(failed).toBe('exists');
    expect(detail).toContain("The inference component 'other' does not exist");
  });

  test('is reported with the endpoint that the component is on, if that differs', async () => {
    sagemaker.deploy('e');
    sagemaker.deploy('f', { component: 'c' });
    const { failed, detail } = await checkOne({ endpoint: 'e', component: 'c' });
    expect(failed).toBe('exists');
    expect(detail).toContain("is on the endpoint 'f', not on 'e'");
  });
});

describe('an endpoint without the tag', () => {
  test.each([
    ['it has none', { tags: {} }, 'endpoint'],
    ['it has another value', { tags: { sluice: 'yes' } }, 'endpoint'],
    ['its component has none', { componentTags: {} }, 'inference component'],
  ])('is not invoked if %s, and the report names it', async (_, tags, lacking) => {
    sagemaker.deploy('e', { component: 'c', ...tags });
    const { passed, failed, detail } = await checkOne({ endpoint: 'e', component: 'c' });
    expect({ passed, failed }).toEqual({ passed: ['exists'], failed: 'tagged' });
    expect(detail).toMatch(new RegExp(`^The ${lacking} .* has no tag 'sluice'`));
    expect(sagemaker.requests).toEqual([]);
  });

  test('is rejected if its tag differs from the configured one', async () => {
    sagemaker.deploy('e');
    expect(await checkOne({ endpoint: 'e' }, { endpointTag: 'gateway' })).toMatchObject({
      failed: 'tagged',
      detail: expect.stringContaining("'gateway'"),
    });
  });

  test('is accepted if it has the tag among many others', async () => {
    const many = Object.fromEntries(Array.from({ length: 55 }, (_, i) => [`key-${i}`, 'v']));
    sagemaker.deploy('e', { tags: { ...many, sluice: 'true' } });
    expect(await checkOne({ endpoint: 'e' })).toMatchObject({ failed: undefined });
  });
});

test.each([
  ['endpoint', { status: 'Creating' }, 'Wait until it is'],
  ['endpoint', { status: 'Failed' }, 'SageMaker console'],
  ['inference component', { componentStatus: 'Updating' }, 'Wait until it is'],
] as const)('an %s that is %j is not invoked, and the report says what to do', async (what, status, advice) => {
  sagemaker.deploy('e', { component: 'c', ...status });
  const { passed, failed, detail } = await checkOne({ endpoint: 'e', component: 'c' });
  expect({ passed, failed }).toEqual({ passed: ['exists', 'tagged'], failed: 'in_service' });
  expect(detail).toMatch(new RegExp(`^The ${what} .* is ${Object.values(status)[0]}, not InService.*${advice}`));
  expect(sagemaker.requests).toEqual([]);
});

test('a target without an inference component fails on an endpoint that requires one', async () => {
  sagemaker.deploy('e', { component: 'c' });
  const { failed, detail } = await checkOne({ endpoint: 'e' });
  expect(failed).toBe('answers');
  expect(detail).toContain('Inference Component Name header is required');
});

describe('a model with several targets', () => {
  test('fails if one of them fails; each has its own report, in their order', async () => {
    sagemaker.deploy('good');
    const { targets, passed } = await check([{ endpoint: 'bad' }, { endpoint: 'good' }]);
    expect(passed).toBe(false);
    expect(targets.map(({ endpoint, checks }) => [endpoint, checks.every((one) => one.passed)])).toEqual([
      ['bad', false],
      ['good', true],
    ]);
  });

  test('has at most four of them checked at a time', async () => {
    const names = Array.from({ length: 16 }, (_, i) => `e${i}`);
    for (const name of names) sagemaker.deploy(name);
    let [active, most] = [0, 0];
    const invoke: TargetCheckDependencies['invoke'] = async function* (invocation) {
      active++;
      most = Math.max(most, active);
      await eventually(async () => most >= 4, 'four are checked at the same time');
      // A fifth one would begin now.
      await nextTurn();
      yield* deps.invoke(invocation);
      active--;
    };
    const targets = names.map((endpoint) => ({ endpoint })) as unknown as NewModel['targets'];
    expect(await check(targets, {}, { invoke })).toMatchObject({ passed: true });
    expect(most).toBe(4);
  });
});

describe('checkTargets', () => {
  /** Checks against a SageMaker that answers every request with an error. */
  const checkAt = async <Result>(
    status: number,
    error: object,
    checking: (facts: TargetCheckDependencies['facts']) => Promise<Result>,
  ): Promise<Result> => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(error));
    });
    const client = new SageMakerClient({ endpoint: await listen(server, 0), maxAttempts: 1 });
    try {
      return await checking(createTargetFacts(() => client));
    } finally {
      client.destroy();
      await closeServer(server);
    }
  };

  test('reports that Sluice has no access to a region', async () => {
    const denied = { __type: 'AccessDeniedException', Message: 'User: arn:aws:sts::123456789012:assumed-role/r is not authorized' };
    const { failed, detail } = await checkAt(400, denied, (facts) => checkOne({ endpoint: 'e', region: 'eu-west-1' }, { facts }));
    expect(failed).toBe('exists');
    expect(detail).toMatch(/'eu-west-1'.*endpointRegions/);
  });

  test.each(['mars', 'eu-west-1.example.com/'])('reports that %s is not a region', async (region) => {
    const { failed, detail } = await checkOne({ endpoint: 'e', region });
    expect(failed).toBe('exists');
    expect(detail).toContain(`'${region}'`);
  });

  test.each([
    [500, 'InternalFailure'],
    [503, 'ServiceUnavailable'],
    [400, 'ThrottlingException'],
  ])('returns 503 while SageMaker is down: %i %s', async (status, name) => {
    const checking = checkAt(status, { __type: name }, (facts) => checkTargets({ ...deps, facts }, modelOf([{ endpoint: 'e' }])));
    await expect(checking).rejects.toMatchObject({ status: 503, code: 'service_unavailable', cause: { name } });
  });
});
