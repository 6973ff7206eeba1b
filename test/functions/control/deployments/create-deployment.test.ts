import { describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createDeployment } from '../../../../functions/control/deployments/create-deployment.ts';
import { NewDeployment } from '../../../../functions/control/deployments/new-deployment.ts';
import { updateRuntime } from '../../../../functions/control/runtimes/manage-runtimes.ts';
import { FunctionError, FunctionUnavailable } from '../../../../shared/aws/function-errors.ts';
import type { Database } from '../../../../shared/database/database.ts';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { validate } from '../../../../shared/http/validate.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { type ManagedDeployments, NOW_MS, useManagedDeployments } from '../../../support/fixtures/managed-deployments.ts';

const TOKENIZER = {
  tokenizer: `sha256/${'a'.repeat(64)}/tokenizer.json`,
  chat_template: `sha256/${'b'.repeat(64)}/chat_template.jinja`,
};

let emulator: TestDatabase;
let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
useManagedDeployments((tenant) => {
  ({ emulator, managed, organization, owner } = tenant);
});

const create = (fields: object = {}, key?: string, actor: Actor = owner) => managed.create(actor, fields, key);
const putModel = (name: string, { serving }: Deployment, fields: object = {}): Promise<void> =>
  emulator.models.put(organization, {
    name,
    status: 'published',
    created: 1,
    ...serving,
    targets: [{ endpoint: 'e' }],
    prices: [{ version: 'price_1', effective_at: 0, prompt_nanos: 0, completion_nanos: 0 }],
    ...fields,
  });
const names = async (): Promise<string[]> =>
  (await managed.deps.deployments.list(organization, { limit: 100 })).deployments.map(({ name }) => name);

describe('a deployment', () => {
  test('is created with its defaults, queues a pass, and is in the audit log', async () => {
    const created = await create({ copies: { max: 3 }, environment: { SM_VLLM_MAX_MODEL_LEN: '16384' }, tags: { team: 'search' } });
    expect(created).toMatchObject({
      object: 'deployment',
      organization,
      name: 'qwen',
      runtime: 'vllm-0.27.1',
      model: `s3://weights/${organization}/qwen/`,
      copies: { min: 1, max: 3 },
      scale_to_zero_after_seconds: 1_800,
      context_length: 16_384,
      max_output_tokens: 4_096,
      default_output_tokens: 1_024,
      tags: { team: 'search' },
      state: 'pending',
      generations: [{ number: 1, status: 'creating', traffic_percent: 100 }],
      history: [{ state: 'pending', at: NOW_MS / 1_000, reason: null }],
      instances: [],
      price_per_hour: '0',
      version: 1,
    });
    expect(managed.reconciled).toEqual([created.id]);
    expect(await managed.log(organization, created.id)).toMatchObject([
      { action: 'deployment.created', changes: { name: { to: 'qwen' }, runtime: { to: 'vllm-0.27.1' } } },
    ]);
  });

  test('has the image of its region, which only admins see', async () => {
    const { id, generations } = await create();
    expect((await managed.stored(id)).generations[0]?.runtime).toEqual({
      id: 'vllm-0.27.1',
      image: '763104351884.dkr.ecr.us-east-1.amazonaws.com/vllm:server-sagemaker-cuda-v2.4',
      ami: 'al2023-ami-sagemaker-inference-gpu-4-1',
      dialect: 'vllm',
    });
    expect(JSON.stringify(generations)).not.toMatch(/dkr\.ecr|763104351884/);
    expect(JSON.stringify(await managed.log(organization, id))).not.toMatch(/dkr\.ecr|arn:/);
  });

  test('uses all accelerators of a copy, unless its owner says otherwise', async () => {
    const four = { instance_types: ['ml.g5.12xlarge'], accelerators: 4 };
    expect(await create(four)).toMatchObject({ environment: { SM_VLLM_TENSOR_PARALLEL_SIZE: '4' } });
    const two = { name: 'two', ...four, environment: { SM_VLLM_TENSOR_PARALLEL_SIZE: '2' } };
    expect(await create(two)).toMatchObject({ environment: { SM_VLLM_TENSOR_PARALLEL_SIZE: '2' } });
    const many = { name: 'many', ...four, environment: { SM_VLLM_TENSOR_PARALLEL_SIZE: '8' } };
    await expect(create(many)).rejects.toMatchObject({ status: 400, param: 'environment.SM_VLLM_TENSOR_PARALLEL_SIZE' });
  });

  test('is created even if no pass can be queued: the schedule finds it', async () => {
    managed.setReconcileFails(true);
    expect(await create()).toMatchObject({ state: 'pending' });
    expect(await names()).toEqual(['qwen']);
  });
});

describe('a repeated creation', () => {
  test('returns the same deployment, by its name and by its idempotency key, and creates nothing twice', async () => {
    const { id } = await create({ tags: { a: '1', b: '2' } }, 'key-1');
    expect(await create({ tags: { b: '2', a: '1' } })).toMatchObject({ id });
    expect(await create({ tags: { a: '1', b: '2' } }, 'key-1')).toMatchObject({ id });
    expect(managed.reconciled).toEqual([id]);
    expect(await names()).toEqual(['qwen']);
  });

  test('rejects another body: 409 for the name, 422 for the idempotency key', async () => {
    await create({}, 'key-1');
    await expect(create({ copies: { min: 2 } })).rejects.toMatchObject({ status: 409, code: 'deployment_exists' });
    await expect(create({ name: 'other' }, 'key-1')).rejects.toMatchObject({ status: 422, code: 'idempotency_key_reused' });
    await expect(create({ copies: { min: 2 } }, 'key-2')).rejects.toMatchObject({ status: 409 });
    expect(await names()).toEqual(['qwen']);
  });

  test('creates one deployment if both arrive at the same time', async () => {
    const made = await Promise.all([create({}, 'key-1'), create({}, 'key-1'), create()]);
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await names()).toEqual(['qwen']);
  });

  test('waits for the deletion of the deployment with its name', async () => {
    const { id } = await create();
    await managed.observe(id, (before) => ({ ...before, wanted: 'deleted', state: 'deleting' }));
    await expect(create()).rejects.toMatchObject({ status: 409, code: 'deployment_deleted' });
  });

  test('ignores the idempotency keys and names of other organizations', async () => {
    const { id } = await create({}, 'key-1');
    const { owner: other } = await managed.newTenant();
    expect((await create({}, 'key-1', other)).id).not.toBe(id);
  });
});

describe('createDeployment', () => {
  test.each<[string, object, string]>([
    ['an unknown runtime', { runtime: 'vllm' }, 'runtime'],
    ['an unknown instance type', { instance_types: ['ml.g5.xlarge', 'ml.g1.xlarge'] }, 'instance_types[1]'],
    ['an instance type with too few accelerators', { accelerators: 2 }, 'instance_types[0]'],
    ['a folder of another organization', { model: 's3://weights/org_other/qwen/' }, 'model'],
    ['a folder of another bucket', { model: 's3://others/qwen/' }, 'model'],
    ['a model of the Hub, which is not allowed', { model: 'Qwen/Qwen3-8B' }, 'model'],
    ['fewer copies at most than at least', { copies: { min: 2, max: 1 } }, 'copies.max'],
    ['a longer context than the runtime’s', { context_length: 9_000, environment: { SM_VLLM_MAX_MODEL_LEN: '8192' } }, 'context_length'],
    ['more output than context', { context_length: 1_000, max_output_tokens: 2_000 }, 'max_output_tokens'],
  ])('rejects %s', async (_, fields, param) => {
    await expect(create(fields)).rejects.toMatchObject({ status: 400, param });
    expect(managed.asked).toEqual([]);
  });

  test('rejects the whole folder of the organization, and one that leaves it', async () => {
    for (const folder of ['', '../org_other/', 'a/../../org_other/', 'a//', 'a?b/'])
      await expect(create({ model: `s3://weights/${organization}/${folder}` })).rejects.toMatchObject({ status: 400, param: 'model' });
  });

  test.each<[string, object, string]>([
    ['SM_VLLM_API_KEY', { SM_VLLM_API_KEY: 'x' }, 'SM_VLLM_DTYPE'],
    ['SM_VLLM_TRUST_REMOTE_CODE', { SM_VLLM_TRUST_REMOTE_CODE: 'true' }, 'SM_VLLM_DTYPE'],
    ['SM_VLLM_SERVED_MODEL_NAME', { SM_VLLM_SERVED_MODEL_NAME: 'x' }, 'SM_VLLM_DTYPE'],
    ['SM_VLLM_CHAT_TEMPLATE', { SM_VLLM_CHAT_TEMPLATE: 'x' }, 'SM_VLLM_DTYPE'],
    ['STANDARD_AUTO_INSTALL_REQ', { STANDARD_AUTO_INSTALL_REQ: 'true' }, 'SM_VLLM_DTYPE'],
    ['LD_PRELOAD', { LD_PRELOAD: '/x.so' }, 'SM_VLLM_DTYPE'],
    ['a list as a value', { SM_VLLM_DTYPE: '["auto","--trust-remote-code"]' }, 'one word'],
    ['another argument as a value', { SM_VLLM_DTYPE: '--trust-remote-code' }, 'one word'],
    ['a value that is no number', { SM_VLLM_MAX_NUM_SEQS: '1 --host' }, 'positive integer'],
  ])('rejects the variable %s with an error that says what is allowed', (_, environment, words) => {
    const body = { name: 'a', model: 'a/b', runtime: 'r', instance_types: ['t'], environment };
    expect(() => validate(NewDeployment, body)).toThrow(words);
  });

  test.each([
    { scale_to_zero_after_seconds: 59 },
    { copies: { max: 101 } },
    { tags: { 'aws:x': 'y' } },
    { tags: { 'sluice:organization': 'org_other' } },
    { name: 'two words' },
    { instance_types: [] },
    { instance_types: ['a', 'a'] },
    { copies: { max: 0 } },
  ])('rejects %j', (fields) => {
    const body = { name: 'a', model: 'a/b', runtime: 'r', instance_types: ['t'] };
    expect(NewDeployment.safeParse(body).success).toBe(true);
    expect(NewDeployment.safeParse({ ...body, ...fields }).success).toBe(false);
  });

  test('rejects an instance type without a price: only an admin can add one', async () => {
    await expect(create({ instance_types: ['ml.p5.48xlarge'] })).rejects.toMatchObject({
      status: 409,
      code: 'instance_type_not_priced',
      message: expect.stringContaining('POST /v1/instance-types/ml.p5.48xlarge/prices'),
    });
  });

  test('rejects a retired runtime', async () => {
    await updateRuntime(managed.deps, managed.admin, 'vllm-0.30.0', { status: 'retired' });
    await expect(create({ runtime: 'vllm-0.30.0' })).rejects.toMatchObject({ status: 400, param: 'runtime' });
  });

  test('rejects missing weights with the error of the check', async () => {
    managed.setFindings({ weights: { passed: false, message: 'The folder is empty. Upload the files first.' } });
    await expect(create()).rejects.toMatchObject({
      status: 400,
      param: 'model',
      message: expect.stringContaining('Upload the files first.'),
    });
    expect(managed.asked).toEqual([
      { organization, model: `s3://weights/${organization}/qwen/`, allows_code: false, instance_types: ['ml.g5.xlarge'] },
    ]);
    expect(await names()).toEqual([]);
  });

  test('rejects unregistered tokenizer files, and says what to do', async () => {
    for (const tokenizer of [
      'other-org/tokenizer.json',
      '../x',
      'a\0b',
      `sha256/${'a'.repeat(64)}/secret.json`,
      `x/sha256/${'a'.repeat(64)}/tokenizer.json`,
    ])
      for (const validate_only of [false, true])
        expect(() => validate(NewDeployment, { ...managed.bodyOf(owner), validate_only, tokenizer: { tokenizer } })).toThrow(
          expect.objectContaining({
            status: 400,
            param: 'tokenizer.tokenizer',
            message: expect.stringContaining('npm run admin -- register-tokenizer'),
          }),
        );
    const template = { ...TOKENIZER, chat_template: 'other-org/secret-template.jinja' };
    expect(() => validate(NewDeployment, { ...managed.bodyOf(owner), tokenizer: template })).toThrow(
      expect.objectContaining({ param: 'tokenizer.chat_template' }),
    );
  });

  test('rejects a tokenizer that can’t count, with the error of the check, or that doesn’t answer', async () => {
    managed.setCount(async () => {
      throw new FunctionUnavailable(new FunctionError('tokenizer', 'NoSuchKey', 'The specified key does not exist.'));
    });
    await expect(create({ tokenizer: TOKENIZER })).rejects.toMatchObject({
      status: 400,
      code: 'tokenizer_unusable',
      param: 'tokenizer',
      message: expect.stringContaining('The specified key does not exist'),
    });
    managed.setCount(async () => ({ prompt_tokens: null, kept: null }));
    await expect(create({ tokenizer: TOKENIZER, validate_only: true })).rejects.toMatchObject({ status: 400, code: 'tokenizer_unusable' });
    managed.setCount(async () => {
      throw new FunctionUnavailable(new Error('Lambda is away.'));
    });
    await expect(create({ tokenizer: TOKENIZER })).rejects.toMatchObject({ status: 503 });
    expect(await names()).toEqual([]);
    managed.setCount(async () => ({ prompt_tokens: 9, kept: null }));
    expect(await create({ tokenizer: TOKENIZER })).toMatchObject({ tokenizer: TOKENIZER });
    expect(managed.counted.at(-1)).toMatchObject({ files: TOKENIZER, organization });
  });

  test('rejects code in the weights, unless an admin allows it', async () => {
    await expect(create({ allow_code: true })).rejects.toMatchObject({ status: 403, param: 'allow_code' });
    const fields = { organization, model: `s3://weights/${organization}/qwen/`, allow_code: true };
    expect(await create(fields, undefined, managed.admin)).toMatchObject({ allow_code: true, organization });
    expect(managed.asked).toMatchObject([{ allows_code: true }]);
  });

  test('rejects the name of a model that an admin registered for the organization', async () => {
    const { id } = await create();
    await putModel('registered', await managed.stored(id));
    await expect(create({ name: 'registered' })).rejects.toMatchObject({ status: 409, code: 'model_exists' });
  });

  test('rejects another organization, and an admin who names none', async () => {
    const { organization: other } = await managed.newTenant();
    await expect(create({ organization: other })).rejects.toMatchObject({ status: 404, code: 'organization_not_found' });
    await expect(create({}, undefined, managed.admin)).rejects.toMatchObject({ status: 400, param: 'organization' });
  });

  test('rejects a suspended organization, also from an admin', async () => {
    await managed.suspend(organization);
    const fields = { organization, model: `s3://weights/${organization}/qwen/` };
    await expect(create(fields, undefined, managed.admin)).rejects.toMatchObject({ status: 403, code: 'organization_suspended' });
  });

  test('fails in its transaction if the owner was demoted meanwhile', async () => {
    await managed.demote(owner);
    await expect(create()).rejects.toMatchObject({ status: 403, code: 'rights_changed' });
    expect(await names()).toEqual([]);
  });
});

describe('an organization with twenty deployments', () => {
  test('gets no more of them, not even by concurrent creations', async () => {
    for (let i = 1; i < 20; i++) await create({ name: `n${i}` });
    const { promise: bothArrived, resolve } = Promise.withResolvers<void>();
    let arrived = 0;
    // Both creations have counted nineteen before either is stored.
    const paired: Database = {
      ...emulator.database,
      transactWrite: async (input) => {
        if (++arrived === 2) resolve();
        await bothArrived;
        await emulator.database.transactWrite(input);
      },
    };
    const last = (name: string) => createDeployment(managed.depsOver(paired), owner, managed.bodyOf(owner, { name }));
    const made = await Promise.allSettled([last('a'), last('b')]);
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(made.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 409, code: 'too_many_deployments' } });
    expect(await names()).toHaveLength(20);
  });
});

describe('a validation', () => {
  const estimate = async (fields: object = {}) => {
    const { deployment, estimate: found } = await createDeployment(
      managed.deps,
      owner,
      managed.bodyOf(owner, { validate_only: true, ...fields }),
    );
    expect(deployment).toBeNull();
    return found;
  };

  test('creates nothing, and returns price, quota and start', async () => {
    managed.setFindings({ quotas: [{ instance_type: 'ml.g5.12xlarge', limit: 8, used: 5 }] });
    managed.setStartSeconds([300, 400, 500]);
    const found = await estimate({ instance_types: ['ml.g5.12xlarge', 'ml.g5.xlarge'], copies: { min: 2, max: 9 } });
    expect(found).toEqual({
      instance_types: [
        {
          instance_type: 'ml.g5.12xlarge',
          copies_per_instance: 4,
          price_per_hour: { min: '7', max: '21' },
          quota: { limit: 8, used: 5, left: 3 },
        },
        { instance_type: 'ml.g5.xlarge', copies_per_instance: 1, price_per_hour: { min: '2.82', max: '12.69' }, quota: null },
      ],
      start: { p50_seconds: 400, p90_seconds: 500 },
      schedule: null,
      warnings: [],
    });
    expect(await names()).toEqual([]);
    expect(managed.reconciled).toEqual([]);
    expect(await managed.log(organization, 'qwen')).toEqual([]);
  });

  test('warns of a quota that is too small, which does not keep the deployment from being created', async () => {
    managed.setFindings({ quotas: [{ instance_type: 'ml.g5.xlarge', limit: 1, used: 1 }] });
    const { warnings = [] } = (await estimate()) ?? {};
    expect(warnings).toEqual([expect.stringMatching(/can't start on ml\.g5\.xlarge.*needed: 1, left: 0/)]);
    expect(await create()).toMatchObject({ state: 'pending' });
  });

  test('runs the same checks as a creation', async () => {
    managed.setFindings({ weights: { passed: false, message: 'The folder is empty.' } });
    await expect(estimate()).rejects.toMatchObject({ status: 400, param: 'model' });
    await expect(estimate({ runtime: 'vllm' })).rejects.toMatchObject({ status: 400, param: 'runtime' });
  });

  test('rejects a name in use as the creation would, unless it is the same deployment', async () => {
    const { id } = await create();
    await putModel('qwen', await managed.stored(id), { deployment: { id, is_ready: false } });
    await expect(estimate({ copies: { max: 9 } })).rejects.toMatchObject({ status: 409, code: 'deployment_exists' });
    expect(await estimate()).toMatchObject({ instance_types: [{ instance_type: 'ml.g5.xlarge' }] });
  });

  test('rejects a deployment beyond an organization’s twenty', async () => {
    for (let i = 0; i < 20; i++) await create({ name: `qwen-${i}` });
    await expect(estimate()).rejects.toMatchObject({ status: 409, code: 'too_many_deployments' });
  });
});
