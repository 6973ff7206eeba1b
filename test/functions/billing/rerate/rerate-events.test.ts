import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import {
  executeRerate,
  listRerateOrganizations,
  listRerates,
  retrieveRerate,
} from '../../../../functions/control/billing/rerates/rerates.ts';
import { balanceOf } from '../../../../functions/control/organizations/balance.ts';
import { settle } from '../../../../functions/inference/pipeline/settle-request.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { costNanos } from '../../../../shared/prices/price.ts';
import { type GpuEvent, gpuEventId } from '../../../../shared/usage/gpu-event.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash, unreliable } from '../../../support/faults/unreliable-database.ts';
import { attempt, isAdmitted, makeCaller, makeKey } from '../../../support/fixtures/callers.ts';
import { eventOf } from '../../../support/fixtures/completed-event.ts';
import { actorOf } from '../../../support/fixtures/managed-models.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { creditDepsOf, setUpIn } from '../../control/organizations/credit-fixtures.ts';
import { costOf, DAY, DEAR, NOON, NOW, RIGHT, rerating, usageOf, WRONG } from './rerate-fixtures.ts';

let database: TestDatabase;
// With the permissions of the billing function.
let billing: Database;
beforeAll(async () => {
  database = await startTestDatabase();
  billing = await database.as('billing');
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const priceOf = { wrong: WRONG, right: RIGHT, dear: DEAR };
const tokensOf = ({
  prompt_tokens,
  cached_tokens,
  completion_tokens,
}: {
  prompt_tokens: number;
  cached_tokens: number;
  completion_tokens: number;
}) => ({
  promptTokens: prompt_tokens,
  cachedTokens: cached_tokens,
  completionTokens: completion_tokens,
});

// An organization with a key that has one shard and one that has several, and a model of its own.
const setUp = async () => {
  const model = `model-${newId('key')}`;
  const organization = newId('organization');
  const keys = [
    await makeKey(database.limiters, { org: organization }),
    await makeKey(database.limiters, { org: organization, tokens_per_minute: 1_000_000, concurrency: 40 }),
  ];
  const [plain = '', sharded = ''] = keys.map(({ keyId }) => keyId);
  return { model, organization, plain, sharded, usage: usageOf(database, model), ...rerating(database, model, database.database, billing) };
};

describe('a rerate', () => {
  test('marks the days on which it changes events, for the next invoice', async () => {
    const { organization, plain, usage, create, drain, deps } = await setUp();
    await usage.put(plain, organization, WRONG);
    await usage.put(plain, organization, RIGHT, { admitted_at: NOON + 86_400_000 });
    await create({ organization, end_time: NOON / 1_000 + 100_000 });
    await drain();
    expect([...(await deps.billedMonths.daysRatedAgain(organization)).keys()]).toEqual([DAY]);
  });

  test('selects requests by their arrival, which determines their price, and not by their admission', async () => {
    const { organization, plain, usage, create, drain, control } = await setUp();
    const lastMs = NOON + 1_000_000;
    const before = await usage.put(plain, organization, WRONG, { request_id: newRequestId(lastMs - 1), admitted_at: lastMs + 500 });
    await usage.put(plain, organization, WRONG, { request_id: newRequestId(NOON - 1), admitted_at: NOON + 500 });
    const { id } = await create({ organization, start_time: NOON / 1_000, end_time: lastMs / 1_000 });
    await drain();
    const added = (await usage.events(plain)).filter(({ rerate }) => rerate);
    expect(added.map(({ request_id }) => request_id)).toEqual([`${before.request_id}#2`]);
    expect((await retrieveRerate(control, id)).execution).toMatchObject({ events: 1 });
  });

  test('finds the events of all shards of a key that lost its first limiter', async () => {
    const { organization, sharded, usage, create, drain, control } = await setUp();
    for (let i = 0; i < 12; i++) await usage.put(sharded, organization, WRONG);
    await usage.total(sharded);
    await database.database.delete({ TableName: database.tables.Keys as string, Key: { id: sharded } });
    const { id } = await create({ organization });
    await drain();
    expect((await retrieveRerate(control, id)).execution).toMatchObject({ events: 12 });
  });

  test('adds to each event of the old version an event with the difference, and changes nothing else', async () => {
    const { organization, plain, sharded, usage, create, drain, control } = await setUp();
    const wrong = [
      await usage.put(plain, organization, WRONG),
      await usage.put(sharded, organization, WRONG, {
        prompt_tokens: 7,
        completion_tokens: 0,
        is_prepaid: undefined,
        user_id: 'u',
        endpoint: 'e',
        metadata: { a: 1 },
      }),
      await usage.put(sharded, organization, WRONG, { admitted_at: Date.parse(DAY) }),
    ];
    await usage.put(plain, organization, RIGHT);
    await usage.put(plain, organization, WRONG, { model: 'another' });
    await usage.put(plain, organization, WRONG, { admitted_at: Date.parse(DAY) - 1 });
    const before = [...(await usage.events(plain)), ...(await usage.events(sharded))];
    const { id } = await create({ organization });
    await drain();
    const after = [...(await usage.events(plain)), ...(await usage.events(sharded))];
    expect(after.filter(({ rerate }) => !rerate)).toEqual(before);
    const added = after.filter(({ rerate }) => rerate);
    expect(added).toHaveLength(wrong.length);
    for (const original of wrong) {
      const { metadata: _, ...facts } = original;
      expect(added.find(({ request_id }) => request_id === `${original.request_id}#2`)).toEqual({
        ...facts,
        request_id: `${original.request_id}#2`,
        prompt_tokens: 0,
        cached_tokens: 0,
        completion_tokens: 0,
        time_to_first_token_ms: null,
        duration_ms: 0,
        cost_nanos: costNanos(RIGHT, tokensOf(original)) - original.cost_nanos,
        price_version: 'right',
        rerate: { id, from: 'wrong' },
      });
    }
    expect(await retrieveRerate(control, id)).toMatchObject({
      state: 'completed',
      preview: null,
      execution: {
        organizations: 1,
        organizations_done: 1,
        events: 3,
        old_cost: dollarsOf(costOf(wrong)),
        new_cost: dollarsOf(wrong.reduce((sum, event) => sum + costNanos(RIGHT, tokensOf(event)), 0n)),
        difference: dollarsOf(costOf(added)),
      },
    });
    for (const key of [plain, sharded]) expect(await usage.total(key)).toBe(costOf(await usage.events(key)));
  });

  test('is previewed without writing events, and then executed as previewed', async () => {
    const { organization, plain, usage, create, drain, control, admin } = await setUp();
    await usage.put(plain, organization, WRONG);
    const { id, state } = await create({ organization, dry_run: true });
    expect(state).toBe('previewing');
    await expect(executeRerate(control, admin, id)).rejects.toMatchObject({ status: 409, code: 'preview_running' });
    await drain();
    expect(await usage.events(plain)).toHaveLength(1);
    const previewed = await retrieveRerate(control, id);
    expect(previewed).toMatchObject({ state: 'previewed', execution: null, preview: { events: 1 } });
    expect(await executeRerate(control, admin, id)).toMatchObject({ state: 'executing' });
    await drain();
    expect(await retrieveRerate(control, id)).toMatchObject({ state: 'completed', execution: previewed.preview });
    const [month] = (await listRerateOrganizations(control, id, { limit: 20 })).data;
    expect(month).toMatchObject({ organization, is_done: true, months: [{ month: '2026-11', events: 1 }] });
    expect(await usage.events(plain)).toHaveLength(2);
    await executeRerate(control, admin, id);
    await drain();
    expect(await usage.events(plain)).toHaveLength(2);
  });

  test('continues in another task when its time ends', async () => {
    const { organization, plain, sharded, usage, create, drain, control } = await setUp();
    for (const key of [plain, sharded]) await usage.put(key, organization, WRONG);
    const { id } = await create({ organization });
    let calls = 0;
    await drain({ hasTime: () => calls++ % 2 === 0 });
    expect(calls).toBeGreaterThan(2);
    expect(await retrieveRerate(control, id)).toMatchObject({ state: 'completed', execution: { events: 2 } });
  });

  test('sends a task to each organization if it is for all', async () => {
    const { organization, plain, usage, create, drain, control } = await setUp();
    await usage.put(plain, organization, WRONG);
    const { id } = await create({});
    const other = newId('organization');
    await drain({
      organizations: async function* () {
        yield organization;
        yield other;
      },
    });
    expect(await retrieveRerate(control, id)).toMatchObject({
      state: 'completed',
      execution: { organizations: 2, organizations_done: 2, events: 1 },
    });
  });

  test('reads no API key on days on which it was not used', async () => {
    const { organization, plain, sharded, usage, create, drain, deps } = await setUp();
    await usage.put(plain, organization, WRONG);
    const read = new Set<string>();
    const listByBucket: typeof deps.usage.listByBucket = (shard, ...rest) => {
      read.add(shard);
      return deps.usage.listByBucket(shard, ...rest);
    };
    const day = Date.parse(DAY) / 1_000;
    await create({ organization, start_time: day, end_time: day + 86_400 });
    await drain({ usage: { ...deps.usage, listByBucket } });
    expect([...read]).toEqual([plain]);
    expect(read.has(sharded)).toBe(false);
  });

  test('is listed without reading its changes in each organization', async () => {
    const { organization, plain, usage, create, drain, control, rerates } = await setUp();
    const event = await usage.put(plain, organization, WRONG);
    const { id } = await create({ organization, dry_run: true });
    let calls = 0;
    await drain({ hasTime: () => calls++ % 2 === 0 });
    await executeRerate(control, actorOf('admin', null, NOW), id);
    await drain();
    const read: string[] = [];
    const allProgress: typeof rerates.allProgress = async function* (of, phase) {
      for await (const progress of rerates.allProgress(of, phase)) {
        read.push(of);
        yield progress;
      }
    };
    const { data } = await listRerates({ rerates: { ...rerates, allProgress } }, { limit: 100 });
    const sums = { events: 1, old_cost: dollarsOf(event.cost_nanos), new_cost: dollarsOf(costNanos(RIGHT, tokensOf(event))) };
    expect(data.find((rerate) => rerate.id === id)).toMatchObject({
      state: 'completed',
      preview: { organizations: 1, organizations_done: 1, ...sums },
      execution: { organizations: 1, organizations_done: 1, ...sums },
    });
    expect(read).not.toContain(id);
    // Delivered again, as after a crash.
    await executeRerate(control, actorOf('admin', null, NOW), id);
    await drain();
    expect(await retrieveRerate(control, id)).toMatchObject({ execution: { organizations_done: 1, ...sums } });
  });

  test('shows its organizations’ sums if an earlier release began it', async () => {
    const { organization, plain, usage, create, drain, control } = await setUp();
    await usage.put(plain, organization, WRONG);
    const { id } = await create({ organization });
    await database.database.delete({ TableName: database.tables.Billing as string, Key: { account: id, record: 'totals#execution' } });
    await drain();
    expect(await retrieveRerate(control, id)).toMatchObject({ state: 'completed', execution: { organizations_done: 1, events: 1 } });
  });

  test('restores exactly the old cost, also of capped requests, when it goes back to the old version', async () => {
    const { organization, plain, usage, create, drain } = await setUp();
    const original = await usage.put(plain, organization, WRONG);
    const capped = await usage.put(plain, organization, WRONG, { cost_nanos: 5_000_000n, is_capped: true });
    const costs = async (id: string): Promise<bigint> =>
      costOf((await usage.events(plain)).filter(({ request_id }) => request_id.startsWith(id)));
    for (const [from_version, to_version] of [
      ['wrong', 'dear'],
      ['dear', 'right'],
      ['right', 'wrong'],
    ] as const) {
      await create({ organization, from_version, to_version });
      await drain();
      expect(await costs(original.request_id)).toBe(costNanos(priceOf[to_version], tokensOf(original)));
      const whole = costNanos(priceOf[to_version], tokensOf(capped));
      expect(await costs(capped.request_id)).toBe(whole < 5_000_000n ? whole : 5_000_000n);
    }
    expect((await usage.events(plain)).map(({ request_id }) => request_id.split('#')[1]).sort()).toEqual([
      '2',
      '2',
      '3',
      '3',
      '4',
      '4',
      undefined,
      undefined,
    ]);
  });

  test('rates each event again once, even if it crashes at any call and is repeated', async () => {
    const { model, organization, plain, usage } = await setUp();
    await transact(database.database, [
      database.limiters.toCreate({
        id: organization,
        org: organization,
        status: 'active',
        cfg: 1,
        fl: {},
        prepaid: true,
        avail: 10n ** 12n,
        grants: 1,
      } as never),
    ]);
    for (let i = 0; i < 45; i++) await usage.put(plain, organization, WRONG, { prompt_tokens: i + 37, is_prepaid: true });
    const before = costOf(await usage.events(plain));
    const healthy = rerating(database, model);
    const { id } = await healthy.create({ organization });
    for (let call = 0, crashed = true; crashed; call++) {
      const side = call % 2 === 0 ? 'before' : 'after';
      let writes = Math.floor(call / 2);
      const crash = (operation: string, when: 'before' | 'after'): boolean =>
        operation === 'transactWrite' && when === side && writes-- === 0;
      const dying = rerating(database, model, unreliable(database.database, { random: () => 1, lostRequests: 0, lostReplies: 0, crash }));
      await dying.queue.tasks.send({ task: 'rerate', organization, rerate: id }, NOW);
      crashed = await dying.drain().then(
        () => false,
        (error: unknown) => {
          if (error instanceof Crash) return true;
          throw error;
        },
      );
      expect(call).toBeLessThan(20);
    }
    await healthy.drain();
    const events = await usage.events(plain);
    expect(events).toHaveLength(90);
    const difference = costOf(events) - before;
    expect(await retrieveRerate(healthy.control, id)).toMatchObject({
      state: 'completed',
      execution: { events: 45, old_cost: dollarsOf(before), difference: dollarsOf(difference) },
    });
    expect(BigInt((await database.limiters.get(organization))?.avail ?? 0)).toBe(10n ** 12n - difference);
    const log = await rerating(database, model).control.audit.list(organization, { limit: 10 });
    expect(log.data.filter(({ action }) => action === 'usage.rerated')).toHaveLength(1);
  });
});

describe('GPU time', () => {
  test('is rated again with its sums by day, and never above the charge if the credit had ended', async () => {
    const { organization, create, drain, gpuEvents } = await setUp();
    const type = 'ml.g5.xlarge';
    const deployment = newId('deployment');
    const gpuEvent = (started_at: number, fields: Partial<GpuEvent> = {}): GpuEvent => {
      const of = { deployment_id: deployment, generation: 1, instance_type: type, phase: 'serving' as const, started_at };
      return {
        ...of,
        id: gpuEventId(of),
        org_id: organization,
        name: 'own',
        instances: 3,
        ended_at: started_at + 901_000,
        seconds: 901,
        cost_nanos: 5_406_000_001n,
        price_version: 'gpu-wrong',
        ...fields,
      };
    };
    const events = [gpuEvent(NOON), gpuEvent(NOON + 901_000), gpuEvent(NOON + 2 * 901_000, { cost_nanos: 7n, is_capped: true })];
    await transact(database.database, gpuEvents.toAdd(events));
    const daySums = () => Array.fromAsync(gpuEvents.listDays(organization, DAY, DAY));
    const rerate = async (from_version: string, to_version: string): Promise<void> => {
      await create({ organization, model: undefined, instance_type: type, from_version, to_version });
      await drain();
    };
    // 901 seconds of 3 instances at 1,400,000,003 nano-dollars an hour, rounded half up.
    const right = 1_051_166_669n;
    await rerate('gpu-wrong', 'gpu-right');
    expect(await daySums()).toMatchObject([{ instanceSeconds: 9n * 901n, costNanos: 2n * right + 7n, prepaidNanos: 0n }]);
    const all = await Array.fromAsync(gpuEvents.listByDeployment(deployment, DAY, DAY));
    expect(all.filter(({ rerate: again }) => again)).toMatchObject([
      { id: `${events[0]?.id}#2`, seconds: 0, cost_nanos: right - 5_406_000_001n, price_version: 'gpu-right' },
      { id: `${events[1]?.id}#2`, rerate: { from: 'gpu-wrong' } },
      { id: `${events[2]?.id}#2`, cost_nanos: 0n },
    ]);
    await rerate('gpu-right', 'gpu-wrong');
    expect(await daySums()).toMatchObject([{ instanceSeconds: 9n * 901n, costNanos: costOf(events) }]);
  });
});

test('keeps all credit in any sequence of requests and rerates in both directions', async () => {
  const deps = { ...creditDepsOf(database) };
  const Step = fc.oneof(
    fc.record({ do: fc.constant('request' as const), prompt: fc.nat(5_000), completion: fc.nat(500) }),
    fc.record({
      do: fc.constant('rerate' as const),
      from: fc.constantFrom('wrong' as const, 'right' as const, 'dear' as const),
      by: fc.constantFrom(1, 2),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(Step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const model = `model-${newId('key')}`;
      const { organization, key } = await setUpIn(deps, 2_000_000_000n);
      const { create, drain } = rerating(database, model);
      const usage = usageOf(database, model);
      let price = WRONG;
      for (const step of steps) {
        if (step.do === 'request') {
          const caller = makeCaller(database.limiters, () => NOON);
          const cost = costNanos(price, { promptTokens: step.prompt, completionTokens: step.completion });
          const admission = await attempt(caller, key, 1, newRequestId(NOON), cost);
          if (!isAdmitted(admission)) continue;
          const event = {
            ...eventOf(admission, { tokens: step.prompt, costNanos: cost }),
            model,
            completion_tokens: step.completion,
            price_version: price.version,
          };
          await settle({ usage: database.usage, keys: caller }, admission, event);
        } else {
          const names = ['wrong', 'right', 'dear'] as const;
          const to = names[(names.indexOf(step.from) + step.by) % 3] as (typeof names)[number];
          await create({ organization, from_version: step.from, to_version: to });
          await drain();
          price = priceOf[to];
        }
      }
      await usage.total(key.keyId);
      expect(await balanceOf(deps, organization)).toMatchObject({ drift: 0n });
    }),
    { numRuns: 8 },
  );
});
