import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Control, controlOf, type SignedIn } from '../../support/clients/control.ts';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';

let run: TestRun;
let control: Control;
let s3: S3Client;
beforeAll(async () => {
  run = await shareTestRun();
  control = controlOf(run);
  s3 = new S3Client({
    region: 'us-east-1',
    endpoint: run.s3_endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const { token } = await control.asAdmin();
  const { price } = await control.done('POST', '/v1/instance-types/ml.g5.xlarge/prices', { token, body: { per_hour: '1.41' } });
  await eventually(async () => Date.now() >= (price.effective_at + 1) * 1_000, 'a whole second has the price');
});
afterAll(async () => {
  s3.destroy();
  await run.close();
});

interface Tenant {
  organization: string;
  owner: SignedIn;
  member: SignedIn;
}
const newTenant = async (name: string): Promise<Tenant> => {
  const { id: organization } = await control.createOrganization(name);
  const owner = await control.createUser({ role: 'owner', organization });
  return { organization, owner, member: await control.createUser({ role: 'member', organization }) };
};

const folderOf = (organization: string): string => `s3://${run.buckets.Weights}/${organization}/qwen/`;
const upload = (organization: string, file: string) =>
  s3.send(new PutObjectCommand({ Bucket: run.buckets.Weights, Key: `${organization}/qwen/${file}`, Body: '{}' }));
const bodyOf = (organization: string, fields: object = {}): object => ({
  name: 'qwen',
  model: folderOf(organization),
  runtime: 'vllm-0.27.1',
  instance_types: ['ml.g5.xlarge'],
  ...fields,
});

test('a deployment needs weights, and weights without code', async () => {
  const { organization, owner } = await newTenant('Acme');
  const create = () => control.call('POST', '/v1/deployments', { token: owner.token, body: bodyOf(organization) });
  expect(await create()).toMatchObject({ status: 400, body: { error: { param: 'model', code: 'weights_unusable' } } });
  await upload(organization, 'config.json');
  await upload(organization, 'model.py');
  expect(await create()).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('model.py') } } });
});

test('a prepaid organization creates a deployment once its credit covers 15 minutes of it, which are held', async () => {
  const { organization, owner } = await newTenant('Prepaid');
  const { token } = await control.asAdmin();
  await upload(organization, 'config.json');
  await control.done('PUT', `/v1/organizations/${organization}/limits`, { token, body: { prepaid: true } });
  const create = () => control.call('POST', '/v1/deployments', { token: owner.token, body: bodyOf(organization) });
  const grant = (amount: string) =>
    control.done('POST', `/v1/organizations/${organization}/credit-grants`, { token, body: { amount, reason: 'test' } });
  const balance = () => control.done('GET', `/v1/organizations/${organization}/balance`, { token });
  await grant('0.35');
  expect(await create()).toMatchObject({ status: 409, body: { error: { code: 'out_of_credit' } } });
  await grant('0.0025');
  const created = await create();
  expect(created.status).toBe(201);
  expect(await balance()).toMatchObject({ granted: '0.3525', available: '0', drift: '0' });
  await control.done('DELETE', `/v1/deployments/${created.body.id}`, { token: owner.token });
});

test('two organizations with the same served name neither see nor reach each other’s deployment', async () => {
  const acme = await newTenant('Acme');
  const other = await newTenant('Other');
  const ids: string[] = [];
  for (const { organization, owner } of [acme, other]) {
    await upload(organization, 'config.json');
    const estimate = await control.call('POST', '/v1/deployments', {
      token: owner.token,
      body: bodyOf(organization, { validate_only: true }),
    });
    expect(estimate).toMatchObject({ status: 200, body: { instance_types: [{ price_per_hour: { min: '1.41' } }] } });
    const { id } = await control.done('POST', '/v1/deployments', { token: owner.token, body: bodyOf(organization) });
    ids.push(id);
  }
  const [ours = '', theirs = ''] = ids;
  for (const [id, { owner, member }] of [
    [ours, other],
    [theirs, acme],
  ] as const) {
    const path = `/v1/deployments/${id}`;
    for (const { token } of [owner, member]) expect(await control.call('GET', path, { token })).toMatchObject({ status: 404 });
    expect(await control.call('DELETE', path, { token: owner.token })).toMatchObject({ status: 404 });
    expect(await control.call('POST', `${path}/stop`, { token: owner.token })).toMatchObject({ status: 404 });
  }
  const stateOf = async (id: string, { member }: Tenant): Promise<string> =>
    (await control.done('GET', `/v1/deployments/${id}`, { token: member.token })).state;
  const { body } = await control.call('GET', '/v1/deployments', { token: other.member.token });
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual([theirs]);
  for (const [id, { owner }] of [
    [ours, acme],
    [theirs, other],
  ] as const)
    expect(await control.call('DELETE', `/v1/deployments/${id}`, { token: owner.token })).toMatchObject({ status: 202 });
  expect(await stateOf(theirs, other)).toBe('deleting');
});
