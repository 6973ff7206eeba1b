import { describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import {
  deleteDeployment,
  retryDeployment,
  startDeployment,
  stopDeployment,
} from '../../../../functions/control/deployments/control-deployment.ts';
import { DeploymentResource } from '../../../../functions/control/deployments/deployment-resource.ts';
import { retrieveDeployment } from '../../../../functions/control/deployments/find-deployment.ts';
import { DeploymentUpdate } from '../../../../functions/control/deployments/new-deployment.ts';
import { updateDeployment } from '../../../../functions/control/deployments/update-deployment.ts';
import { type Deployment, type Generation, inState } from '../../../../shared/deployments/deployment.ts';
import type { DeploymentState } from '../../../../shared/deployments/state.ts';
import { type ManagedDeployments, NOW_MS, useManagedDeployments } from '../../../support/fixtures/managed-deployments.ts';

let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
useManagedDeployments((tenant) => {
  ({ managed, organization, owner } = tenant);
});

const withStatus = (before: Deployment, status: Generation['status'], number = 1): Generation[] =>
  before.generations.map((each) => (each.number === number ? { ...each, status } : each));
// As the function `deployments` leaves it in this state.
const deploymentIn = async (state: DeploymentState, status: Generation['status'] = 'ready'): Promise<string> => {
  const { id } = await managed.create(owner);
  await managed.observe(id, (before) => inState({ ...before, generations: withStatus(before, status) }, state, NOW_MS));
  managed.reset();
  return id;
};
const update = (id: string, fields: object, expected?: number[], actor = owner): Promise<DeploymentResource> =>
  updateDeployment(managed.deps, actor, { id, expected }, DeploymentUpdate.parse(fields));
const actions = async (id: string): Promise<string[]> => (await managed.log(organization, id)).map(({ action }) => action);

describe('updateDeployment', () => {
  test('changes settings and keeps omitted ones, queues a pass, and is in the audit log', async () => {
    const id = await deploymentIn('in_service');
    const updated = await update(id, { copies: { max: 4 }, scale_to_zero_after_seconds: null, capabilities: { tools: false } });
    expect(updated).toMatchObject({
      copies: { min: 1, max: 4 },
      scale_to_zero_after_seconds: null,
      capabilities: { tools: false, logprobs: true },
      max_concurrency_per_copy: 16,
      state: 'in_service',
      generations: [{ number: 1, status: 'ready' }],
      version: 2,
    });
    expect(managed.reconciled).toEqual([id]);
    expect(await managed.log(organization, id)).toContainEqual(
      expect.objectContaining({
        action: 'deployment.updated',
        changes: expect.objectContaining({ copies: { from: { min: 1, max: 1 }, to: { min: 1, max: 4 } } }),
      }),
    );
  });

  test('checks a new tokenizer, and keeps one of an earlier release if the update has none', async () => {
    const id = await deploymentIn('in_service');
    const old = { tokenizer: 'files/tokenizer.json' };
    await managed.observe(id, (before) => ({ ...before, serving: { ...before.serving, tokenizer: old } }));
    expect(await update(id, { copies: { max: 2 } })).toMatchObject({ tokenizer: old });
    expect(managed.counted).toEqual([]);
    expect(() => DeploymentUpdate.parse({ tokenizer: old })).toThrow('register-tokenizer');
    const files = { tokenizer: `sha256/${'a'.repeat(64)}/tokenizer.json` };
    managed.setCount(async () => ({ prompt_tokens: null, kept: null }));
    await expect(update(id, { tokenizer: files })).rejects.toMatchObject({ status: 400, code: 'tokenizer_unusable' });
    managed.setCount(async () => ({ prompt_tokens: 9, kept: null }));
    expect(await update(id, { tokenizer: files })).toMatchObject({ tokenizer: files });
    expect(await update(id, { tokenizer: null })).toMatchObject({ tokenizer: null });
  });

  test('writes nothing if it changes nothing', async () => {
    const id = await deploymentIn('in_service');
    expect(await update(id, { copies: { min: 1 }, runtime: 'vllm-0.27.1', traffic_percent: 100 })).toMatchObject({ version: 1 });
    expect(managed.reconciled).toEqual([]);
  });

  test.each([
    [{ copies: { min: 3, max: 2 } }, 'copies.max'],
    [{ context_length: 100 }, 'max_output_tokens'],
    [{ runtime: 'unknown' }, 'runtime'],
    [{ runtime: 'vllm-0.30.0', traffic_percent: 0 }, 'traffic_percent'],
    [{ environment: { SM_VLLM_MAX_MODEL_LEN: '4096' } }, 'context_length'],
  ])('rejects %j', async (fields, param) => {
    const id = await deploymentIn('in_service');
    await expect(update(id, fields)).rejects.toMatchObject({ status: 400, param });
    expect((await managed.stored(id)).changes).toBe(1);
  });

  test('compares an ETag with the owner’s settings only, whatever AWS does meanwhile', async () => {
    const id = await deploymentIn('in_service');
    await managed.observe(id, (before) => inState(before, 'draining', NOW_MS));
    expect(await update(id, { copies: { max: 2 } }, [1])).toMatchObject({ version: 2, state: 'draining' });
    await expect(update(id, { copies: { max: 3 } }, [1])).rejects.toMatchObject({ status: 412 });
  });

  test('retries if the function `deployments` or a wake wrote first, and keeps their changes', async () => {
    const id = await deploymentIn('in_service');
    let reads = 0;
    const { deployments } = managed.deps;
    const get: typeof deployments.get = async (...of) => {
      const read = await deployments.get(...of);
      // Between the second read and its write.
      if (++reads === 2) await managed.observe(id, (before) => inState(before, 'scaled_to_zero', NOW_MS));
      return read;
    };
    const deps = { ...managed.deps, deployments: { ...deployments, get } };
    const updated = await updateDeployment(deps, owner, { id }, DeploymentUpdate.parse({ copies: { max: 2 } }));
    expect(updated).toMatchObject({ state: 'scaled_to_zero', copies: { max: 2 }, version: 2 });
    expect(await managed.stored(id)).toMatchObject({ state: 'scaled_to_zero', copies: { max: 2 } });
  });

  test('fails with 412 if another owner’s change came first', async () => {
    const id = await deploymentIn('in_service');
    let reads = 0;
    const { deployments } = managed.deps;
    const get: typeof deployments.get = async (...of) => {
      const read = await deployments.get(...of);
      if (++reads === 2) await update(id, { copies: { max: 9 } });
      return read;
    };
    const deps = { ...managed.deps, deployments: { ...deployments, get } };
    const late = updateDeployment(deps, owner, { id }, DeploymentUpdate.parse({ copies: { max: 2 } }));
    await expect(late).rejects.toMatchObject({ status: 412 });
    expect(await managed.stored(id)).toMatchObject({ copies: { max: 9 }, changes: 2 });
  });

  test.each([
    ['stopped', stopDeployment],
    ['deleted', deleteDeployment],
  ])('does not keep a deployment from being %s at the same moment', async (wanted, send) => {
    const id = await deploymentIn('in_service');
    const { deployments } = managed.deps;
    // Between the first read and its write.
    const sendWhileItGets = async (max: number, expected?: number[]) => {
      let reads = 0;
      const get: typeof deployments.get = async (...of) => {
        const read = await deployments.get(...of);
        if (++reads === 1) await update(id, { copies: { max } });
        return read;
      };
      return send({ ...managed.deps, deployments: { ...deployments, get } }, owner, { id, expected });
    };
    await expect(sendWhileItGets(8, [1])).rejects.toMatchObject({ status: 412 });
    await sendWhileItGets(9);
    expect(await managed.stored(id)).toMatchObject({ wanted, copies: { max: 9 }, changes: 4 });
  });

  test('fails in its transaction if the owner was demoted meanwhile', async () => {
    const id = await deploymentIn('in_service');
    await managed.demote(owner);
    await expect(update(id, { copies: { max: 2 } })).rejects.toMatchObject({ status: 403, code: 'rights_changed' });
    await expect(stopDeployment(managed.deps, owner, { id })).rejects.toMatchObject({ status: 403 });
    expect(await actions(id)).toEqual(['deployment.created']);
  });
});

describe('a rollout', () => {
  test('adds a generation with its share of the traffic, beside the one that serves', async () => {
    const id = await deploymentIn('in_service');
    const updated = await update(id, { runtime: 'vllm-0.30.0', traffic_percent: 10 });
    expect(updated).toMatchObject({
      runtime: 'vllm-0.30.0',
      generations: [
        { number: 1, status: 'ready', runtime: 'vllm-0.27.1', traffic_percent: 90 },
        { number: 2, status: 'creating', runtime: 'vllm-0.30.0', traffic_percent: 10 },
      ],
    });
    expect(managed.asked).toMatchObject([{ model: `s3://weights/${organization}/qwen/` }]);
    expect((await managed.stored(id)).generations[1]?.runtime.image).toContain('v2.5');
  });

  test('is shifted, and completed with 100', async () => {
    const id = await deploymentIn('in_service');
    await update(id, { runtime: 'vllm-0.30.0', traffic_percent: 10 });
    expect(await update(id, { traffic_percent: 50 })).toMatchObject({ generations: [{ traffic_percent: 50 }, { traffic_percent: 50 }] });
    expect(await update(id, { traffic_percent: 100 })).toMatchObject({ generations: [{ traffic_percent: 0 }, { traffic_percent: 100 }] });
    expect(await actions(id)).toHaveLength(4);
  });

  test('returns to the previous generation with 0, and another one can follow', async () => {
    const id = await deploymentIn('in_service');
    await update(id, { runtime: 'vllm-0.30.0', traffic_percent: 10 });
    expect(await update(id, { traffic_percent: 0 })).toMatchObject({
      runtime: 'vllm-0.27.1',
      generations: [
        { number: 1, status: 'ready', traffic_percent: 100 },
        { number: 2, status: 'retired', traffic_percent: 0, reason: { code: 'returned' } },
      ],
    });
    expect((await managed.stored(id)).generations[1]).toMatchObject({ ended_at: NOW_MS });
    expect(await update(id, { runtime: 'vllm-0.30.0' })).toMatchObject({ generations: [{}, {}, { number: 3, traffic_percent: 100 }] });
  });

  test('waits for the previous one: 409 while it is unfinished', async () => {
    const id = await deploymentIn('in_service');
    await update(id, { runtime: 'vllm-0.30.0', traffic_percent: 10 });
    await expect(update(id, { runtime: 'vllm-0.27.0' })).rejects.toMatchObject({ status: 409, code: 'rollout_unfinished' });
    await managed.observe(id, (before) => ({ ...before, generations: withStatus(before, 'failed', 2) }));
    expect(await update(id, { runtime: 'vllm-0.27.0' })).toMatchObject({ runtime: 'vllm-0.27.0', generations: [{}, {}, { number: 3 }] });
  });

  test('waits for old generations to be removed, of which a row keeps only a few', async () => {
    const id = await deploymentIn('in_service');
    for (let i = 0; i < 3; i++) {
      await update(id, { runtime: 'vllm-0.30.0', traffic_percent: 10 });
      await update(id, { traffic_percent: 0 });
    }
    await expect(update(id, { runtime: 'vllm-0.30.0' })).rejects.toMatchObject({ status: 409, code: 'generations_unfinished' });
  });

  test('waits for the first generation to be in service, and needs a second one to shift traffic', async () => {
    const { id } = await managed.create(owner);
    await expect(update(id, { runtime: 'vllm-0.30.0' })).rejects.toMatchObject({ status: 409, code: 'deployment_not_ready' });
    await expect(update(id, { traffic_percent: 50 })).rejects.toMatchObject({ status: 409, code: 'no_rollout' });
  });

  test('replaces the generation of a stopped deployment, which has nothing on AWS', async () => {
    const id = await deploymentIn('stopped', 'creating');
    expect(await update(id, { runtime: 'vllm-0.30.0', traffic_percent: 10 })).toMatchObject({
      generations: [{ number: 2, runtime: 'vllm-0.30.0', traffic_percent: 100 }],
    });
  });

  test('replaces a failed first generation completely, also with the same content', async () => {
    const id = await deploymentIn('failed', 'failed');
    expect(await update(id, { runtime: 'vllm-0.27.1', traffic_percent: 10 })).toMatchObject({
      generations: [
        { number: 1, status: 'failed', traffic_percent: 0 },
        { number: 2, status: 'creating', traffic_percent: 100 },
      ],
    });
  });

  test('uses all accelerators of the new number, unless its owner says otherwise', async () => {
    const { id } = await managed.create(owner, { instance_types: ['ml.g5.12xlarge'], accelerators: 2 });
    const inService = async (number: number): Promise<void> => {
      await managed.observe(id, (before) => ({
        ...inState(before, 'in_service', NOW_MS),
        generations: withStatus(before, 'ready', number).slice(-1),
      }));
    };
    await inService(1);
    expect(await update(id, { accelerators: 4 })).toMatchObject({ environment: { SM_VLLM_TENSOR_PARALLEL_SIZE: '4' } });
    await inService(2);
    expect((await update(id, { accelerators: 1 })).environment).toEqual({});
    await inService(3);
    const chosen = await update(id, { accelerators: 4, environment: { SM_VLLM_TENSOR_PARALLEL_SIZE: '2' } });
    await inService(4);
    expect(await update(id, { accelerators: 3 })).toMatchObject({ accelerators: 3, environment: chosen.environment });
  });

  test('raises the context length only once no generation with a shorter one gets requests', async () => {
    const { id } = await managed.create(owner, { environment: { SM_VLLM_MAX_MODEL_LEN: '8192' } });
    await managed.observe(id, (before) => inState({ ...before, generations: withStatus(before, 'ready') }, 'in_service', NOW_MS));
    const longer = { environment: { SM_VLLM_MAX_MODEL_LEN: '16384' }, traffic_percent: 10 };
    const tooEarly = { status: 400, param: 'context_length', message: expect.stringContaining('generation 1') };
    await expect(update(id, { ...longer, context_length: 16_384 })).rejects.toMatchObject(tooEarly);
    await update(id, longer);
    await expect(update(id, { context_length: 16_384 })).rejects.toMatchObject(tooEarly);
    await managed.observe(id, (before) => ({ ...before, generations: withStatus(before, 'ready', 2).slice(1) }));
    expect(await update(id, { context_length: 16_384 })).toMatchObject({ context_length: 16_384 });
  });

  test('checks the new weights, and keeps code that only an admin may allow from an owner', async () => {
    const id = await deploymentIn('in_service');
    managed.setFindings({ weights: { passed: false, message: 'The folder is empty.' } });
    await expect(update(id, { model: `s3://weights/${organization}/new/` })).rejects.toMatchObject({ status: 400, param: 'model' });
    managed.setFindings({});
    await expect(update(id, { allow_code: true })).rejects.toMatchObject({ status: 403, param: 'allow_code' });
    expect(await update(id, { allow_code: true }, undefined, managed.admin)).toMatchObject({ allow_code: true });
  });
});

describe('stop, start, retry and delete', () => {
  test('stop and start a deployment again, each with one entry in history and log', async () => {
    const id = await deploymentIn('in_service');
    expect(await stopDeployment(managed.deps, owner, { id })).toMatchObject({ state: 'stopping', version: 2 });
    expect(await stopDeployment(managed.deps, owner, { id })).toMatchObject({ version: 2 });
    await managed.observe(id, (before) => inState({ ...before, generations: withStatus(before, 'creating') }, 'stopped', NOW_MS));
    expect(await startDeployment(managed.deps, owner, { id })).toMatchObject({ state: 'pending', version: 3 });
    expect(await startDeployment(managed.deps, owner, { id })).toMatchObject({ version: 3 });
    expect(await managed.stored(id)).toMatchObject({ wanted: 'running', generations: [{ number: 1 }] });
    expect((await retrieveDeployment(managed.deps, owner, id)).history.map(({ state }) => state)).toEqual([
      'pending',
      'in_service',
      'stopping',
      'stopped',
      'pending',
    ]);
    expect((await actions(id)).sort()).toEqual(['deployment.created', 'deployment.started', 'deployment.stopped']);
    expect(managed.reconciled).toEqual([id, id]);
  });

  test('retry only a failed deployment, with a new generation', async () => {
    const id = await deploymentIn('failed', 'failed');
    await expect(startDeployment(managed.deps, owner, { id })).rejects.toMatchObject({ status: 409, code: 'deployment_failed' });
    expect(await retryDeployment(managed.deps, owner, { id })).toMatchObject({
      state: 'pending',
      reason: null,
      generations: [
        { number: 1, status: 'failed' },
        { number: 2, status: 'creating', runtime: 'vllm-0.27.1', traffic_percent: 100, reason: null },
      ],
    });
    await expect(retryDeployment(managed.deps, owner, { id })).rejects.toMatchObject({ status: 409, code: 'deployment_not_failed' });
  });

  test('start a failed and stopped deployment with a new generation', async () => {
    const id = await deploymentIn('failed', 'failed');
    await stopDeployment(managed.deps, owner, { id });
    await managed.observe(id, (before) => inState(before, 'stopped', NOW_MS));
    expect(await startDeployment(managed.deps, owner, { id })).toMatchObject({
      state: 'pending',
      generations: [{ number: 2, status: 'creating' }],
    });
  });

  test('delete a deployment once: it can be read, but not changed any more', async () => {
    const id = await deploymentIn('in_service');
    expect(await deleteDeployment(managed.deps, owner, { id })).toMatchObject({ state: 'deleting', version: 2 });
    expect(await deleteDeployment(managed.deps, owner, { id })).toMatchObject({ state: 'deleting', version: 2 });
    for (const change of [startDeployment, stopDeployment, retryDeployment])
      await expect(change(managed.deps, owner, { id })).rejects.toMatchObject({ status: 409, code: 'deployment_deleted' });
    await expect(update(id, { copies: { max: 2 } })).rejects.toMatchObject({ status: 409, code: 'deployment_deleted' });
    await managed.observe(id, (before) => inState(before, 'deleted', NOW_MS));
    expect(await retrieveDeployment(managed.deps, owner, id)).toMatchObject({ state: 'deleted' });
    expect(await deleteDeployment(managed.deps, owner, { id })).toMatchObject({ state: 'deleted' });
    expect(managed.reconciled).toEqual([id]);
  });

  test('let a suspended organization save money, but not spend it', async () => {
    const id = await deploymentIn('in_service');
    await managed.suspend(organization);
    await expect(update(id, { copies: { max: 2 } })).rejects.toMatchObject({ status: 403, code: 'organization_suspended' });
    await stopDeployment(managed.deps, owner, { id });
    await managed.observe(id, (before) => inState(before, 'stopped', NOW_MS));
    for (const actor of [owner, managed.admin])
      await expect(startDeployment(managed.deps, actor, { id })).rejects.toMatchObject({ status: 403, code: 'organization_suspended' });
    expect(await deleteDeployment(managed.deps, owner, { id })).toMatchObject({ state: 'deleting' });
  });
});

test('every reply has the documented shape', async () => {
  const id = await deploymentIn('in_service');
  for (const actor of [owner, managed.admin]) {
    const resource = await retrieveDeployment(managed.deps, actor, id);
    expect(DeploymentResource.parse(resource)).toEqual(resource);
  }
});
