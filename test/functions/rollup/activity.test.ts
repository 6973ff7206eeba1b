import { describe, expect, test } from '@jest/globals';
import { createActivityOfBatch } from '../../../functions/rollup/activity.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { orphanedEvent, type UsageEvent } from '../../../shared/usage/event.ts';

const eventOf = (change: Partial<UsageEvent>): UsageEvent => ({
  ...orphanedEvent({ requestId: 'req_1', keyId: 'key_1', orgId: 'org_1', projectId: undefined, admittedAtMs: 1_000, nowMs: 3_000 }),
  model: 'm',
  ...change,
});
const activityOf = async (change: Partial<UsageEvent>) => {
  const { observe, latest } = createActivityOfBatch();
  async function* events() {
    yield eventOf(change);
  }
  await Array.fromAsync(observe(events()));
  return latest().map(({ pool, name }) => [pool, name]);
};

describe('the activity of a batch', () => {
  const endpoint = 'sluice-0123456789abcdefgh-g1';

  test('is that of the organization’s deployment for a request of the on-demand host', async () => {
    expect(await activityOf({ user_id: 'u', endpoint })).toEqual([['org_1', 'm']]);
  });

  test('is that of the shared model if one answered in place of a deployment', async () => {
    expect(await activityOf({ user_id: 'u', is_shared: true, endpoint })).toEqual([[SERVERLESS_POOL, 'm']]);
    expect(await activityOf({ user_id: 'u', is_shared: true, endpoint: 'own-endpoint' })).toEqual([]);
  });
});
