import { describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import type { DeploymentResource } from '../../../../../functions/control/deployments/deployment-resource.ts';
import { DeploymentUpdate } from '../../../../../functions/control/deployments/new-deployment.ts';
import { ShadowReport, shadowReport } from '../../../../../functions/control/deployments/shadow/report.ts';
import { updateDeployment } from '../../../../../functions/control/deployments/update-deployment.ts';
import type { Deployment } from '../../../../../shared/deployments/deployment.ts';
import { startShadow } from '../../../../../shared/deployments/shadow.ts';
import type { ShadowCounts } from '../../../../../shared/deployments/shadow-counts.ts';
import { createShadowStore, type ShadowStore } from '../../../../../shared/deployments/shadow-store.ts';
import { type ManagedDeployments, NOW_MS, useManagedDeployments } from '../../../../support/fixtures/managed-deployments.ts';

const SHADOW = { percent: 10 };
const NEXT = { runtime: 'vllm-0.30.0' };

let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
let member: Actor;
let shadows: ShadowStore;
useManagedDeployments((tenant) => {
  ({ managed, organization, owner, member } = tenant);
  const { database, tables } = tenant.emulator;
  shadows = createShadowStore(database, tables.Deployments as string);
});

const inService = async (): Promise<string> => {
  const { id } = await managed.create(owner);
  await managed.observe(id, (before) => ({
    ...before,
    generations: before.generations.map((each) => ({ ...each, status: 'ready' })),
    state: 'in_service',
  }));
  return id;
};
const update = (id: string, fields: object): Promise<DeploymentResource> =>
  updateDeployment(managed.deps, owner, { id }, DeploymentUpdate.parse(fields));
const read = (id: string, number?: number, actor = owner): Promise<ShadowReport> =>
  shadowReport(managed.deps, actor, id, number === undefined ? {} : { number });
const rowOf = async (id: string): Promise<Deployment> => {
  const row = await managed.deps.deployments.find(id);
  if (!row) throw new Error(`${id} is gone.`);
  return row;
};
const begun = async (): Promise<string> => {
  const id = await inService();
  await update(id, { ...NEXT, shadow: SHADOW });
  await managed.observe(id, (before) =>
    startShadow({ ...before, generations: before.generations.map((each) => ({ ...each, status: 'ready' as const })) }, NOW_MS),
  );
  return id;
};
const count = async (id: string, number: number, counts: ShadowCounts): Promise<void> => {
  const budget = { number, max_requests: 10_000, max_tokens: 1_000_000 };
  const place = await shadows.reserve(id, budget, { id: 'a', tokens: 10, nowMs: NOW_MS, expiresAtMs: NOW_MS });
  if (typeof place === 'string') throw new Error(place);
  await shadows.record(id, number, place, { unusedTokens: 1, counts });
};

describe('updateDeployment with shadow', () => {
  test('rolls out a generation without traffic that is compared, and is in the audit log', async () => {
    const id = await inService();
    const updated = await update(id, { ...NEXT, shadow: { percent: 10, max_requests: 5 } });
    const settings = { number: 1, generation: 2, percent: 10, max_requests: 5, max_tokens: 10_000_000, max_seconds: 86_400 };
    expect(updated.shadow).toEqual({ ...settings, status: 'waiting', end_reason: null });
    expect(updated.generations.map(({ number, traffic_percent }) => [number, traffic_percent])).toEqual([
      [1, 100],
      [2, 0],
    ]);
    expect(await managed.log(organization, id)).toContainEqual(
      expect.objectContaining({ action: 'deployment.updated', changes: expect.objectContaining({ shadow: { from: null, to: settings } }) }),
    );
    expect(await shadows.read(id, 1)).toMatchObject({ requests: 0, tokens: 0 });
  });

  test('takes the traffic of a rollout back to compare its generation, and does not remove it', async () => {
    const id = await inService();
    await update(id, { ...NEXT, traffic_percent: 30 });
    await expect(update(id, { shadow: SHADOW })).rejects.toMatchObject({ status: 400, param: 'shadow' });
    const { generations, shadow } = await update(id, { shadow: SHADOW, traffic_percent: 0 });
    expect(generations.map(({ status, traffic_percent }) => [status, traffic_percent])).toEqual([
      ['ready', 100],
      ['creating', 0],
    ]);
    expect(shadow).toMatchObject({ status: 'waiting', generation: 2 });
  });

  test('ends with null, and the generation goes on running', async () => {
    const id = await begun();
    const { shadow, generations } = await update(id, { shadow: null });
    expect(shadow).toMatchObject({ status: 'ended', end_reason: 'owner' });
    expect(generations.map(({ status }) => status)).toEqual(['ready', 'ready']);
  });

  test('changes nothing with the same settings, and begins anew with others, of which five are kept', async () => {
    const id = await begun();
    await count(id, 1, { compared: 1 });
    expect((await update(id, { shadow: SHADOW })).version).toBe((await rowOf(id)).changes);
    expect(await read(id)).toMatchObject({ number: 1, compared: 1 });
    for (let percent = 1; percent <= 5; percent++) await update(id, { shadow: { percent } });
    expect((await rowOf(id)).shadows?.map(({ number, end_reason }) => [number, end_reason])).toEqual([
      [2, 'owner'],
      [3, 'owner'],
      [4, 'owner'],
      [5, 'owner'],
      [6, undefined],
    ]);
    expect(await read(id)).toMatchObject({ number: 6, compared: 0, percent: 5 });
    expect(await read(id, 2)).toMatchObject({ number: 2, status: 'ended' });
    await expect(read(id, 1)).rejects.toMatchObject({ status: 404 });
  });

  test.each([
    [{ shadow: SHADOW }, 409, 'no_rollout'],
    [{ ...NEXT, traffic_percent: 10, shadow: SHADOW }, 400, null],
    [{ ...NEXT, traffic_percent: 0 }, 400, null],
  ])('rejects %j', async (fields, status, code) => {
    await expect(update(await inService(), fields)).rejects.toMatchObject({ status, ...(code && { code }) });
  });

  test('rejects a deployment that generates no text', async () => {
    const id = await begun();
    const capabilities = { tools: false, json_object: false, logprobs: false, thinking_budget: false, structured_outputs: false };
    await managed.observe(id, (before) => ({ ...before, serving: { ...before.serving, task: 'rerank', capabilities } }));
    await expect(update(id, { shadow: { percent: 3 } })).rejects.toMatchObject({ status: 400, param: 'shadow' });
  });

  test.each([[{ percent: 26 }], [{ percent: 0 }], [{ percent: 1, max_requests: 10_001 }], [{ percent: 1, max_seconds: 604_801 }]])(
    'has bounds: %j',
    (shadow) => {
      expect(DeploymentUpdate.safeParse({ shadow }).success).toBe(false);
    },
  );
});

describe('shadowReport', () => {
  test('has the counts, the times and the verdict, and the request that promotes', async () => {
    const id = await begun();
    await count(id, 1, {
      ...{ compared: 100, failed_timed_out: 1, finish_same: 90, finish_different: 10, exact_same: 3, exact_different: 4 },
      ...{ serving_finish_stop: 100, shadow_finish_stop: 90, shadow_finish_length: 10 },
      ...{ schema_both: 5, tools_neither: 2, serving_prompt_tokens: 700, shadow_completion_tokens: 200 },
      ...{ serving_duration_4: 100, serving_duration_ms: 1_900, shadow_duration_4: 100, shadow_duration_ms: 1_800 },
    });
    const report = await read(id, undefined, member);
    expect(ShadowReport.parse(report)).toEqual(report);
    expect(report).toMatchObject({
      ...{ status: 'running', end_reason: null, used_requests: 1, used_tokens: 9, compared: 100 },
      failed: { timed_out: 1, failed: 0 },
      finish_reason: { same: 90, different: 10, serving: { stop: 100 }, shadow: { stop: 90, length: 10 } },
      exact_matches: { same: 3, different: 4 },
      json: { both: 5, serving_only: 0 },
      tool_calls: { neither: 2 },
      tokens: { serving: { prompt: 700, completion: 0 }, shadow: { prompt: 0, completion: 200 } },
      duration: { serving: { count: 100, mean_ms: 19, p50_ms: 20, p95_ms: 20 }, shadow: { mean_ms: 18 } },
      verdict: 'promote',
      apply: { method: 'PATCH', path: `/v1/deployments/${id}`, body: { traffic_percent: 100 } },
    });
    const { body } = report.apply ?? {};
    expect((await update(id, body ?? {})).generations.at(-1)?.traffic_percent).toBe(100);
    await managed.observe(id, (before) => ({ ...before, generations: before.generations.slice(1) }));
    expect(await read(id)).toMatchObject({ verdict: 'promote', apply: null });
  });

  test('has the request that rolls a bad generation back', async () => {
    const id = await begun();
    await count(id, 1, { failed_refused: 20 });
    const { verdict, apply } = await read(id);
    expect([verdict, apply?.body]).toEqual(['roll_back', { traffic_percent: 0 }]);
    expect((await update(id, apply?.body ?? {})).generations.at(-1)).toMatchObject({ status: 'retired' });
    expect(await read(id)).toMatchObject({ verdict: 'roll_back', apply: null });
  });

  test('is undecided without answers', async () => {
    expect(await read(await begun())).toMatchObject({
      verdict: 'undecided',
      apply: null,
      time_to_first_token: { serving: { p50_ms: null } },
    });
  });

  test('is a 404 without a comparison, and for another tenant', async () => {
    await expect(read(await inService())).rejects.toMatchObject({ status: 404, code: 'shadow_not_found' });
    const { owner: stranger } = await managed.newTenant();
    await expect(read(await begun(), undefined, stranger)).rejects.toMatchObject({ status: 404, code: 'deployment_not_found' });
  });
});
