import { expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createCallCounter } from '../../../../functions/control/access/count-call.ts';
import { deploymentRoutes } from '../../../../functions/control/deployments/routes.ts';
import type { SignedInUser } from '../../../../functions/control/sessions/authenticate.ts';
import { createQuotaStore } from '../../../../shared/quotas/quota-store.ts';
import { eventOf } from '../../../support/emulators/api-event.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { type ManagedDeployments, useManagedDeployments } from '../../../support/fixtures/managed-deployments.ts';

let emulator: TestDatabase;
let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
useManagedDeployments((tenant) => {
  ({ emulator, managed, organization, owner } = tenant);
});

interface Sent {
  id?: string;
  body?: object;
  headers?: Record<string, string>;
}

const send = async (operationId: string, { id, body, headers = {} }: Sent = {}) => {
  const found = deploymentRoutes.find((route) => route.operationId === operationId);
  if (!found) throw new Error(`There is no ${operationId}.`);
  const event = { ...eventOf(found.path, { method: found.method, headers }), requestContext: {} } as ReturnType<typeof eventOf>;
  const request = { ...event, pathParameters: id === undefined ? null : { id }, body: body ? JSON.stringify(body) : null };
  const authenticate = async () => ({ actor: owner }) as SignedInUser;
  const calls = createCallCounter(createQuotaStore(emulator.database, emulator.tables.Attempts as string));
  const reply = await found.handle({ ...managed.deps, authenticate, calls }, request);
  return { status: reply.statusCode, etag: reply.headers.etag, body: JSON.parse(reply.body) };
};

const body = () => ({
  name: 'qwen',
  model: `s3://weights/${organization}/qwen`,
  runtime: 'vllm-0.27.1',
  instance_types: ['ml.g5.xlarge'],
});

test('a creation returns 201, its ETag and an estimate; a validation 200 and only the estimate', async () => {
  const validated = await send('createDeployment', { body: { ...body(), validate_only: true } });
  expect([validated.status, validated.etag]).toEqual([200, undefined]);
  const created = await send('createDeployment', { body: body() });
  expect([created.status, created.etag]).toEqual([201, '"1"']);
  expect(created.body.estimate).toEqual(validated.body);
  expect(created.body.estimate).toMatchObject({ instance_types: [{ price_per_hour: { min: '1.41', max: '1.41' } }] });
});

test('a creation with an idempotency key is made once, and has no estimate the second time', async () => {
  const headers = { 'Idempotency-Key': 'a-key' };
  const first = await send('createDeployment', { body: body(), headers });
  const second = await send('createDeployment', { body: body(), headers });
  expect([second.status, second.body.id, second.body.estimate]).toEqual([201, first.body.id, null]);
  const other = send('createDeployment', { body: { ...body(), name: 'other' }, headers });
  await expect(other).rejects.toMatchObject({ status: 422, code: 'idempotency_key_reused' });
});

test('changes take an ETag, and stop, start and delete are accepted with 202', async () => {
  const { body: created } = await send('createDeployment', { body: body() });
  const { id } = created;
  const updated = await send('updateDeployment', { id, body: { copies: { max: 2 } }, headers: { 'If-Match': '"1"' } });
  expect([updated.status, updated.etag]).toEqual([200, '"2"']);
  await expect(send('stopDeployment', { id, headers: { 'If-Match': '"1"' } })).rejects.toMatchObject({ status: 412 });
  expect(await send('stopDeployment', { id, headers: { 'If-Match': '"2"' } })).toMatchObject({ status: 202, etag: '"3"' });
  expect(await send('startDeployment', { id })).toMatchObject({ status: 202, body: { state: 'pending' } });
  expect(await send('deleteDeployment', { id })).toMatchObject({ status: 202, body: { state: 'deleting' } });
  expect(await send('retrieveDeployment', { id })).toMatchObject({ status: 200, etag: '"5"' });
});
