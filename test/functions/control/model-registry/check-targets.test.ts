import { createServer } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SageMakerClient } from '@aws-sdk/client-sagemaker';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type CheckDependencies, checkTargets } from '../../../../functions/control/model-registry/check-targets.ts';
import { createEndpointFacts, createSageMakerClients } from '../../../../functions/control/model-registry/endpoint-facts.ts';
import { RegistrationReport } from '../../../../functions/control/model-registry/registration-report.ts';
import { closeServer, listen } from '../../../../infra/local/http/listen.ts';
import { Model, type NewModel } from '../../../../shared/models/model.ts';
import { createTokenizer } from '../../../../shared/tokens/tokenizer.ts';
import { createInvoke } from '../../../../shared/upstream/invoke.ts';
import { startFakeLambda } from '../../../support/fake-lambda.ts';
import { startFakeSageMaker } from './fake-sagemaker.ts';

let sagemaker: Awaited<ReturnType<typeof startFakeSageMaker>>;
let lambda: Awaited<ReturnType<typeof startFakeLambda>>;
let deps: CheckDependencies;
beforeAll(async () => {
  lambda = await startFakeLambda();
  sagemaker = await startFakeSageMaker();
  deps = {
    facts: createEndpointFacts(createSageMakerClients()),
    invoke: createInvoke(),
    tokenizer: createTokenizer('the-tokenizer'),
    endpointTag: 'sluice',
    now: Date.now,
  };
});
afterAll(async () => {
  await sagemaker.close();
  await lambda.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  sagemaker.reset();
});
afterEach(() => {
  jest.restoreAllMocks();
});

const modelOf = (targets: NewModel['targets'], change: Partial<NewModel> = {}): Model =>
  Model.parse({
    name: 'm',
    status: 'unpublished',
    created: 0,
    context_length: 10,
    max_output_tokens: 5,
    default_output_tokens: 5,
    targets,
    prices: [{ version: '1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
    ...change,
  });

/** Runs the checks; the report must have the documented shape and must not leak internals. */
const check = async (targets: NewModel['targets'], change: Partial<NewModel> = {}, other: Partial<CheckDependencies> = {}) => {
  const report = await checkTargets({ ...deps, ...other }, modelOf(targets, change));
  expect(RegistrationReport.parse(report)).toEqual(report);
  expect(JSON.stringify(report)).not.toMatch(/arn:|\d{12}|https?:|Traceback|the-tokenizer/);
  return report;
};

/** The first target's passed checks, and its failed check with its detail. */
const checkOne = async (target: NewModel['targets'][0], other: Partial<CheckDependencies> = {}) => {
  const { targets, passed } = await check([target], {}, other);
  const checks = targets[0]?.checks ?? [];
  const failed = checks.find((one) => !one.passed);
  expect(checks.map(({ name }) => name)).toEqual(['exists', 'tagged', 'in_service', 'answers']);
  expect(passed).toBe(failed === undefined);
  return { passed: checks.filter((one) => one.passed).map(({ name }) => name), failed: failed?.name, detail: failed?.detail };
};

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
    expect(sagemaker.requests).toEqual([
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
  ])('is not invoked, and the report names the resource without the tag: %s', async (_, tags, lacking) => {
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

describe('a container that does not answer as it should', () => {
  const failedDetail = async (other: Partial<CheckDependencies> = {}): Promise<string> => {
    sagemaker.deploy('e');
    const { passed, failed, detail = '' } = await checkOne({ endpoint: 'e' }, other);
    expect({ passed, failed }).toEqual({ passed: ['exists', 'tagged', 'in_service'], failed: 'answers' });
    return detail;
  };

  test('is reported with its own error text', async () => {
    sagemaker.answersError(500, 'CUDA out of memory');
    expect(await failedDetail()).toContain('CUDA out of memory');
  });

  test('is reported without its traceback', async () => {
    sagemaker.answersError(500, 'It broke.\nTraceback (most recent call last):\n  File "/opt/server/secret.py", line 3');
    expect(await failedDetail()).not.toMatch(/secret|line 3/);
    sagemaker.answersError(500, 'Traceback (most recent call last):\n  File "/opt/server/secret.py", line 3');
    expect(await failedDetail()).toMatch(/Received server error \(500\) from primary\. See/);
  });

  test('is reported with its error about the model name', async () => {
    sagemaker.answersError(404, { error: { message: 'The model `inner` does not exist.', code: 404 } });
    expect(await failedDetail()).toMatch(/The model `inner` does not exist.*container_model/);
  });

  test('is reported with its reason for rejecting the request', async () => {
    sagemaker.answersError(400, { error: { message: 'This model has no chat template.' } });
    expect(await failedDetail()).toContain('This model has no chat template.');
  });

  test('is reported with the dialect if it does not understand it', async () => {
    sagemaker.answersError(422, { detail: [{ loc: ['body', 'inputs'], msg: 'Field required' }] });
    expect(await failedDetail()).toContain("dialect 'vllm'");
  });

  test('fails if its answer is incomplete', async () => {
    sagemaker.answers((_request, response) => response.end('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'));
    expect(await failedDetail()).toContain('ended before it was complete');
  });

  test('fails if it does not answer in time', async () => {
    sagemaker.answers(() => undefined);
    expect(await failedDetail({ probeTimeoutMs: 50 })).toContain('within 0.05 s');
  });
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
    const invoke: CheckDependencies['invoke'] = async function* (invocation) {
      active++;
      most = Math.max(most, active);
      await nextTurn();
      yield* deps.invoke(invocation);
      active--;
    };
    const targets = names.map((endpoint) => ({ endpoint })) as unknown as NewModel['targets'];
    expect(await check(targets, {}, { invoke })).toMatchObject({ passed: true });
    expect(most).toBe(4);
  });
});

describe('if SageMaker returns an error', () => {
  /** Checks against a SageMaker that answers every request with an error. */
  const checkAt = async <Result>(
    status: number,
    error: object,
    checking: (facts: CheckDependencies['facts']) => Promise<Result>,
  ): Promise<Result> => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(error));
    });
    const client = new SageMakerClient({ endpoint: await listen(server, 0), maxAttempts: 1 });
    try {
      return await checking(createEndpointFacts(() => client));
    } finally {
      client.destroy();
      await closeServer(server);
    }
  };

  test('because Sluice has no access to a region, the report says so', async () => {
    const denied = { __type: 'AccessDeniedException', Message: 'User: arn:aws:sts::123456789012:assumed-role/r is not authorized' };
    const { failed, detail } = await checkAt(400, denied, (facts) => checkOne({ endpoint: 'e', region: 'eu-west-1' }, { facts }));
    expect(failed).toBe('exists');
    expect(detail).toMatch(/'eu-west-1'.*endpointRegions/);
  });

  test.each(['mars', 'eu-west-1.example.com/'])('because %s is not a region, the report says so', async (region) => {
    const { failed, detail } = await checkOne({ endpoint: 'e', region });
    expect(failed).toBe('exists');
    expect(detail).toContain(`'${region}'`);
  });

  test.each([
    [500, 'InternalFailure'],
    [503, 'ServiceUnavailable'],
    [400, 'ThrottlingException'],
  ])('because it is down (%i %s), the check returns 503', async (status, name) => {
    const checking = checkAt(status, { __type: name }, (facts) => checkTargets({ ...deps, facts }, modelOf([{ endpoint: 'e' }])));
    await expect(checking).rejects.toMatchObject({ status: 503, code: 'service_unavailable', cause: { name } });
  });
});

describe("a model's own tokenizer", () => {
  const checkTokenizer = async () => {
    sagemaker.deploy('e');
    const { tokenizer, passed } = await check([{ endpoint: 'e' }], { tokenizer: { tokenizer: 'sha256/1/tokenizer.json' } });
    expect(passed).toBe(tokenizer?.passed);
    return tokenizer;
  };

  test('passes when it counts a conversation', async () => {
    lambda.answers((response) => response.end('{"prompt_tokens":7,"kept":null}'));
    expect(await checkTokenizer()).toEqual({ passed: true, detail: expect.stringContaining('7 tokens') });
    expect(JSON.parse(lambda.received[0]?.body ?? '')).toMatchObject({
      operation: 'fit',
      files: { tokenizer: 'sha256/1/tokenizer.json' },
      prompt: { messages: [{ role: 'user' }] },
    });
  });

  test.each([
    ['its template fails', '{"prompt_tokens":null,"kept":null}', 'chat template'],
    ['its template renders nothing', '{"prompt_tokens":0,"kept":null}', 'chat template'],
    ['its template rejects the message', '{"refused":"A system message is needed.","by":"template"}', 'A system message is needed.'],
  ])('fails when %s, and so does the whole model', async (_, answer, words) => {
    lambda.answers((response) => response.end(answer));
    expect(await checkTokenizer()).toEqual({ passed: false, detail: expect.stringContaining(words) });
  });

  test('fails and names the file when a file is invalid', async () => {
    lambda.answers((response) => {
      response.setHeader('x-amz-function-error', 'Unhandled');
      response.end('{"errorType":"Error","errorMessage":"tokenizer.json is not JSON."}');
    });
    expect(await checkTokenizer()).toEqual({ passed: false, detail: expect.stringContaining('tokenizer.json is not JSON.') });
  });

  test('fails and asks for another check when it is unavailable', async () => {
    lambda.answers((response) => response.writeHead(503).end('{}'));
    expect(await checkTokenizer()).toEqual({ passed: false, detail: expect.stringContaining('Check again') });
  });
});

describe('checks with a total timeout', () => {
  const never = new Promise<never>(() => undefined);

  test('fail when it ends, and no other check is started', async () => {
    const described: string[] = [];
    const facts = {
      describe: async ({ endpoint }: Model['targets'][0]) => {
        described.push(endpoint);
        return never;
      },
    };
    const targets: NewModel['targets'] = [{ endpoint: 'a' }, { endpoint: 'b' }, { endpoint: 'c' }, { endpoint: 'd' }, { endpoint: 'e' }];
    const tokenizer = { fit: async () => never };
    const report = await check(targets, { tokenizer: { tokenizer: 'k' } }, { facts, tokenizer, totalTimeoutMs: 20 });
    expect(report).toMatchObject({ passed: false, tokenizer: { passed: false, detail: expect.stringContaining('timed out') } });
    for (const { checks } of report.targets)
      expect(checks[0]).toMatchObject({ name: 'exists', passed: false, detail: expect.stringContaining('timed out') });
    expect(report.targets.map(({ endpoint }) => endpoint)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(described).toEqual(['a', 'b', 'c', 'd']);
  });

  test('pass if they finish in time', async () => {
    sagemaker.deploy('e');
    expect(await check([{ endpoint: 'e' }], {}, { totalTimeoutMs: 25_000 })).toMatchObject({ passed: true });
  });
});
