import { describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { retryDeployment, startDeployment, stopDeployment } from '../../../../functions/control/deployments/control-deployment.ts';
import { createDeployment } from '../../../../functions/control/deployments/create-deployment.ts';
import { DeploymentUpdate } from '../../../../functions/control/deployments/new-deployment.ts';
import { updateDeployment } from '../../../../functions/control/deployments/update-deployment.ts';
import { availableNanosOf, type LimiterItem } from '../../../../shared/admission/item/limiter-item.ts';
import { shardId } from '../../../../shared/admission/item/shards.ts';
import { planSplit } from '../../../../shared/admission/plans/split-shard.ts';
import { type Deployment, inState } from '../../../../shared/deployments/deployment.ts';
import type { DeploymentState } from '../../../../shared/deployments/state.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';
import { type ManagedDeployments, NOW_MS, useManagedDeployments } from '../../../support/fixtures/managed-deployments.ts';

// A quarter of an hour of an ml.g5.xlarge, which costs $1.41 an hour.
const STEP = 352_500_000n;

let emulator: TestDatabase;
let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
useManagedDeployments((tenant) => {
  ({ emulator, managed, organization, owner } = tenant);
});

let grants = 0;
const payFromCredit = async (nanos: bigint): Promise<void> => {
  grants = 0;
  await limitOrganization(emulator.limiters, organization, { isPrepaid: true });
  await grant(nanos);
};
const grant = async (nanos: bigint): Promise<void> => {
  if (nanos > 0n) expect(await emulator.limiters.addGrant(organization, ++grants, nanos)).toBe(true);
};
const available = async (): Promise<bigint> => {
  const item = await emulator.limiters.get(organization);
  return item ? availableNanosOf(item) : 0n;
};
const held = async (id: string): Promise<bigint> => (await managed.stored(id)).meter?.held_nanos ?? 0n;
const update = (id: string, fields: object) => updateDeployment(managed.deps, owner, { id }, DeploymentUpdate.parse(fields));

// Created by an organization that pays by invoice, which then pays from credit.
const deploymentIn = async (state: DeploymentState, fields: Partial<Deployment> = {}): Promise<string> => {
  const { id } = await managed.create(owner);
  await managed.observe(id, (before) => {
    const status = state === 'failed' ? ('failed' as const) : ('ready' as const);
    const generations = before.generations.map((each) => ({ ...each, status }));
    return inState({ ...before, generations, progress: { ...before.progress, ready: 1 }, ...fields }, state, NOW_MS);
  });
  managed.reset();
  return id;
};

const OUT_OF_CREDIT = { status: 409, code: 'out_of_credit' };

describe('a prepaid deployment without credit for 15 minutes of its minimum copies', () => {
  test('is not created: no row is stored, and no pass queued', async () => {
    await payFromCredit(STEP - 1n);
    await expect(managed.create(owner)).rejects.toMatchObject({
      ...OUT_OF_CREDIT,
      message: expect.stringMatching(/needs 0\.3525 of credit in your billing currency .* has 0\.352499999 left/),
    });
    expect((await managed.deps.deployments.list(organization, { limit: 100 })).deployments).toEqual([]);
    expect([managed.reconciled, await available()]).toEqual([[], STEP - 1n]);
  });

  test.each<[string, DeploymentState, (id: string) => Promise<unknown>]>([
    ['started', 'stopped', (id) => startDeployment(managed.deps, owner, { id })],
    ['tried again', 'failed', (id) => retryDeployment(managed.deps, owner, { id })],
    ['given more copies', 'in_service', (id) => update(id, { copies: { max: 2 } })],
    ['woken by a change of its window', 'scaled_to_zero', (id) => update(id, { scale_to_zero_after_seconds: null })],
  ])('is not %s', async (_, state, act) => {
    const id = await deploymentIn(state, state === 'stopped' ? { wanted: 'stopped' } : {});
    await payFromCredit(STEP - 1n);
    const before = await managed.stored(id);
    await expect(act(id)).rejects.toMatchObject(OUT_OF_CREDIT);
    expect(await managed.stored(id)).toEqual(before);
    expect([managed.reconciled, await available()]).toEqual([[], STEP - 1n]);

    await grant(1n);
    await act(id);
    expect([managed.reconciled, await available(), await held(id)]).toEqual([[id], 0n, STEP]);
  });
});

test('a new generation needs credit of its own, besides what the one that runs holds', async () => {
  const id = await deploymentIn('in_service', { meter: { until: NOW_MS, running: [], held_nanos: STEP } });
  await payFromCredit(STEP - 1n);
  await expect(update(id, { runtime: 'vllm-0.30.0' })).rejects.toMatchObject(OUT_OF_CREDIT);
  await grant(1n);
  await update(id, { runtime: 'vllm-0.30.0' });
  expect([await available(), await held(id)]).toEqual([0n, 2n * STEP]);
});

test('credit for one deployment creates one of two that are created at the same time', async () => {
  await payFromCredit(2n * STEP - 1n);
  const results = await Promise.allSettled(['one', 'two'].map((name) => managed.create(owner, { name })));
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: OUT_OF_CREDIT });
  expect(await available()).toBe(STEP - 1n);
});

test('the credit is taken from all shards of the organization together', async () => {
  await payFromCredit(STEP);
  const whole = (await emulator.limiters.get(organization)) as LimiterItem;
  const plan = planSplit(whole, shardId(organization, 1), NOW_MS);
  await emulator.limiters.split(organization, plan ? [plan] : [], 1);
  expect(await available()).toBeLessThan(STEP);
  const { id } = await managed.create(owner);
  expect([await held(id), await available()]).toEqual([STEP, 0n]);
});

test('a start needs credit for all minimum copies, on the most expensive of its instance types', async () => {
  // $7 an hour; four copies of one accelerator share an instance.
  const body = { instance_types: ['ml.g5.xlarge', 'ml.g5.12xlarge'], copies: { min: 5 } };
  const needed = (7_000_000_000n * 2n) / 4n;
  await payFromCredit(needed - 1n);
  await expect(managed.create(owner, body)).rejects.toMatchObject(OUT_OF_CREDIT);
  await grant(1n);
  expect(await held((await managed.create(owner, body)).id)).toBe(needed);
});

test('credit that a deployment holds already counts for its next start', async () => {
  await payFromCredit(STEP);
  const { id } = await managed.create(owner);
  await stopDeployment(managed.deps, owner, { id });
  await startDeployment(managed.deps, owner, { id });
  expect([await held(id), await available()]).toEqual([STEP, 0n]);
});

test('changes that start nothing need no credit', async () => {
  const id = await deploymentIn('in_service', { copies: { min: 2, max: 3 } });
  await payFromCredit(0n);
  await update(id, { copies: { min: 1, max: 2 } });
  await update(id, { tags: { team: 'search' } });
  await stopDeployment(managed.deps, owner, { id });
  await update(id, { copies: { max: 5 } });
  expect(await held(id)).toBe(0n);
});

test('a repeated creation returns its deployment, whatever credit is left', async () => {
  await payFromCredit(STEP);
  const { id } = await managed.create(owner);
  expect(await managed.create(owner)).toMatchObject({ id });
});

test('a validation warns that the credit does not pay for a start, and holds nothing', async () => {
  await payFromCredit(STEP - 1n);
  const validate = () => createDeployment(managed.deps, owner, managed.bodyOf(owner, { validate_only: true }));
  expect((await validate()).estimate?.warnings).toEqual([expect.stringContaining('for 15 minutes')]);
  await grant(1n);
  expect((await validate()).estimate?.warnings).toEqual([]);
  expect(await available()).toBe(STEP);
});

test('equal concurrent requests hold the credit once, and none of them runs out of it', async () => {
  await payFromCredit(STEP);
  const made = await Promise.all(Array.from({ length: 4 }, () => managed.create(owner, {}, 'key-1')));
  const [{ id } = { id: '' }] = made;
  expect(new Set(made.map((each) => each.id)).size).toBe(1);
  expect([await held(id), await available()]).toEqual([STEP, 0n]);

  await managed.observe(id, (before) => {
    const { meter: _, ...stopped } = inState({ ...before, wanted: 'stopped' }, 'stopped', NOW_MS);
    return stopped;
  });
  await grant(STEP);
  await Promise.all(Array.from({ length: 4 }, () => startDeployment(managed.deps, owner, { id })));
  expect([await held(id), await available()]).toEqual([STEP, 0n]);
});

test('an organization that pays by invoice holds nothing', async () => {
  await limitOrganization(emulator.limiters, organization, { isPrepaid: false });
  const { id } = await managed.create(owner);
  expect((await managed.stored(id)).meter).toBeUndefined();
});
