import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { deleteDeployment, stopDeployment } from '../../../../functions/control/deployments/control-deployment.ts';
import { Publication, publishDeployment, unpublishDeployment } from '../../../../functions/control/deployments/publish-deployment.ts';
import { deleteModel, updateModel } from '../../../../functions/control/model-registry/change-model.ts';
import { ModelUpdate } from '../../../../functions/control/model-registry/registration.ts';
import { addPrice } from '../../../../functions/control/prices/add-price.ts';
import { NewPrice } from '../../../../functions/control/prices/price-resource.ts';
import { inState } from '../../../../shared/deployments/deployment.ts';
import type { DeploymentState } from '../../../../shared/deployments/state.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { type ManagedDeployments, NOW_MS, useManagedDeployments } from '../../../support/fixtures/managed-deployments.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

let emulator: TestDatabase;
let managed: ManagedDeployments;
let organization: string;
let owner: Actor;
let id: string;
let shared: string;
useManagedDeployments((tenant) => {
  ({ emulator, managed, organization, owner } = tenant);
});
beforeEach(async () => {
  ({ id } = await managed.create(owner));
  shared = newId('key');
});

const TARGETS = [{ endpoint: 'sluice-x-g1', component: 'sluice-x-g1', container_model: 'qwen', weight: 100 }] as const;
// As the function `deployments` writes it.
const serve = async (state: DeploymentState = 'in_service'): Promise<void> => {
  const { serving } = await managed.observe(id, (before) => inState(before, state, NOW_MS));
  await emulator.models.put(organization, {
    name: 'qwen',
    status: 'published',
    created: 1,
    ...serving,
    targets: [...TARGETS],
    deployment: { id, is_ready: true },
    prices: [{ version: 'price_1', effective_at: 0, prompt_nanos: 0, completion_nanos: 0 }],
  });
};
const publish = (fields: object = {}) =>
  publishDeployment(
    managed.deps,
    managed.admin,
    { id },
    Publication.parse({ name: shared, prices: [{ per_million: { prompt: '0.1', completion: '0.4' } }], ...fields }),
  );
const unpublish = () => unpublishDeployment(managed.deps, managed.admin, { id });

describe('a published deployment', () => {
  test('is a shared model with its targets and the admin’s prices', async () => {
    await serve();
    expect(await publish()).toMatchObject({ published_as: shared, version: 2 });
    expect(await emulator.models.get(SERVERLESS_POOL, shared)).toMatchObject({
      status: 'published',
      targets: TARGETS,
      deployment: { id, is_ready: true },
      context_length: 8_192,
      prices: [{ prompt_nanos: 100_000_000, completion_nanos: 400_000_000, effective_at: NOW_MS }],
    });
    expect(await managed.log(organization, id)).toContainEqual(
      expect.objectContaining({ action: 'deployment.published', changes: { published_as: { from: null, to: shared } } }),
    );
    expect(managed.reconciled).toEqual([id, id]);
  });

  test('can’t be stopped or deleted until it is unpublished', async () => {
    await serve();
    await publish();
    for (const change of [stopDeployment, deleteDeployment])
      await expect(change(managed.deps, owner, { id })).rejects.toMatchObject({ status: 409, code: 'deployment_published' });
    await unpublish();
    expect(await stopDeployment(managed.deps, owner, { id })).toMatchObject({ state: 'stopping', published_as: null });
  });

  test('is taken back with its prices kept for the bills, and can be published again', async () => {
    await serve();
    await publish();
    const { prices = [] } = (await emulator.models.get(SERVERLESS_POOL, shared)) ?? {};
    expect(await unpublish()).toMatchObject({ published_as: null });
    expect(await emulator.models.get(SERVERLESS_POOL, shared)).toBeUndefined();
    expect(await emulator.models.retiredPrices(SERVERLESS_POOL, shared)).toEqual(prices);
    expect(await unpublish()).toMatchObject({ published_as: null, version: 3 });
    expect(await publish()).toMatchObject({ published_as: shared });
  });

  test('is published under one name only', async () => {
    await serve();
    await publish();
    await expect(publish({ name: 'another' })).rejects.toMatchObject({ status: 409, code: 'deployment_published' });
  });
});

describe('publishDeployment', () => {
  test('rejects a deployment that is not in service, whatever the admin accepts', async () => {
    await expect(publish()).rejects.toMatchObject({ status: 409, code: 'deployment_not_ready' });
    for (const state of ['creating', 'scaled_to_zero', 'stopped', 'failed'] as const) {
      await serve(state);
      await expect(publish({ accept_failed_checks: true })).rejects.toMatchObject({
        status: 409,
        code: 'deployment_not_ready',
        message: expect.stringContaining(state),
      });
    }
  });

  test('rejects the name of another shared model', async () => {
    await serve();
    await publish();
    const { owner: other } = await managed.newTenant();
    ({ id } = await managed.create(other));
    organization = other.organization as string;
    await serve();
    await expect(publish()).rejects.toMatchObject({ status: 409, code: 'model_exists' });
  });

  test('rejects a model without a price in effect, or with failed checks that the admin does not accept', async () => {
    await serve();
    const later = [{ per_million: { prompt: '1', completion: '1' }, effective_at: NOW_MS / 1_000 + 60 }];
    await expect(publish({ prices: later })).rejects.toMatchObject({ status: 400, param: 'prices' });
    managed.setChecksPass(false);
    await expect(publish()).rejects.toMatchObject({ status: 409, code: 'checks_failed' });
    expect(await publish({ accept_failed_checks: true })).toMatchObject({ published_as: shared });
  });
});

describe('the model of a deployment', () => {
  const change = (name: string, fields: object, pool?: string) =>
    updateModel(managed.deps, managed.admin, { name, organization: pool, expected: undefined }, ModelUpdate.parse(fields));
  const refused = { status: 409, code: 'model_of_deployment' };

  test('is not changed, priced or deleted as if it were registered', async () => {
    await serve();
    await expect(change('qwen', { status: 'unpublished' }, organization)).rejects.toMatchObject(refused);
    await expect(deleteModel(managed.deps, managed.admin, { name: 'qwen', organization, expected: undefined })).rejects.toMatchObject(
      refused,
    );
    const price = NewPrice.parse({ model: 'qwen', organization, per_million: { prompt: '1', completion: '1' } });
    await expect(addPrice(managed.deps, managed.admin, price)).rejects.toMatchObject(refused);
  });

  test('can be priced and deprecated once it is shared, but its targets stay the deployment’s', async () => {
    await serve();
    await publish();
    await expect(change(shared, { targets: [{ endpoint: 'e' }] })).rejects.toMatchObject(refused);
    await expect(
      deleteModel(managed.deps, managed.admin, { name: shared, organization: undefined, expected: undefined }),
    ).rejects.toMatchObject(refused);
    expect(await change(shared, { deprecation: { deprecated_at: NOW_MS / 1_000 } })).toMatchObject({ version: 2 });
    const price = NewPrice.parse({
      model: shared,
      per_million: { prompt: '1', completion: '1' },
      effective_at: NOW_MS / 1_000 + 60,
    });
    expect(await addPrice(managed.deps, managed.admin, price)).toMatchObject({ model: shared });
  });
});
