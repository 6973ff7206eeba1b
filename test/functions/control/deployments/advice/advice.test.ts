import { beforeEach, expect, test } from '@jest/globals';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { AdviceQuery, adviceFor } from '../../../../../functions/control/deployments/advice/advice.ts';
import { updateDeployment } from '../../../../../functions/control/deployments/update-deployment.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../../../shared/time/units.ts';
import type { TestDatabase } from '../../../../support/emulators/database.ts';
import { officeDays, simulateLife, storeLife } from '../../../../support/fixtures/gpu-time/simulated-life.ts';
import { type ManagedDeployments, NOW_MS, useManagedDeployments } from '../../../../support/fixtures/managed-deployments.ts';

const TODAY_MS = (Math.floor(NOW_MS / DAY_MS) + 5) * DAY_MS;
const RANGE = { fromMs: TODAY_MS - 4 * DAY_MS, toMs: TODAY_MS };

let emulator: TestDatabase;
let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
useManagedDeployments((tenant) => {
  ({ emulator, managed, organization, owner } = tenant);
});
let later: Actor;
beforeEach(() => {
  later = { ...owner, origin: { ...owner.origin, nowMs: TODAY_MS + 3 * MINUTE_MS } };
});

const adviceOf = (actor: Actor, id: string) => adviceFor(managed.deps, actor, id, AdviceQuery.parse({ days: '4' }));

const requests = officeDays(RANGE.fromMs, 4);

const live = async (idleMinutes: number) => {
  const { id, name } = await managed.create(owner, { scale_to_zero_after_seconds: idleMinutes * 60 });
  const life = simulateLife(requests, { range: RANGE, idleMs: idleMinutes * MINUTE_MS, seed: 5, deployment: { id, organization, name } });
  await storeLife(emulator, { id, organization }, { life, requests, range: RANGE });
  return { id, life };
};

const secondsOf = (events: readonly { seconds: number }[]): number => events.reduce((sum, { seconds }) => sum + seconds, 0);

test('the replay of the present settings is what was metered, and the suggestion brings what it says', async () => {
  const { id, life } = await live(40);
  const advice = await adviceOf(later, id);
  expect(advice).toMatchObject({ from: RANGE.fromMs / SECOND_MS, to: RANGE.toMs / SECOND_MS, requests: requests.length });
  expect(advice.metered.instance_seconds).toBe(secondsOf(life.events));
  expect(advice.present).toMatchObject({ ...advice.metered, scale_to_zero_after_seconds: 2_400, cold_starts: life.coldStarts });

  const { suggestion } = advice;
  const idleSeconds = suggestion?.apply.body.scale_to_zero_after_seconds ?? 0;
  const applied = simulateLife(requests, { range: RANGE, idleMs: idleSeconds * SECOND_MS, seed: 6 });
  const option = advice.options.find(({ scale_to_zero_after_seconds: seconds }) => seconds === idleSeconds);
  expect(option?.cold_starts).toBe(applied.coldStarts);
  // At each start and each sleep, a pass can be a minute earlier or later.
  expect(Math.abs((option?.instance_seconds ?? 0) - secondsOf(applied.events))).toBeLessThanOrEqual(applied.coldStarts * 2 * 61);
  expect(suggestion?.sentence).toMatch(/^(Sleep after|Never sleep)/);
});

test('a suggestion is applied with the request that it contains', async () => {
  const { id } = await live(40);
  const { suggestion } = await adviceOf(later, id);
  expect(suggestion?.apply).toMatchObject({ method: 'PATCH', path: `/v1/deployments/${id}` });
  const body = suggestion?.apply.body ?? { scale_to_zero_after_seconds: 0 };
  expect(await updateDeployment(managed.deps, owner, { id }, body)).toMatchObject(body);
});

test('a deployment without a whole day has no suggestion yet', async () => {
  const { id } = await managed.create(owner);
  expect(await adviceOf(owner, id)).toMatchObject({
    requests: 0,
    metered: { instance_seconds: 0, cost: '0' },
    present: null,
    options: [],
    suggestion: null,
  });
});

test('a deployment that nobody called and that never ran costs nothing with any setting', async () => {
  const { id } = await managed.create(owner);
  expect(await adviceOf(later, id)).toMatchObject({
    present: { instance_seconds: 0, cold_starts: 0 },
    options: [{ cost: '0' }],
    suggestion: null,
  });
});

test('a deployment that ran only in windows, or not yet, is replayed with the starts of others on its type', async () => {
  managed.setStartSeconds([481.234, 502.5, 700.001]);
  const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
  const schedule = [{ days: [...days], from: '08:00', to: '09:00', time_zone: 'UTC', min_copies: 1 }];
  const { id } = await managed.create(owner, { schedule, scale_to_zero_after_seconds: 60 });
  const { present, metered } = await adviceOf(later, id);
  expect(metered.instance_seconds).toBe(0);
  // The window, the early start of at most 12 minutes and the release of about 14, each day.
  expect(present?.cold_starts).toBe(0);
  expect(present?.instance_seconds).toBeGreaterThan(4 * 3_600);
  expect(present?.instance_seconds).toBeLessThan(4 * (3_600 + 30 * 60));
});

test("another organization's deployment is not found", async () => {
  const { id } = await managed.create(owner);
  await expect(adviceOf({ ...later, organization: 'org_other' }, id)).rejects.toMatchObject({ status: 404 });
  await expect(adviceOf(managed.admin, id)).resolves.toMatchObject({ deployment: id });
});

test.each([['0'], ['31'], ['1.5'], ['a']])('`days` can’t be %s', (days) => {
  expect(AdviceQuery.safeParse({ days }).success).toBe(false);
});
