import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { retrieveModel } from '../../../../functions/control/model-registry/find-model.ts';
import {
  NewServicePromise,
  ServicePromiseList,
  ServicePromiseResource,
} from '../../../../functions/control/service-levels/promise-resource.ts';
import { listPromises, statePromise } from '../../../../functions/control/service-levels/state-promise.ts';
import { MAX_PROMISES } from '../../../../shared/service-levels/promise.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { actorOf, type Managed, manage } from '../../../support/fixtures/managed-models.ts';

let database: TestDatabase;
let managed: Managed;
beforeAll(async () => {
  database = await startTestDatabase();
  managed = manage(database);
});
afterAll(async () => {
  await database.close();
});

const at = (time: string, role: 'admin' | 'member' = 'admin') => actorOf(role, role === 'admin' ? null : 'org_1', Date.parse(time));
const NOVEMBER = '2026-11-30T23:59:59.999Z';
const availability = { tiers: [{ below: '0.999', credit_percent: 10 }] };
const state = (model: string, fields: object = {}, time = NOVEMBER) =>
  statePromise(managed.deps, at(time), NewServicePromise.parse({ model, availability, ...fields }));

describe('a promise', () => {
  test('holds from the next month on if none is named, and is recorded', async () => {
    const { name } = await managed.register();
    const promise = await state(name);
    expect(ServicePromiseResource.parse(promise)).toEqual(promise);
    expect(promise).toMatchObject({
      model: name,
      from_month: '2026-12',
      availability: { min_requests: 1, tiers: availability.tiers },
      first_token_p95_ms: null,
      wake_p95_seconds: null,
      max_credit_percent: 100,
    });
    expect(await managed.log(null, `${name}/2026-12`)).toMatchObject([{ action: 'service_promise.stated' }]);
  });

  test.each(['2026-11', '2026-10'])('is rejected for %s, which has begun', async (from_month) => {
    const { name } = await managed.register();
    await expect(state(name, { from_month })).rejects.toMatchObject({ status: 400, param: 'from_month' });
  });

  test('replaces one that was stated for the same month, and no other', async () => {
    const { name } = await managed.register();
    await state(name, { from_month: '2026-12' });
    await state(name, { from_month: '2027-02', max_credit_percent: 20 });
    await state(name, { from_month: '2027-02', max_credit_percent: 30 });
    const { data } = await listPromises(managed.deps, { model: name });
    expect(data.map(({ from_month, max_credit_percent }) => [from_month, max_credit_percent])).toEqual([
      ['2027-02', 30],
      ['2026-12', 100],
    ]);
  });

  test('is of a shared model that exists', async () => {
    await expect(state('missing')).rejects.toMatchObject({ status: 404 });
    await expect(listPromises(managed.deps, { model: 'missing' })).rejects.toMatchObject({ status: 404 });
  });

  test('is refused if another one was stated between its read and its write', async () => {
    const { name } = await managed.register();
    const { servicePromises } = managed.deps;
    const overtaken = {
      ...managed.deps,
      servicePromises: {
        ...servicePromises,
        get: async (model: string) => {
          const read = await servicePromises.get(model);
          await state(name, { max_credit_percent: 20 });
          return read;
        },
      },
    };
    const late = NewServicePromise.parse({ model: name, availability, max_credit_percent: 30 });
    await expect(statePromise(overtaken, at(NOVEMBER), late)).rejects.toMatchObject({ status: 412 });
    expect((await listPromises(managed.deps, { model: name })).data).toMatchObject([{ max_credit_percent: 20 }]);
  });

  test('is refused if the list has changed since its caller read it', async () => {
    const { name } = await managed.register();
    const stateSeen = (seen: number, max_credit_percent: number) =>
      statePromise(managed.deps, at(NOVEMBER), NewServicePromise.parse({ model: name, availability, max_credit_percent }), [seen]);
    await stateSeen((await listPromises(managed.deps, { model: name })).version, 20);
    await expect(stateSeen(0, 30)).rejects.toMatchObject({ status: 412 });
    await stateSeen(1, 40);
    const list = await listPromises(managed.deps, { model: name });
    expect(ServicePromiseList.parse(list)).toEqual(list);
    expect(list).toMatchObject({ version: 2, data: [{ max_credit_percent: 40 }] });
  });

  test('is one of a limited number', async () => {
    const { name } = await managed.register();
    const months = Array.from({ length: MAX_PROMISES }, (_, i) => `${2027 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}`);
    const stored = await managed.deps.servicePromises.get(name);
    const promises = months.map((from_month) => ({ from_month, stated_at: 0, figures: NewServicePromise.parse({ model: name }) }));
    const { item } = managed.deps.servicePromises.toReplace({ ...stored, promises });
    await database.database.put({ TableName: database.tables.Billing as string, Item: item.Put?.Item ?? {} });
    await expect(state(name, { from_month: '2026-12' })).rejects.toMatchObject({ status: 409, code: 'too_many_promises' });
    await expect(state(name, { from_month: '2027-03' })).resolves.toMatchObject({ from_month: '2027-03' });
  });
});

describe('NewServicePromise', () => {
  const tiers = (...all: object[]) => ({ tiers: all });
  test.each([
    [{ availability: tiers() }],
    [{ availability: tiers({ below: '0', credit_percent: 10 }) }],
    [{ availability: tiers({ below: '0.000', credit_percent: 10 }) }],
    [{ availability: tiers({ below: '1.1', credit_percent: 10 }) }],
    [{ availability: tiers({ below: '0.9999999', credit_percent: 10 }) }],
    [{ availability: tiers({ below: 0.9, credit_percent: 10 }) }],
    [{ availability: tiers({ below: '0.9', credit_percent: 0 }) }],
    [{ availability: tiers({ below: '0.9', credit_percent: 101 }) }],
    [{ availability: tiers({ below: '0.9', credit_percent: 1.5 }) }],
    [{ availability: tiers({ below: '0.9', credit_percent: 10 }, { below: '0.90', credit_percent: 20 }) }],
    [{ availability: tiers({ below: '0.9', credit_percent: 10 }, { below: '0.8', credit_percent: 10 }) }],
    [{ availability: { ...availability, min_requests: 0 } }],
    [{ first_token_p95_ms: tiers({ above: 0, credit_percent: 10 }) }],
    [{ first_token_p95_ms: tiers({ above: 1.5, credit_percent: 10 }) }],
    [{ first_token_p95_ms: tiers({ above: 900_001, credit_percent: 10 }) }],
    [{ first_token_p95_ms: tiers({ above: 200, credit_percent: 10 }, { above: 100, credit_percent: 20 }) }],
    [{ wake_p95_seconds: tiers({ above: 901, credit_percent: 10 }) }],
    [{ wake_p95_seconds: tiers({ below: 1, credit_percent: 10 }) }],
    [{ max_credit_percent: 0 }],
    [{ max_credit_percent: 101 }],
    [{ from_month: '2027-13' }],
    [{ organization: 'org_1' }],
  ])('rejects %j', (fields) => {
    expect(NewServicePromise.safeParse({ model: 'm', ...fields }).success).toBe(false);
  });
});

describe('a model', () => {
  test('says what it promises this month, until nothing is promised any more', async () => {
    const { name } = await managed.register({ status: 'published' });
    await state(name);
    await state(name, { from_month: '2027-02', availability: undefined });
    const seen = (time: string) => retrieveModel(managed.deps, at(time, 'member'), name, undefined);
    expect(await seen(NOVEMBER)).not.toHaveProperty('service_promise');
    expect(await seen('2026-12-01T00:00:00Z')).toMatchObject({ service_promise: { availability } });
    expect(await seen('2027-01-31T23:59:59Z')).toMatchObject({ service_promise: { availability } });
    expect(await seen('2027-02-01T00:00:00Z')).not.toHaveProperty('service_promise');
  });
});
