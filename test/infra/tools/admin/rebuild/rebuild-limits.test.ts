import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../../functions/control/api-keys/api-key.ts';
import { updateApiKey } from '../../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../../functions/control/api-keys/create-api-key.ts';
import { createPlaygroundKey } from '../../../../../functions/control/api-keys/playground-key.ts';
import { createOrganization } from '../../../../../functions/control/organizations/create-organization.ts';
import { createProject, updateProject } from '../../../../../functions/control/projects/manage-projects.ts';
import { NewProject, ProjectUpdate } from '../../../../../functions/control/projects/project.ts';
import { userHashOf } from '../../../../../functions/inference/admission/user.ts';
import { type AllDependencies, rebuildAll, wasWrong } from '../../../../../infra/tools/admin/rebuild/rebuild-all.ts';
import { type LimiterItem, limitsOf, moneyCountersAt } from '../../../../../shared/admission/item/limiter-item.ts';
import { storedEntry } from '../../../../../shared/admission/item/reservation-entry.ts';
import { userLimiterId } from '../../../../../shared/admission/item/user-limiter.ts';
import { createCreditStore } from '../../../../../shared/credit/credit-store.ts';
import { createRecordTable } from '../../../../../shared/database/record-table.ts';
import { createDeploymentStore } from '../../../../../shared/deployments/deployment-store.ts';
import { newRequestId } from '../../../../../shared/ids/request-id.ts';
import { DAY_MS, HOUR_MS } from '../../../../../shared/time/units.ts';
import { createGpuEventStore } from '../../../../../shared/usage/gpu-event-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { emptyTables } from '../../../../support/emulators/empty-tables.ts';
import { accountStores } from '../../../../support/fixtures/account-stores.ts';
import { rollupStores } from '../../../../support/fixtures/rollups.ts';
import { storeUser } from '../../../../support/fixtures/stored-users.ts';

const NOW = Date.parse('2026-11-21T12:00Z');
const DOLLAR = 1_000_000_000n;
const COMPLETED = {
  model: 'm',
  prompt_tokens: 1,
  cached_tokens: 0,
  completion_tokens: 1,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  time_to_first_token_ms: 5,
  duration_ms: 10,
  price_version: '1',
} as const;

let database: TestDatabase;
let deps: AllDependencies;
let stores: ReturnType<typeof accountStores>;
let admin: Actor;
let owner: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  const { Keys, Usage, Accounts, Deployments } = database.tables as Record<string, string>;
  stores = accountStores(database);
  deps = {
    ...stores,
    ...rollupStores(database.database, Usage as string),
    database: database.sdk,
    keysTable: Keys as string,
    usageTable: Usage as string,
    credit: createCreditStore(database.database, Accounts as string),
    gpuEvents: createGpuEventStore(database.database, Usage as string),
    deployments: createDeploymentStore(createRecordTable(database.database, Deployments as string)),
    now: () => NOW,
  };
});
afterAll(() => database.close());
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  await emptyTables(database);
  admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOW - 90 * DAY_MS });
  // The other ones have a key too.
  for (const name of ['Before', 'After', 'Acme']) {
    const { id: organization } = await createOrganization(stores, admin.origin, { name });
    owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOW - 90 * DAY_MS });
    if (name !== 'Acme') await createKeyAt(NOW - 30 * DAY_MS);
  }
});

const at = (nowMs: number): Actor => ({ ...owner, origin: { ...owner.origin, nowMs } });
const createKeyAt = (nowMs: number, fields: object = {}) =>
  createApiKey(stores, at(nowMs), NewApiKey.parse({ name: 'key', limits: { concurrency: 10 }, ...fields }));
const itemOf = async (id: string): Promise<LimiterItem | undefined> => database.limiters.get(id);
const put = (item: object) => database.database.put({ TableName: database.tables.Keys as string, Item: item as Record<string, unknown> });
const remove = (id: string) => database.database.delete({ TableName: database.tables.Keys as string, Key: { id } });
const countOf = async (id: string, counter: string): Promise<bigint> =>
  BigInt(((await itemOf(id)) as unknown as Record<string, bigint | number | undefined> | undefined)?.[counter] ?? -1);
const spend = async (key: { id: string; organization: string }, atMs: number, nanos: bigint, fields: object = {}): Promise<void> => {
  const of = { request_id: newRequestId(atMs), key_id: key.id, org_id: key.organization, admitted_at: atMs, cost_nanos: nanos };
  await database.usage.putIfAbsent({ ...COMPLETED, ...of, ...fields });
};
const heldFor = (nanos: bigint, link: string) =>
  storedEntry({ admittedAtMs: NOW - 2_000, tokens: undefined, holdNanos: nanos, isFromCredit: false, link });

const { month, total } = moneyCountersAt(NOW);
const { month: lastMonth } = moneyCountersAt(NOW - 30 * DAY_MS);

describe('the limiter of a project', () => {
  // It had its first budget ten days ago. One of its keys has left it, and another one has joined it since.
  const makeProject = async () => {
    const project = await createProject(stores, at(NOW - 20 * DAY_MS), NewProject.parse({ name: 'Search' }));
    const own = await createKeyAt(NOW - 20 * DAY_MS, { project_id: project.id });
    const left = await createKeyAt(NOW - 20 * DAY_MS, { project_id: project.id });
    const joined = await createKeyAt(NOW - 20 * DAY_MS);
    const budgets = { month: '50', total: '100' };
    const { id } = project;
    await updateProject(stores, at(NOW - 10 * DAY_MS), { id, organization: undefined }, ProjectUpdate.parse({ budgets }));
    await updateApiKey(stores, at(NOW - 5 * DAY_MS), left.id, { project_id: null });
    await updateApiKey(stores, at(NOW - 5 * DAY_MS), joined.id, { project_id: id });
    const project_id = id;
    await spend(own, NOW - 15 * DAY_MS, 1n, { project_id });
    await spend(own, NOW - 8 * DAY_MS, 20n, { project_id });
    await spend(own, NOW - HOUR_MS, 300n, { project_id });
    await spend(left, NOW - 7 * DAY_MS, 4_000n, { project_id });
    await spend(left, NOW - DAY_MS, 50_000n);
    await spend(joined, NOW - 6 * DAY_MS, 600_000n);
    await spend(joined, NOW - 2 * DAY_MS, 7_000_000n, { project_id });
    return { id, own, counted: 7_004_320n };
  };

  test('is made again from its row and the events of its keys since its first budget, when it is lost', async () => {
    const { id, counted } = await makeProject();
    await rebuildAll(deps);
    expect([await countOf(id, month), await countOf(id, total)]).toEqual([counted, counted]);
    const before = await itemOf(id);
    await remove(id);
    const report = await rebuildAll(deps);
    expect(report.limiters).toMatchObject({ created: 1, configured: 1 });
    expect(report.money).toMatchObject({ wrong: 1, busy: [] });
    const { cfg: _, ...after } = (await itemOf(id)) as LimiterItem;
    expect(after).toEqual(
      expect.objectContaining({ id, org: owner.organization, status: 'active', [month]: Number(counted), spent: Number(counted) }),
    );
    expect(limitsOf(after as LimiterItem)).toEqual(limitsOf(before as LimiterItem));
    expect(wasWrong(await rebuildAll(deps))).toBe(false);
  });

  test('gets back its budgets, a lost shard and its counts, with what requests in flight hold', async () => {
    const { id, own, counted } = await makeProject();
    const item = (await itemOf(id)) as LimiterItem;
    await put({ ...item, shards: 2, bud_m: 1, bud_t: 1, spent: 5, fl: { [newRequestId(NOW - 2_000)]: heldFor(9n, own.id) } });
    expect((await rebuildAll(deps)).limiters).toMatchObject({ created: 1, configured: 1 });
    const whole = (await database.limiters.whole(id)) as LimiterItem;
    expect(limitsOf(whole).budgets).toEqual({ month: 50n * DOLLAR, total: 100n * DOLLAR });
    expect([whole[month as 'm1'], whole.spent].map((nanos) => BigInt(nanos ?? 0))).toEqual([counted + 9n, counted + 9n]);
    expect(wasWrong(await rebuildAll(deps))).toBe(false);
  });

  test('is not made for a project that has no budget', async () => {
    const { id } = await createProject(stores, at(NOW - DAY_MS), NewProject.parse({ name: 'Search', budgets: {} }));
    await updateProject(stores, at(NOW), { id, organization: undefined }, ProjectUpdate.parse({ budgets: { day: null } }));
    expect(wasWrong(await rebuildAll(deps))).toBe(false);
    expect(await itemOf(id)).toBeUndefined();
  });
});

describe('the limiter of an end user', () => {
  const PER_USER = { requests_per_minute: null, tokens_per_minute: null, concurrency: null, monthly_budget: '5' };
  const limiterOf = ({ id }: { id: string }, user: string): string => userLimiterId(id, userHashOf(id, user));

  // The key had limits for its end users since it was created, except for some days.
  const makeKey = async () => {
    const key = await createKeyAt(NOW - 40 * DAY_MS, { per_user: PER_USER });
    await updateApiKey(stores, at(NOW - 12 * DAY_MS), key.id, { per_user: null });
    await updateApiKey(stores, at(NOW - 9 * DAY_MS), key.id, { per_user: PER_USER });
    await spend(key, NOW - 30 * DAY_MS, 1n, { user: 'ann' });
    await spend(key, NOW - 15 * DAY_MS, 20n, { user: 'ann' });
    await spend(key, NOW - 10 * DAY_MS, 300n, { user: 'ann' });
    await spend(key, NOW - HOUR_MS, 4_000n, { user: 'ann' });
    await spend(key, NOW - HOUR_MS, 50_000n, { user: 'ignored', user_id: 'bob' });
    await spend(key, NOW - 30 * DAY_MS, 600_000n, { user: 'cem' });
    await spend(key, NOW - HOUR_MS, 7_000_000n);
    return key;
  };

  test('is made again from the events of its key, when it is lost', async () => {
    const key = await makeKey();
    const report = await rebuildAll(deps);
    expect(report.limiters.created).toBe(2);
    expect(report.money.busy).toEqual([]);
    const [ann, bob, cem] = ['ann', 'bob', 'cem'].map((user) => limiterOf(key, user)) as [string, string, string];
    expect([await countOf(ann, month), await countOf(ann, lastMonth)]).toEqual([4_020n, 1n]);
    expect(await countOf(bob, month)).toBe(50_000n);
    // Nothing of this month counts, and the next request creates it.
    expect(await itemOf(cem)).toBeUndefined();
    expect(await itemOf(bob)).toMatchObject({ status: 'active', fl: {}, del_at: Date.UTC(2027, 0) / 1_000 });
    expect(await itemOf(bob)).not.toHaveProperty('org');
    expect(wasWrong(await rebuildAll(deps))).toBe(false);
  });

  test('gets back its count, with what requests in flight hold', async () => {
    const key = await makeKey();
    const [ann, dee] = [limiterOf(key, 'ann'), limiterOf(key, 'dee')];
    for (const id of [ann, dee]) await database.limiters.createUser(id, NOW);
    const damaged = (await itemOf(ann)) as LimiterItem;
    await put({ ...damaged, [month]: 1, fl: { [newRequestId(NOW - 2_000)]: heldFor(9n, key.id) } });
    await put({ ...((await itemOf(dee)) as LimiterItem), [month]: 77 });
    await rebuildAll(deps);
    expect([await countOf(ann, month), await countOf(ann, lastMonth), await countOf(dee, month)]).toEqual([4_029n, 1n, 0n]);
    expect(wasWrong(await rebuildAll(deps))).toBe(false);
  });

  test('counts nothing that an earlier temporary key with the same id spent', async () => {
    const body = NewApiKey.parse({ name: 'try', purpose: 'playground', per_user: PER_USER, expires_in_seconds: 60 });
    const create = (nowMs: number) => createPlaygroundKey(stores, at(nowMs), body);
    const first = await create(NOW - 2 * HOUR_MS);
    await spend(first, NOW - 2 * HOUR_MS, 5n, { user: 'ann' });
    const second = await create(NOW - HOUR_MS);
    expect(second.id).toBe(first.id);
    await spend(second, NOW - HOUR_MS, 700n, { user: 'ann' });
    const [earlier, ann] = [first, second].map(({ id, created_at }) => userLimiterId(id, userHashOf(id, 'ann', created_at))) as [
      string,
      string,
    ];
    await database.limiters.createUser(earlier, NOW);
    await put({ ...((await itemOf(earlier)) as LimiterItem), [month]: 5 });
    await rebuildAll(deps);
    expect([await countOf(earlier, month), await countOf(ann, month)]).toEqual([5n, 700n]);
    expect(wasWrong(await rebuildAll(deps))).toBe(false);
  });

  test('stays as it is while its key has no limits for end users', async () => {
    const key = await makeKey();
    await updateApiKey(stores, at(NOW - HOUR_MS / 2), key.id, { per_user: null });
    await rebuildAll(deps);
    expect(await itemOf(limiterOf(key, 'ann'))).toBeUndefined();
  });
});
