import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BUILT_IN_RUNTIMES } from '../../../../functions/control/runtimes/built-in-runtimes.ts';
import { imageUri, isPinnedImage } from '../../../../functions/control/runtimes/image-uri.ts';
import {
  createRuntime,
  listRuntimes,
  type RuntimeDependencies,
  retrieveRuntime,
  updateRuntime,
} from '../../../../functions/control/runtimes/manage-runtimes.ts';
import { NewRuntime, RuntimeList, RuntimeUpdate } from '../../../../functions/control/runtimes/runtime.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { catalogueOf } from '../../../support/fixtures/deployment-catalogue.ts';
import { actorOf, admin, manage } from '../../../support/fixtures/managed-models.ts';

let emulator: TestDatabase;
let deps: RuntimeDependencies;
let log: ReturnType<typeof manage>['log'];
beforeAll(async () => {
  emulator = await startTestDatabase();
  const managed = manage(emulator);
  deps = { ...managed.deps, catalogue: catalogueOf(emulator) };
  ({ log } = managed);
});
afterAll(() => emulator.close());

const member = actorOf('member', 'org_1');
const create = (fields: object) => createRuntime(deps, admin, NewRuntime.parse(fields));
const update = (id: string, fields: object, expected?: number[]) => updateRuntime(deps, admin, id, RuntimeUpdate.parse(fields), expected);
const OWN = '123456789012.dkr.ecr.us-east-1.amazonaws.com/team/vllm:0.27.1-patched';

describe('the catalogue of runtimes', () => {
  test('is not empty in a new installation, and has exact tags only', async () => {
    const { data } = RuntimeList.parse(await listRuntimes(deps, admin));
    expect(data.map(({ id }) => id)).toEqual(['vllm-0.27.0', 'vllm-0.27.1', 'vllm-0.30.0']);
    expect(BUILT_IN_RUNTIMES.filter(({ image }) => !isPinnedImage(image))).toEqual([]);
    expect(data.every(({ status, version }) => status === 'available' && version === 0)).toBe(true);
  });

  test('shows images to admins only', async () => {
    expect(await retrieveRuntime(deps, admin, 'vllm-0.27.1')).toMatchObject({ image: 'vllm:server-sagemaker-cuda-v2.4' });
    expect(JSON.stringify(await listRuntimes(deps, member))).not.toContain('server-sagemaker');
  });

  test('takes an image of the admin’s own, and the audit log has it', async () => {
    const created = await create({ id: 'patched', image: OWN });
    expect(created).toMatchObject({ id: 'patched', dialect: 'vllm', status: 'available', image: OWN, ami: null, version: 1 });
    await expect(create({ id: 'patched', image: OWN })).rejects.toMatchObject({ status: 409, code: 'runtime_exists' });
    await expect(create({ id: 'vllm-0.27.1', image: OWN })).rejects.toMatchObject({ status: 409, code: 'runtime_exists' });
    expect(await update('patched', { ami: 'al2-ami-sagemaker-inference-gpu-3-1' })).toMatchObject({ version: 2 });
    expect((await log(null, 'patched')).map(({ action }) => action).sort()).toEqual(['runtime.created', 'runtime.updated']);
  });

  test('retires an entry of the release, once', async () => {
    expect(await update('vllm-0.27.0', { status: 'retired' }, [0])).toMatchObject({ status: 'retired', version: 1 });
    await expect(update('vllm-0.27.0', { status: 'available' }, [0])).rejects.toMatchObject({ status: 412 });
    expect(await retrieveRuntime(deps, member, 'vllm-0.27.0')).toMatchObject({ status: 'retired' });
    expect(await update('vllm-0.27.0', { status: 'available' }, [1])).toMatchObject({ version: 2 });
  });

  test('lets only one of two concurrent first changes of an entry pass', async () => {
    const read = await deps.catalogue.runtimes.get('vllm-0.30.0');
    await update('vllm-0.30.0', { description: 'a' });
    const { runtimes } = deps.catalogue;
    const late = { ...deps, catalogue: { ...deps.catalogue, runtimes: { ...runtimes, get: async () => read } } };
    await expect(updateRuntime(late, admin, 'vllm-0.30.0', { description: 'b' })).rejects.toMatchObject({ status: 412 });
    expect(await retrieveRuntime(deps, admin, 'vllm-0.30.0')).toMatchObject({ description: 'a' });
  });

  test('does not know other ids', async () => {
    await expect(retrieveRuntime(deps, member, 'vllm')).rejects.toMatchObject({ status: 404, code: 'runtime_not_found' });
  });
});

describe('an image', () => {
  test.each([
    'vllm:server-sagemaker-cuda-v2',
    'vllm:latest',
    'vllm',
    '123456789012.dkr.ecr.us-east-1.amazonaws.com/vllm',
    '123456789012.dkr.ecr.us-east-1.amazonaws.com/vllm:latest',
    'docker.io/vllm/vllm-openai:v0.27.1',
    'vllm:0.27.1 --privileged',
  ])('%s is rejected, because it can change or is not in ECR', (image) => {
    expect(NewRuntime.safeParse({ id: 'a', image }).success).toBe(false);
  });

  test.each([
    OWN,
    `123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/vllm@sha256:${'a'.repeat(64)}`,
    'djl-inference:0.36.0-lmi28.0.0-cu130',
  ])('%s is accepted', (image) => {
    expect(NewRuntime.safeParse({ id: 'a', image }).success).toBe(true);
  });

  test.each([
    ['us-east-1', '763104351884.dkr.ecr.us-east-1.amazonaws.com/vllm:v2.4'],
    ['eu-central-2', '380420809688.dkr.ecr.eu-central-2.amazonaws.com/vllm:v2.4'],
    ['eu-south-1', '692866216735.dkr.ecr.eu-south-1.amazonaws.com/vllm:v2.4'],
    ['cn-north-1', '727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn/vllm:v2.4'],
  ])('is in the account of AWS for the region %s', (region, uri) => {
    expect(imageUri('vllm:v2.4', region)).toBe(uri);
    expect(imageUri(OWN, region)).toBe(OWN);
  });
});
