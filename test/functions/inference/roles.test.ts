import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { growOrganization } from '../../../functions/inference/admission/grow-organization.ts';
import { wake } from '../../../functions/inference/capacity/wake.ts';
import { shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createCatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import { createDeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { createHoldStartCredit } from '../../../shared/gpu-time/start-credit.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';
import { makeCaller } from '../../support/fixtures/callers.ts';
import { catalogueOf } from '../../support/fixtures/deployment-catalogue.ts';
import { storeDeployment } from '../../support/fixtures/deployments.ts';
import { limitOrganization } from '../../support/fixtures/limit-organization.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { answers, startTestPipeline, type TestPipeline } from '../../support/fixtures/pipeline.ts';

const KEY = { 'idempotency-key': 'order-1' };
// Longer than a function can run.
const LEASE_MS = 661_000;

// A local run doesn't make these calls, so each is checked against the role of the function.
describe.each(['inference', 'ondemand-inference'])('the role of %s', (name) => {
  let pipeline: TestPipeline;
  beforeAll(async () => {
    pipeline = await startTestPipeline(name);
  });
  afterAll(() => pipeline.close());
  beforeEach(() => {
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  });

  test('allows freeing the idempotency key of a request that failed', async () => {
    const failing: Invoke = async function* () {
      yield* [];
      throw new Error('The model is away.');
    };
    const invokes = [failing, answers];
    const { call } = await pipeline.setUp((invocation) => (invokes.shift() ?? answers)(invocation));
    await expect(call({}, 600_000, KEY)).rejects.toThrow('The model is away.');
    expect(await call({}, 600_000, KEY)).toMatchObject({ statusCode: 200 });
  });

  test('allows taking over the request of a function that crashed before it stored the result', async () => {
    let store = { ...pipeline.idempotencyAt(() => Date.now() - LEASE_MS), complete: () => Promise.reject(new Error('crashed')) };
    const idempotency = new Proxy(store, { get: (_, method) => store[method as keyof typeof store] });
    const { call, events } = await pipeline.setUp(answers, { idempotency });
    await call({}, 600_000, KEY);
    store = pipeline.idempotencyAt(Date.now) as typeof store;
    expect(await call({}, 600_000, KEY)).toMatchObject({ statusCode: 200 });
    expect(await events()).toHaveLength(1);
  });

  test('allows waking a deployment whose organization pays from credit', async () => {
    const { database } = pipeline;
    const line = await database.as(name);
    const organization = newId('organization');
    await limitOrganization(database.limiters, organization, { isPrepaid: true });
    await database.limiters.addGrant(organization, 1, 1_000_000_000n);
    const { instanceTypes } = catalogueOf(database);
    const type = await instanceTypes.get('ml.g5.xlarge');
    const prices = [{ version: 'price_1', effective_at: 0, hour_nanos: 1_200_000_000 }];
    if (type) await transact(database.database, [instanceTypes.toReplace({ ...type, prices })]);
    const asleep = await storeDeployment(database, { organization, state: 'scaled_to_zero' });
    const records = createRecordTable(line, database.tables.Deployments as string);
    const holdStartCredit = createHoldStartCredit(line, database.tables.Keys as string, createCatalogueStore(records));
    const woken = await wake(
      { deployments: createDeploymentStore(records), holdStartCredit, reconcile: async () => undefined, now: Date.now },
      asleep,
    );
    expect(woken).toMatchObject({ state: 'waking', meter: { held_nanos: 300_000_000n } });
  });

  test('allows splitting the limiter of an organization', async () => {
    const organization = newId('organization');
    await limitOrganization(pipeline.database.limiters, organization, { requestsPerMinute: 10_000, tokensPerMinute: 10_000_000 });
    const caller = makeCaller(pipeline.limiters, Date.now);
    caller.cache.set(organization, await pipeline.limiters.get(organization), Date.now());
    expect(await growOrganization(caller, organization, 1)).toBe(true);
    expect(shardsOf(await pipeline.limiters.get(organization))).toBe(2);
  });
});
