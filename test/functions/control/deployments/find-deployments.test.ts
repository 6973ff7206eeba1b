import { describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import {
  deleteDeployment,
  retryDeployment,
  startDeployment,
  stopDeployment,
} from '../../../../functions/control/deployments/control-deployment.ts';
import { listDeployments, retrieveDeployment } from '../../../../functions/control/deployments/find-deployment.ts';
import { DeploymentUpdate } from '../../../../functions/control/deployments/new-deployment.ts';
import { updateDeployment } from '../../../../functions/control/deployments/update-deployment.ts';
import { inState } from '../../../../shared/deployments/deployment.ts';
import type { DeploymentReason } from '../../../../shared/deployments/reason.ts';
import { type ManagedDeployments, NOW_MS, useManagedDeployments } from '../../../support/fixtures/managed-deployments.ts';

let managed: ManagedDeployments;
let owner: Actor;
let member: Actor;
let organization: string;
useManagedDeployments((tenant) => {
  ({ managed, organization, owner, member } = tenant);
});

const NOW = NOW_MS / 1_000;
const retrieve = (id: string, actor = owner) => retrieveDeployment(managed.deps, actor, id);

describe('two organizations with the same served name', () => {
  test('neither see, change, stop nor delete each other’s deployment', async () => {
    const { id } = await managed.create(owner);
    const { owner: other, member: otherMember } = await managed.newTenant();
    const { id: theirs } = await managed.create(other);
    expect(theirs).not.toBe(id);
    const { deps } = managed;
    for (const actor of [other, otherMember])
      await expect(retrieve(id, actor)).rejects.toMatchObject({ status: 404, code: 'deployment_not_found' });
    for (const change of [stopDeployment, startDeployment, retryDeployment, deleteDeployment])
      await expect(change(deps, other, { id })).rejects.toMatchObject({ status: 404, code: 'deployment_not_found' });
    const update = updateDeployment(deps, other, { id }, DeploymentUpdate.parse({ copies: { max: 2 } }));
    await expect(update).rejects.toMatchObject({ status: 404 });
    expect((await listDeployments(deps, other, { limit: 10 })).data.map((each) => each.id)).toEqual([theirs]);
    await expect(listDeployments(deps, other, { limit: 10, organization })).rejects.toMatchObject({ status: 404 });
    expect(await managed.stored(id)).toMatchObject({ wanted: 'running', changes: 1 });
  });

  test('delete their own without an effect on the other’s', async () => {
    const { id } = await managed.create(owner);
    const { owner: other } = await managed.newTenant();
    const { id: theirs } = await managed.create(other);
    await deleteDeployment(managed.deps, other, { id: theirs });
    expect(await retrieve(id)).toMatchObject({ state: 'pending' });
    expect(managed.reconciled).toEqual([id, theirs, theirs]);
  });
});

describe('a list', () => {
  test('has the organization’s deployments by name, in pages, for members and admins', async () => {
    for (const name of ['c', 'a', 'b']) await managed.create(owner, { name });
    const first = await listDeployments(managed.deps, member, { limit: 2 });
    expect([first.data.map(({ name }) => name), first.has_more, first.next]).toEqual([['a', 'b'], true, 'b!']);
    const second = await listDeployments(managed.deps, managed.admin, { limit: 2, after: 'b!', organization });
    expect([second.data.map(({ name }) => name), second.has_more, second.next]).toEqual([['c'], false, null]);
  });

  test('has those of a state, in pages', async () => {
    for (const name of ['c', 'a', 'b']) await managed.create(owner, { name });
    const { id } = await managed.create(owner, { name: 'd' });
    await managed.observe(id, (before) => inState(before, 'failed', NOW_MS));
    expect((await listDeployments(managed.deps, owner, { limit: 2, state: 'failed' })).data).toMatchObject([{ id, state: 'failed' }]);
    const first = await listDeployments(managed.deps, owner, { limit: 2, state: 'pending' });
    expect([first.data.map(({ name }) => name), first.next]).toEqual([['a', 'b'], 'b!']);
    const second = await listDeployments(managed.deps, owner, { limit: 2, state: 'pending', after: 'b!' });
    expect([second.data.map(({ name }) => name), second.has_more]).toEqual([['c'], false]);
  });

  test.each(['a b', '/a', 'a!1'])('rejects the cursor %j, which no page returned', async (after) => {
    const refused = { status: 400, param: 'after' };
    await expect(listDeployments(managed.deps, owner, { limit: 2, after })).rejects.toMatchObject(refused);
    await expect(listDeployments(managed.deps, managed.admin, { limit: 2, after })).rejects.toMatchObject(refused);
  });

  test('rejects the cursor of the list of all organizations in the list of one', async () => {
    const { id } = await managed.create(owner);
    const read = listDeployments(managed.deps, managed.admin, { limit: 2, after: id, organization });
    await expect(read).rejects.toMatchObject({ status: 400, param: 'after' });
  });

  test('rejects a name as the cursor of the list of all organizations', async () => {
    const read = listDeployments(managed.deps, managed.admin, { limit: 2, after: 'a-name' });
    await expect(read).rejects.toMatchObject({ status: 400, param: 'after' });
  });

  test('has those of all organizations for the platform, without deleted ones, in pages', async () => {
    const { owner: other } = await managed.newTenant();
    const [own, theirs, deleted] = [await managed.create(owner), await managed.create(other), await managed.create(other, { name: 'x' })];
    await managed.observe(deleted.id, (before) => inState(before, 'deleted', NOW_MS));
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await listDeployments(managed.deps, managed.admin, { limit: 1, after });
      found.push(...page.data.map(({ id }) => id));
      after = page.next ?? undefined;
      expect(page.has_more).toBe(page.next !== null);
    } while (after !== undefined);
    expect(found).toEqual(expect.arrayContaining([own.id, theirs.id]));
    expect(found).not.toContain(deleted.id);
    expect(new Set(found).size).toBe(found.length);
    await managed.observe(theirs.id, (before) => inState(before, 'waking', NOW_MS));
    const waking = await listDeployments(managed.deps, managed.admin, { limit: 100, state: 'waking' });
    expect(waking.data.filter(({ organization: of }) => of === theirs.organization)).toMatchObject([{ id: theirs.id }]);
    expect(waking.data.map(({ state }) => state)).not.toContain('pending');
  });
});

describe('a deployment on the wire', () => {
  test('shows the instances that run now and what they cost an hour', async () => {
    const { id } = await managed.create(owner);
    const running = [
      { generation: 1, instance_type: 'ml.g5.xlarge', instances: 2, phase: 'serving' as const },
      { generation: 2, instance_type: 'ml.g6.xlarge', instances: 1, phase: 'starting' as const },
    ];
    await managed.observe(id, (before) => ({
      ...inState(before, 'updating', NOW_MS),
      meter: { until: NOW_MS, held_nanos: 0n, running },
    }));
    expect(await retrieve(id)).toMatchObject({
      instances: [
        { generation: 1, instance_type: 'ml.g5.xlarge', count: 2, phase: 'serving' },
        { generation: 2, instance_type: 'ml.g6.xlarge', count: 1, phase: 'starting' },
      ],
      price_per_hour: '3.82',
    });
  });

  test('predicts the end of a wake from its own wakes, or else from those of its instance type', async () => {
    const { id } = await managed.create(owner);
    managed.setStartSeconds([200, 400]);
    const startedAt = NOW_MS - 100_000;
    await managed.observe(id, (before) => ({ ...inState(before, 'waking', startedAt), wake: { started_at: startedAt } }));
    expect((await retrieve(id)).wake).toEqual({ started_at: NOW - 100, expected_at: NOW + 100, p50_seconds: 200, p90_seconds: 400 });
    await managed.observe(id, (before) => ({ ...before, starts: [{ kind: 'wake', at: NOW_MS, seconds: 150 }] }));
    expect((await retrieve(id)).wake).toMatchObject({ expected_at: NOW + 50, p50_seconds: 150 });
    await managed.observe(id, (before) => ({ ...before, starts: [{ kind: 'wake', at: NOW_MS, seconds: 150.2 }] }));
    // Rounded up, as in the 503 of a caller, so that nobody comes back too early.
    expect((await retrieve(id)).wake).toMatchObject({ expected_at: NOW + 51, p50_seconds: 151, p90_seconds: 151 });
    await managed.observe(id, ({ wake: _, ...before }) => inState(before, 'in_service', NOW_MS));
    expect((await retrieve(id)).wake).toBeNull();
  });

  test('shows AWS’s words to owners and admins, and images to admins only', async () => {
    const reason: DeploymentReason = { code: 'crash_loop', message: 'It crashes.', action: 'Fix it.', aws: 'CUDA out of memory' };
    const { id } = await managed.create(owner);
    await managed.observe(id, (before) => ({
      ...inState(before, 'failed', NOW_MS, reason),
      generations: before.generations.map((each) => ({ ...each, status: 'failed', reason })),
    }));
    const { aws: _, ...withoutAws } = reason;
    expect(await retrieve(id)).toMatchObject({ reason, generations: [{ reason }], history: [{}, { state: 'failed', reason }] });
    expect((await retrieve(id, member)).reason).toEqual(withoutAws);
    expect(JSON.stringify(await retrieve(id, member))).not.toContain('CUDA');
    expect((await retrieve(id, managed.admin)).generations[0]?.image).toContain('/vllm:server-sagemaker-cuda-v2.4');
    expect(JSON.stringify(await retrieve(id))).not.toMatch(/arn:|dkr\.ecr|\d{12}\./);
  });
});
