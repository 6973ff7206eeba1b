import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isInUse } from '../../../../functions/deployments/idle/in-use.ts';
import { admit, release } from '../../../../functions/inference/admission/admit.ts';
import { markDeployment } from '../../../../functions/inference/fallback/mark-deployment.ts';
import { deploymentMark, isForDeployment } from '../../../../shared/admission/item/reservation-entry.ts';
import { EPOCH_MS } from '../../../../shared/admission/item/sweep-epoch.ts';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { createUsageStore, type UsageStore } from '../../../../shared/usage/usage-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { openLimiters, type TestLimiters } from '../../../support/emulators/limiters.ts';
import { makeCaller, makeKey, usedTokens } from '../../../support/fixtures/callers.ts';
import { eventOf } from '../../../support/fixtures/completed-event.ts';
import type { TestKey } from '../../../support/fixtures/create-key.ts';
import { newDeployment } from '../../../support/fixtures/deployments.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

let emulator: TestDatabase;
// With the permissions of the function.
let limiters: TestLimiters;
let usage: UsageStore;
beforeAll(async () => {
  emulator = await startTestDatabase();
  const database = await emulator.as('deployments');
  limiters = openLimiters(database, emulator.tables.Keys as string);
  usage = createUsageStore(database, emulator.tables.Usage as string);
});
afterAll(() => emulator.close());

const create = (fields: Partial<Deployment> = {}) => newDeployment({ organization: newId('organization'), ...fields });
const isUsed = (deployment: Deployment, nowMs = Date.now()) => isInUse({ limiters, usage, now: () => nowMs }, deployment);

// So many API keys, none of which has a limiter.
async function* manyKeys(): AsyncGenerator<string> {
  for (let i = 0; i <= 10_000; i++) yield `key_${i}`;
}

const begin = async (org: string, deployment: string | undefined, limits: Partial<TestKey> = {}) => {
  const caller = makeCaller(emulator.limiters, Date.now);
  const key = await makeKey(emulator.limiters, { org, scope: 'on_demand', ...limits });
  const request = {
    key,
    model: 'm',
    deployment,
    requestId: newRequestId(Date.now()),
    tokens: 1,
    maxCostNanos: () => 1n,
  };
  const admission = await admit(caller, request);
  return {
    admission,
    end: () => release(caller, admission, usedTokens(1)),
    /** It falls back to another deployment. */
    fallBack: (id: string) => markDeployment(caller.store, admission, id),
  };
};

describe('a deployment', () => {
  test('is in use by a request that has fallen back to it, and the one before is not any more', async () => {
    const [fallback, first] = [create(), create()];
    const { end, fallBack } = await begin(fallback.organization, first.id);
    expect(await isUsed(fallback)).toBe(false);
    await fallBack(fallback.id);
    expect([await isUsed(fallback), await isUsed({ ...first, organization: fallback.organization })]).toEqual([true, false]);
    await end();
    await fallBack(fallback.id);
    expect(await isUsed(fallback)).toBe(false);
  });

  test('is in use by a request that an earlier release admitted for it or another one', () => {
    const [deployment, other] = [create(), create()];
    const marks = [other.id, deployment.id].map(deploymentMark).join(' ');
    expect(isForDeployment({ deployment: marks }, deployment.id)).toBe(true);
  });

  test('is in use from the admission of a request until its settlement', async () => {
    const deployment = create();
    expect(await isUsed(deployment)).toBe(false);
    const { end } = await begin(deployment.organization, deployment.id);
    expect(await isUsed(deployment)).toBe(true);
    await end();
    expect(await isUsed(deployment)).toBe(false);
  });

  test('is in use by a request in any shard of a key, or of a key with a budget', async () => {
    for (const limits of [{ concurrency: 1_000, tokens_per_minute: 10_000_000 }, { total_budget_nanos: 1_000n }]) {
      const deployment = create();
      await begin(deployment.organization, deployment.id, limits);
      expect(await isUsed(deployment)).toBe(true);
    }
  });

  test('is in use by a request in flight only, also of an organization with more than 10,000 limiters', async () => {
    const deployment = create();
    const isUsedOfMany = () => isInUse({ limiters: { ...limiters, listByOrganization: manyKeys }, usage, now: Date.now }, deployment);
    expect(await isUsedOfMany()).toBe(false);
    const { end } = await begin(deployment.organization, deployment.id);
    expect(await isUsedOfMany()).toBe(true);
    await end();
    expect(await isUsedOfMany()).toBe(false);
  });

  test('is in use within its idle time after a request, although the rollup is late', async () => {
    const deployment = create({ scale_to_zero_after_seconds: 600 });
    const [first, second] = [await begin(deployment.organization, deployment.id), await begin(deployment.organization, deployment.id)];
    const settle = async ({ admission, end }: typeof first, model: string) => {
      await emulator.usage.putIfAbsent({ ...eventOf(admission, { tokens: 1, costNanos: 0n }), user_id: 'user-1', model });
      await end();
    };
    await settle(first, 'other');
    await settle(second, `${deployment.name}-2`);
    expect(await isUsed(deployment)).toBe(false);
    const third = await begin(deployment.organization, deployment.id);
    await settle(third, deployment.name);
    expect(await isUsed(deployment)).toBe(true);
    expect(await isUsed(deployment, Date.now() + 11 * MINUTE_MS)).toBe(false);
  });

  test('is not in use by requests for others, nor by those of another organization', async () => {
    const [deployment, other] = [create(), create()];
    await begin(deployment.organization, create().id);
    await begin(deployment.organization, undefined);
    await begin(other.organization, other.id);
    expect(await isUsed(deployment)).toBe(false);
  });

  test('is in use by a request of any organization, up to a quarter of an hour old, if everyone can call it', async () => {
    const deployment = create({ published_as: 'shared' });
    await begin(newId('organization'), deployment.id);
    expect(await isUsed(deployment)).toBe(true);
    expect(await isUsed(deployment, Date.now() + EPOCH_MS)).toBe(true);
    expect(await isUsed(create({ published_as: 'other' }))).toBe(false);
  });
});
