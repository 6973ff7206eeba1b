import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  AdapterPrice,
  type AdapterPriceDependencies,
  addAdapterPrice,
  listAdapterPrices,
} from '../../../../functions/control/prices/adapter-prices.ts';
import { addPrice, listPrices, type PriceRouteDependencies, previewPrice } from '../../../../functions/control/prices/add-price.ts';
import { NewPrice, PriceList, PricePreview, PriceResource } from '../../../../functions/control/prices/price-resource.ts';
import { PriceSheet, priceSheet } from '../../../../functions/control/prices/price-sheet.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { createCatalogueStore } from '../../../../shared/deployments/catalogue-store.ts';
import { MAX_PRICES, type Model } from '../../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { type Price, priceAt } from '../../../../shared/prices/price.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { actorOf, type Managed, manage, NOW_SECONDS } from '../../../support/fixtures/managed-models.ts';

let database: TestDatabase;
let managed: Managed;
beforeAll(async () => {
  database = await startTestDatabase();
  managed = manage(database);
});
afterAll(async () => {
  await database.close();
});

const NOW_MS = NOW_SECONDS * 1_000;
const LATER_MS = NOW_MS + 1_000;
const later = actorOf('admin', null, LATER_MS);
const perMillion = { prompt: '0.1', completion: '0.4' };
const add = (model: string, fields: object = {}, deps: PriceRouteDependencies = managed.deps) =>
  addPrice(deps, later, NewPrice.parse({ model, per_million: perMillion, ...fields }));
const stored = async (name: string): Promise<Model> => (await database.models.get(SERVERLESS_POOL, name)) as Model;

describe('a price version', () => {
  test('is exact to the nano-dollar, at rest and on the wire', async () => {
    const { name } = await managed.register();
    const per_million = { prompt: '0.000000003', cached_prompt: '0.000000001', completion: '1000000' };
    const price = await add(name, { per_million });
    expect(PriceResource.parse(price)).toEqual(price);
    expect(price).toMatchObject({
      id: expect.stringMatching(/^price_/),
      model: name,
      organization: null,
      prompt: '0.000000000000003',
      cached_prompt: '0.000000000000001',
      completion: '1',
      per_million,
      effective_at: NOW_SECONDS + 1,
    });
    expect((await stored(name)).prices[1]).toEqual({
      version: price.id,
      effective_at: LATER_MS,
      prompt_nanos: 3,
      cached_prompt_nanos: 1,
      completion_nanos: 1e15,
    });
  });

  test.each([
    [{ prompt: '0.0000000001', completion: '1' }],
    [{ prompt: '1000000.000000001', completion: '1' }],
    [{ prompt: '-1', completion: '1' }],
    [{ prompt: '1e3', completion: '1' }],
    [{ prompt: 1, completion: '1' }],
    [{ prompt: '1', cached_prompt: '1.1', completion: '1' }],
    [{ prompt: '1' }],
  ])('is rejected if its amounts are invalid: %j', (per_million) => {
    expect(() => NewPrice.parse({ model: 'm', per_million })).toThrow();
  });

  test('takes effect at its time and leaves earlier versions unchanged', async () => {
    const { name } = await managed.register();
    const { prices: before } = await stored(name);
    const price = await add(name, { effective_at: NOW_SECONDS + 3_600 });
    const { prices } = await stored(name);
    expect(prices.slice(0, 1)).toEqual(before);
    expect(priceAt(prices, NOW_MS + 3_599_999)).toEqual(before[0]);
    expect(priceAt(prices, NOW_MS + 3_600_000)?.version).toBe(price.id);
    expect(await managed.log(null, price.id)).toMatchObject([{ action: 'price.added', changes: { model: { to: name } } }]);
  });

  test('takes effect now if its time was in the last minute, and is rejected if it was earlier', async () => {
    const { name } = await managed.register();
    expect(await add(name, { effective_at: NOW_SECONDS - 59 })).toMatchObject({ effective_at: NOW_SECONDS + 1 });
    await expect(add(name, { effective_at: NOW_SECONDS - 61 })).rejects.toMatchObject({ status: 400, param: 'effective_at' });
    await expect(add(name, { effective_at: NOW_SECONDS + 1 })).rejects.toMatchObject({ status: 409, code: 'price_exists' });
  });

  test('is rejected if the model has 100', async () => {
    const prices = Array.from({ length: 100 }, (_, i) => ({ effective_at: i, per_million: perMillion }));
    const { name } = await managed.register({ prices });
    await expect(add(name)).rejects.toMatchObject({ status: 409, code: 'too_many_prices' });
  });

  test('is not lost if another one is added concurrently', async () => {
    const { name } = await managed.register();
    const deps = managed.racing();
    const results = await Promise.allSettled([1, 2].map((hours) => add(name, { effective_at: NOW_SECONDS + hours * 3_600 }, deps)));
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { status: 412 } });
    expect((await stored(name)).prices).toHaveLength(2);
  });

  test("can be added to an organization's deployment and is listed by model, newest first", async () => {
    const { id: organization } = await managed.newOrganization();
    const { name } = await managed.register({ organization });
    const { id } = await add(name, { organization });
    const list = await listPrices(managed.deps, { model: name, organization });
    expect(PriceList.parse(list)).toEqual(list);
    expect(list.data).toMatchObject([{ id, organization, per_million: { prompt: '0.1' } }, { per_million: { prompt: '0.05' } }]);
    await expect(listPrices(managed.deps, { model: name })).rejects.toMatchObject({ status: 404 });
  });
});

test('the price sheet lists the published shared models by name, each with its current and next price', async () => {
  const { id: organization } = await managed.newOrganization();
  await managed.register({ name: 'sheet-b', status: 'published' });
  await managed.register({ name: 'sheet-a', status: 'published' });
  await managed.register({ name: 'sheet-hidden' });
  await managed.register({ name: 'sheet-own', status: 'published', organization });
  const far = await add('sheet-a', { effective_at: NOW_SECONDS + 9_000 });
  const near = await add('sheet-a', { effective_at: NOW_SECONDS + 5_000 });

  const sheet = await priceSheet(managed.deps, LATER_MS);
  expect(PriceSheet.parse(sheet)).toEqual(sheet);
  expect(sheet.pricing.map(({ model }) => model)).toEqual(['sheet-a', 'sheet-b']);
  expect(sheet.pricing[0]).toMatchObject({
    prompt: '0.00000005',
    cached_prompt: '0.00000005',
    completion: '0.0000002',
    per_million: { prompt: '0.05', cached_prompt: '0.05', completion: '0.2' },
    effective_at: NOW_SECONDS,
    next: { version: near.id, effective_at: NOW_SECONDS + 5_000 },
  });
  expect(sheet.pricing[1]?.next).toBeNull();
  const [follower] = (await priceSheet(managed.deps, NOW_MS + 5_000_000)).pricing;
  expect(follower).toMatchObject({ version: near.id, prompt: '0.0000001', next: { version: far.id } });
});

describe('previewPrice', () => {
  const preview = (model: string, fields: object = {}) =>
    previewPrice(managed.deps, later, NewPrice.parse({ model, per_million: perMillion, ...fields }));

  test('says what a price would replace, and what replaces it, and adds nothing', async () => {
    const { name } = await managed.register();
    const [first] = (await stored(name)).prices;
    const scheduled = await add(name, { effective_at: NOW_SECONDS + 600 });
    const before = await stored(name);
    const planned = await preview(name, { effective_at: NOW_SECONDS + 60 });
    expect(PricePreview.parse(planned)).toEqual(planned);
    expect(planned).toMatchObject({
      price: { model: name, per_million: perMillion, effective_at: NOW_SECONDS + 60 },
      replaces: { id: first?.version },
      replaced_at: NOW_SECONDS + 600,
    });
    expect(await preview(name, { effective_at: NOW_SECONDS + 700 })).toMatchObject({ replaces: { id: scheduled.id }, replaced_at: null });
    expect(await stored(name)).toEqual(before);
  });

  test('fails as the creation would', async () => {
    const { name } = await managed.register();
    const { effective_at } = await add(name, { effective_at: NOW_SECONDS + 600 });
    await expect(preview(name, { effective_at })).rejects.toMatchObject({ status: 409, code: 'price_exists' });
    await expect(preview(name, { effective_at: NOW_SECONDS - 3_600 })).rejects.toMatchObject({ status: 400, param: 'effective_at' });
    await expect(preview('no-such-model')).rejects.toMatchObject({ status: 404 });
  });
});

describe('a surcharge on the tokens of adapters', () => {
  const perMillionTokens = { prompt: '0.01', cached_prompt: '0.001', completion: '0.04' };
  const depsOf = (): AdapterPriceDependencies => ({
    database: database.database,
    audit: managed.deps.audit,
    catalogue: createCatalogueStore(createRecordTable(database.database, database.tables.Deployments as string)),
  });

  test('is none at first, and is listed once it is added, newest first', async () => {
    const deps = depsOf();
    expect(await listAdapterPrices(deps)).toEqual({ object: 'list', data: [] });
    const first = await addAdapterPrice(deps, later, { per_million: perMillionTokens });
    expect(AdapterPrice.parse(first)).toEqual(first);
    expect(first).toMatchObject({ object: 'adapter_price', per_million: perMillionTokens, effective_at: NOW_SECONDS + 1 });
    const second = await addAdapterPrice(deps, later, { effective_at: NOW_SECONDS + 60, per_million: perMillionTokens });
    expect((await listAdapterPrices(deps)).data).toEqual([second, first]);
    expect((await deps.catalogue.adapterPrices()).prices[0]).toEqual({
      version: first.id,
      effective_at: LATER_MS,
      prompt_nanos: 10_000_000,
      cached_prompt_nanos: 1_000_000,
      completion_nanos: 40_000_000,
      is_surcharge: true,
    });
  });

  test.each([
    [{ effective_at: NOW_SECONDS - 120 }, { status: 400, param: 'effective_at' }],
    [{ effective_at: NOW_SECONDS + 60 }, { status: 409 }],
  ])('is refused with %j', async (fields, error) => {
    await expect(addAdapterPrice(depsOf(), later, { per_million: perMillionTokens, ...fields })).rejects.toMatchObject(error);
  });

  test('is refused if another one was added meanwhile, and beyond the most that models can have', async () => {
    const deps = depsOf();
    const before = await deps.catalogue.adapterPrices();
    await addAdapterPrice(deps, later, { effective_at: NOW_SECONDS + 120, per_million: perMillionTokens });
    const stale = { ...deps, catalogue: { ...deps.catalogue, adapterPrices: async () => before } };
    const next = { effective_at: NOW_SECONDS + 180, per_million: perMillionTokens };
    await expect(addAdapterPrice(stale, later, next)).rejects.toMatchObject({ status: 412 });
    const prices = Array.from({ length: MAX_PRICES - 1 }, (_, i) => ({
      ...(before.prices[0] as Price),
      version: `price_${i}`,
      effective_at: i,
    }));
    const full = { ...deps, catalogue: { ...deps.catalogue, adapterPrices: async () => ({ ...before, prices }) } };
    await expect(addAdapterPrice(full, later, next)).rejects.toMatchObject({ status: 409, code: 'too_many_prices' });
  });
});
