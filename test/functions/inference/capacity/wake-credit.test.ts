import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { availableNanosOf } from '../../../../shared/admission/item/limiter-item.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { type ColdWorld, startColdDeployments } from '../../../support/fixtures/cold-deployment.ts';
import { catalogueOf } from '../../../support/fixtures/deployment-catalogue.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';

// A quarter of an hour of the instance on which the deployments run, which costs $1.20 an hour.
const STEP = 300_000_000n;
// More than the requests of these tests hold.
const FOR_REQUESTS = 1_000_000n;

let logged: jest.SpiedFunction<typeof process.stdout.write>;
let cold: Awaited<ReturnType<typeof startColdDeployments>>;
beforeAll(async () => {
  cold = await startColdDeployments();
  const { instanceTypes } = catalogueOf(cold.test);
  const type = await instanceTypes.get('ml.g5.xlarge');
  if (!type) throw new Error('The release has no such type.');
  const prices = [{ version: 'price_1', effective_at: 0, hour_nanos: 1_200_000_000 }];
  await transact(cold.test.database, [instanceTypes.toReplace({ ...type, prices })]);
});
afterAll(() => cold.close());
beforeEach(() => {
  logged = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const payFromCredit = async ({ organization }: Pick<ColdWorld, 'organization'>, nanos: bigint): Promise<void> => {
  await limitOrganization(cold.test.limiters, organization, { isPrepaid: true });
  if (nanos > 0n) await cold.test.limiters.addGrant(organization, 1, nanos);
};
const available = async ({ organization }: Pick<ColdWorld, 'organization'>): Promise<bigint> => {
  const item = await cold.test.limiters.get(organization);
  return item ? availableNanosOf(item) : 0n;
};
const errorOf = ({ body }: { body: unknown }) => (JSON.parse(body as string) as { error: { code: string; message: string } }).error;
const HIDDEN = { max_tokens: 1 };

describe('a wake', () => {
  test('is refused, with the reason, if its organization lacks credit for the first 15 minutes', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    await payFromCredit(world, STEP - 1n);
    const before = await world.row();
    const reply = await ask('Hi', undefined, HIDDEN);
    expect([reply.statusCode, reply.headers['x-should-retry']]).toEqual([429, 'false']);
    expect(errorOf(reply)).toMatchObject({ code: 'insufficient_quota', message: expect.stringContaining('for 15 minutes') });
    expect(await world.row()).toEqual(before);
    expect(world.reconciled).toEqual([]);
    expect(await available(world)).toBe(STEP - 1n);
  });

  test('holds the credit for its first 15 minutes once, however many requests come', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    await payFromCredit(world, STEP + FOR_REQUESTS);
    const replies = await Promise.all(Array.from({ length: 8 }, () => ask('Hi', undefined, HIDDEN)));
    expect(new Set(replies.map((reply) => errorOf(reply).code))).toEqual(new Set(['deployment_waking']));
    expect(await world.row()).toMatchObject({ state: 'waking', meter: { running: [], held_nanos: STEP } });
    expect(world.reconciled).toHaveLength(1);
    expect(await available(world)).toBe(FOR_REQUESTS);
  });

  test('tells the operator, and no caller of a published deployment, that credit is missing', async () => {
    const world = await cold.createWorld({ scope: 'serverless', publishedAs: 'shared-model' });
    const { ask } = await world.createEnvironment({}, { org: 'org_caller' });
    await payFromCredit(world, 0n);
    const reply = await ask('Hi', undefined, HIDDEN);
    expect([reply.statusCode, errorOf(reply).code]).toEqual([503, 'deployment_not_ready']);
    expect(errorOf(reply).message).not.toMatch(/credit/);
    expect(await world.row()).toMatchObject({ state: 'scaled_to_zero' });
    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)) as object);
    expect(lines).toContainEqual(
      expect.objectContaining({ message: 'wake_unpaid', deployment: world.deployment.id, org_id: world.organization }),
    );
  });

  test('needs no credit if the organization pays by invoice', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    expect(errorOf(await ask('Hi', undefined, HIDDEN)).code).toBe('deployment_waking');
    const row = await world.row();
    expect([row.state, row.meter]).toEqual(['waking', undefined]);
  });
});
