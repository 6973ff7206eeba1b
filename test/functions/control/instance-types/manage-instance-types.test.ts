import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  InstanceTypeList,
  InstanceTypeUpdate,
  NewInstanceCost,
  NewInstancePrice,
  NewInstanceType,
} from '../../../../functions/control/instance-types/instance-type.ts';
import {
  addInstanceCost,
  addInstancePrice,
  createInstanceType,
  type InstanceTypeDependencies,
  listInstanceTypes,
  retrieveInstanceType,
  updateInstanceType,
} from '../../../../functions/control/instance-types/manage-instance-types.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { createCatalogueStore } from '../../../../shared/deployments/catalogue-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { catalogueOf } from '../../../support/fixtures/deployment-catalogue.ts';
import { actorOf, admin, manage, NOW_SECONDS } from '../../../support/fixtures/managed-models.ts';

let emulator: TestDatabase;
let deps: InstanceTypeDependencies;
let log: ReturnType<typeof manage>['log'];
beforeAll(async () => {
  emulator = await startTestDatabase();
  const managed = manage(emulator);
  deps = { ...managed.deps, catalogue: catalogueOf(emulator) };
  ({ log } = managed);
});
afterAll(() => emulator.close());

const member = actorOf('member', 'org_1');
const price = (id: string, fields: object) => addInstancePrice(deps, admin, id, NewInstancePrice.parse(fields));
const store = (id: string) => deps.catalogue.prices(id);

describe('the catalogue of instance types', () => {
  test('has the common GPU types of SageMaker in a new installation, without prices', async () => {
    const { data } = InstanceTypeList.parse(await listInstanceTypes(deps, member));
    expect(data.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['ml.g5.xlarge', 'ml.g6.xlarge', 'ml.g6e.12xlarge', 'ml.p4d.24xlarge', 'ml.p5.48xlarge']),
    );
    expect(data.find(({ id }) => id === 'ml.g5.12xlarge')).toMatchObject({
      accelerator: 'NVIDIA A10G',
      accelerators: 4,
      accelerator_memory_gib: 24,
      memory_gib: 192,
      price: null,
    });
  });

  test('takes a new type, which can be retired', async () => {
    const fields = { id: 'ml.g7.2xlarge', accelerator: 'B', accelerators: 1, accelerator_memory_gib: 96, memory_gib: 64 };
    const create = () => createInstanceType(deps, admin, NewInstanceType.parse(fields));
    expect(await create()).toMatchObject({ ...fields, status: 'available', price: null, prices: [], version: 1 });
    await expect(create()).rejects.toMatchObject({ status: 409, code: 'instance_type_exists' });
    const retired = await updateInstanceType(deps, admin, fields.id, InstanceTypeUpdate.parse({ status: 'retired' }), [1]);
    expect(retired).toMatchObject({ status: 'retired', version: 2 });
    expect((await log(null, fields.id)).map(({ action }) => action).sort()).toEqual(['instance_type.created', 'instance_type.updated']);
  });

  test('does not know other types', async () => {
    await expect(retrieveInstanceType(deps, member, 'ml.g1.xlarge')).rejects.toMatchObject({
      status: 404,
      code: 'instance_type_not_found',
    });
  });
});

describe('a price of an instance type', () => {
  test('is exact to the nano-dollar, at rest and on the wire, and takes effect at its time', async () => {
    const first = await price('ml.g5.xlarge', { per_hour: '1.408000001' });
    expect(first).toMatchObject({ price: { per_hour: '1.408000001', effective_at: NOW_SECONDS }, version: 1 });
    const second = await price('ml.g5.xlarge', { per_hour: '2', effective_at: NOW_SECONDS + 60 });
    expect(second).toMatchObject({ price: { per_hour: '1.408000001' }, prices: [{ per_hour: '2' }, { per_hour: '1.408000001' }] });
    const later = await retrieveInstanceType(deps, actorOf('member', 'org_1', (NOW_SECONDS + 60) * 1_000), 'ml.g5.xlarge');
    expect(later.price).toMatchObject({ per_hour: '2' });
    expect(later.prices).toBeUndefined();
  });

  test('is found by the function that meters, which has no entries of the release', async () => {
    await price('ml.g6.xlarge', { per_hour: '0.8' });
    const metering = createCatalogueStore(createRecordTable(emulator.database, emulator.tables.Deployments as string));
    expect(await metering.prices('ml.g6.xlarge')).toEqual([
      { version: expect.stringMatching(/^price_/), effective_at: NOW_SECONDS * 1_000, hour_nanos: 800_000_000 },
    ]);
    expect(await metering.prices('ml.g6.2xlarge')).toEqual([]);
  });

  test('never changes: a second one at the same time, or in the past, is rejected', async () => {
    await price('ml.g6.4xlarge', { per_hour: '1' });
    await expect(price('ml.g6.4xlarge', { per_hour: '2' })).rejects.toMatchObject({ status: 409, code: 'price_exists' });
    const past = { per_hour: '2', effective_at: NOW_SECONDS - 61 };
    await expect(price('ml.g6.4xlarge', past)).rejects.toMatchObject({ status: 400, param: 'effective_at' });
    expect((await store('ml.g6.4xlarge')).map(({ hour_nanos }) => hour_nanos)).toEqual([1_000_000_000]);
  });

  test('is added once by two admins at the same time', async () => {
    const read = await deps.catalogue.instanceTypes.get('ml.p5.48xlarge');
    await price('ml.p5.48xlarge', { per_hour: '50' });
    const { instanceTypes } = deps.catalogue;
    const late = { ...deps, catalogue: { ...deps.catalogue, instanceTypes: { ...instanceTypes, get: async () => read } } };
    await expect(addInstancePrice(late, admin, 'ml.p5.48xlarge', { per_hour: '60' })).rejects.toMatchObject({ status: 412 });
    expect((await store('ml.p5.48xlarge')).map(({ hour_nanos }) => hour_nanos)).toEqual([50_000_000_000]);
  });

  test.each([{ per_hour: 1 }, { per_hour: '-1' }, { per_hour: '1e3' }, { per_hour: '1000000.000000001' }, { per_hour: '0.0000000001' }])(
    'is rejected as %j',
    (fields) => {
      expect(NewInstancePrice.safeParse(fields).success).toBe(false);
    },
  );
});

describe('a cost of an instance type', () => {
  const cost = (id: string, fields: object) => addInstanceCost(deps, admin, id, NewInstanceCost.parse(fields));

  test('is a history of its own, which can begin in the past and leaves the prices as they are', async () => {
    const id = 'ml.g6e.xlarge';
    await price(id, { per_hour: '3' });
    await cost(id, { per_hour: '2.500000001', effective_at: NOW_SECONDS - 86_400 });
    const type = await cost(id, { per_hour: '2' });
    expect(type).toMatchObject({
      price: { per_hour: '3' },
      prices: [{ per_hour: '3' }],
      costs: [
        { per_hour: '2', effective_at: NOW_SECONDS },
        { per_hour: '2.500000001', effective_at: NOW_SECONDS - 86_400 },
      ],
    });
    const costs = await deps.catalogue.costs();
    expect(costs.get(id)?.map(({ hour_nanos }) => hour_nanos)).toEqual([2_500_000_001, 2_000_000_000]);
    expect((await log(null, id)).map(({ action }) => action)).toContain('instance_type.costed');
  });

  test('is shown to admins only', async () => {
    const id = 'ml.g6e.2xlarge';
    await cost(id, { per_hour: '2' });
    expect((await retrieveInstanceType(deps, admin, id)).costs).toHaveLength(1);
    expect(JSON.stringify(await listInstanceTypes(deps, member))).not.toContain('costs');
    expect(JSON.stringify(await retrieveInstanceType(deps, actorOf('owner', 'org_1'), id))).not.toContain('costs');
  });

  test('never changes: a second one at the same time is rejected, and one of a type without any is not 0', async () => {
    const id = 'ml.g6e.4xlarge';
    expect((await deps.catalogue.costs()).has(id)).toBe(false);
    await cost(id, { per_hour: '2', effective_at: 5 });
    await expect(cost(id, { per_hour: '3', effective_at: 5 })).rejects.toMatchObject({ status: 409, code: 'price_exists' });
    await expect(cost('ml.g1.xlarge', { per_hour: '3' })).rejects.toMatchObject({ status: 404 });
  });
});
