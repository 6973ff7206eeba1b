import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { type ApiKeyUpdate, NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { updateApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { KeysQuery, listApiKeys } from '../../../../functions/control/api-keys/list-api-keys.ts';
import { KeyBudgets } from '../../../../functions/control/limits/limits.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { ProjectState } from '../../../../functions/control/projects/budgets-left.ts';
import {
  archiveProject,
  createProject,
  listProjects,
  ProjectsQuery,
  retrieveProject,
  updateProject,
  visibleProject,
} from '../../../../functions/control/projects/manage-projects.ts';
import { Project, ProjectUpdate } from '../../../../functions/control/projects/project.ts';
import type { KeyItem } from '../../../../shared/admission/item/key-item.ts';
import { limitsOf, moneyCountersAt } from '../../../../shared/admission/item/limiter-item.ts';
import { shardIds } from '../../../../shared/admission/item/shards.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

const NOW = Date.UTC(2026, 10, 21, 12);

let database: TestDatabase;
let stores: ReturnType<typeof accountStores>;
let organization: string;
let admin: Actor;
let owner: Actor;
let member: Actor;
let otherOwner: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  stores = accountStores(database);
  admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOW });
});
afterAll(() => database.close());
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  ({ id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' }));
  const { id: other } = await createOrganization(stores, admin.origin, { name: 'Other' });
  owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOW });
  member = await storeUser(stores, { role: 'member', organization, nowMs: NOW, maxApiKeys: 100 });
  otherOwner = await storeUser(stores, { role: 'owner', organization: other, nowMs: NOW });
});

// The clock advances a second with each change, so that ids sort in the order of creation.
let seconds = NOW / 1_000;
const next = (actor: Actor): Actor => ({ ...actor, origin: { ...actor.origin, nowMs: ++seconds * 1_000 } });
const create = (name = 'Search', by = owner, fields: object = {}) =>
  createProject(stores, next(by), { name, organization: undefined, ...fields });
const placeOf = ({ id }: { id: string }, of?: string) => ({ id, organization: of });
const list = async (query: object = {}, by = owner) =>
  (await listProjects(stores, by, ProjectsQuery.parse(query))).data.map(({ name }) => name);
const createKey = (fields: object = {}, by = owner) => createApiKey(stores, next(by), NewApiKey.parse({ name: 'key', ...fields }));
const updateKey = (id: string, fields: ApiKeyUpdate, by = owner) => updateApiKey(stores, next(by), id, fields);
const projectsOf = async (id: string): Promise<unknown[]> => {
  const { shards } = await stores.apiKeys.get(organization, id);
  return (await database.limiters.getMany(shardIds(id, shards))).map((item) => (item as KeyItem).prj);
};

describe('a project', () => {
  test('is created, renamed and archived, and the audit log has each step', async () => {
    const project = await create();
    expect(Project.parse(project)).toEqual(project);
    expect(project).toMatchObject({ organization, name: 'Search', status: 'active', archived_at: null, created_by: owner.userId });
    await updateProject(stores, next(owner), placeOf(project), { name: 'Ranking' });
    const archived = await archiveProject(stores, next(owner), placeOf(project));
    expect(archived).toMatchObject({ name: 'Ranking', status: 'archived', archived_at: seconds, version: 3 });
    expect(await visibleProject(stores, member, placeOf(project))).toEqual(archived);
    const { data } = await stores.audit.list(organization, { limit: 10 });
    expect(data.filter(({ target }) => target.id === project.id).map(({ action }) => action)).toEqual([
      'project.archived',
      'project.updated',
      'project.created',
    ]);
  });

  test('stays as it is if it is archived again, without an audit entry', async () => {
    const project = await create();
    const archived = await archiveProject(stores, next(owner), placeOf(project));
    expect(await archiveProject(stores, next(owner), placeOf(project))).toEqual(archived);
  });

  test('is changed by nobody who read an earlier version', async () => {
    const project = await create();
    await updateProject(stores, next(owner), placeOf(project), { name: 'Ranking' });
    await expect(updateProject(stores, next(owner), placeOf(project), { name: 'Late' }, [1])).rejects.toMatchObject({ status: 412 });
    await expect(archiveProject(stores, next(owner), placeOf(project), [1])).rejects.toMatchObject({ status: 412 });
  });

  test('is not found by others, under a malformed id, or by an admin who names another organization', async () => {
    const project = await create();
    const notFound = { status: 404 };
    await expect(visibleProject(stores, otherOwner, placeOf(project))).rejects.toMatchObject(notFound);
    await expect(visibleProject(stores, otherOwner, placeOf(project, organization))).rejects.toMatchObject(notFound);
    await expect(visibleProject(stores, owner, placeOf({ id: 'prj_#' }))).rejects.toMatchObject(notFound);
    await expect(visibleProject(stores, admin, placeOf(project, String(otherOwner.organization)))).rejects.toMatchObject(notFound);
    await expect(visibleProject(stores, admin, placeOf(project))).rejects.toMatchObject({ status: 400, param: 'organization' });
    expect(await visibleProject(stores, admin, placeOf(project, organization))).toEqual(project);
  });

  test('is listed from the newest on, by pages and by status', async () => {
    for (const name of ['a', 'b', 'c']) await create(name);
    const b = (await listProjects(stores, owner, ProjectsQuery.parse({}))).data[1] as Project;
    await archiveProject(stores, next(owner), placeOf(b));
    expect(await list()).toEqual(['c', 'b', 'a']);
    expect(await list({ status: 'active' })).toEqual(['c', 'a']);
    expect(await list({ status: 'archived' })).toEqual(['b']);
    const first = await listProjects(stores, owner, ProjectsQuery.parse({ limit: '2' }));
    expect(first.has_more).toBe(true);
    expect(await list({ limit: '2', after: first.next })).toEqual(['a']);
    expect(await list({}, otherOwner)).toEqual([]);
  });

  test('is one of at most 1,000 of an organization, with archived ones', async () => {
    const archived = await create();
    await archiveProject(stores, next(owner), placeOf(archived));
    const counter = { TableName: database.tables.Accounts as string, Key: { account: organization, record: 'projects' } };
    const counted = async () => (await database.database.get(counter)).Item?.count;
    expect(await counted()).toBe(1);
    await database.database.put({ TableName: counter.TableName, Item: { ...counter.Key, count: 999 } });
    await create('The last one');
    await expect(create('One more')).rejects.toMatchObject({ status: 409, code: 'too_many_projects' });
    expect(await counted()).toBe(1_000);
    expect(await list()).toEqual(['The last one', 'Search']);
  });

  test('can not be created for a suspended or unknown organization', async () => {
    await expect(create('x', admin, { organization: 'org_none' })).rejects.toMatchObject({ status: 404 });
  });
});

describe('the project of an API key', () => {
  test('is in its row and in each of its limiters, and filters the list of keys', async () => {
    const [search, ranking] = [await create(), await create('Ranking')];
    const limits = { concurrency: 96, requests_per_minute: 6_000, tokens_per_minute: 10_000_000 };
    const key = await createKey({ project_id: search.id, limits });
    expect(key.project_id).toBe(search.id);
    const of = await projectsOf(key.id);
    expect(of.length).toBeGreaterThan(1);
    expect(new Set(of)).toEqual(new Set([search.id]));
    expect(await updateKey(key.id, { project_id: ranking.id })).toMatchObject({ project_id: ranking.id });
    expect(new Set(await projectsOf(key.id))).toEqual(new Set([ranking.id]));
    const listed = async (id: string) =>
      (await listApiKeys(stores, owner, KeysQuery.parse({ project_id: id }))).data.map((each) => each.id);
    expect([await listed(search.id), await listed(ranking.id)]).toEqual([[], [key.id]]);
    await updateKey(key.id, { name: 'renamed' });
    expect(new Set(await projectsOf(key.id))).toEqual(new Set([ranking.id]));
    expect(await updateKey(key.id, { project_id: null })).toMatchObject({ project_id: null });
    expect(new Set(await projectsOf(key.id))).toEqual(new Set([undefined]));
  });

  test('must be an active project of its own organization', async () => {
    const foreign = await create('Foreign', otherOwner);
    const archived = await create();
    const { id } = await createKey({ project_id: archived.id });
    await archiveProject(stores, next(owner), placeOf(archived));
    const other = await createKey();
    for (const [project_id, expected] of [
      [foreign.id, { status: 404, param: 'project_id' }],
      ['prj_none', { status: 404, param: 'project_id' }],
      [archived.id, { status: 409, code: 'project_archived', param: 'project_id' }],
    ] as const) {
      await expect(createKey({ project_id })).rejects.toMatchObject(expected);
      await expect(updateKey(other.id, { project_id })).rejects.toMatchObject(expected);
    }
    expect(await updateKey(id, { name: 'of an archived project', project_id: archived.id })).toMatchObject({ project_id: archived.id });
  });

  test('can be set and changed with `keys:limit` only', async () => {
    const { id: project_id } = await create();
    const rejected = { status: 403, param: 'project_id' };
    await expect(createKey({ project_id }, member)).rejects.toMatchObject(rejected);
    const { id } = await createKey({ project_id: null }, member);
    await updateKey(id, { project_id });
    await expect(updateKey(id, { project_id: null }, member)).rejects.toMatchObject(rejected);
    expect(await updateKey(id, { name: 'mine' }, member)).toMatchObject({ project_id });
  });

  test('is never joined while the project is archived at the same time', async () => {
    for (let race = 0; race < 8; race++) {
      const project = await create();
      const { id } = await createKey();
      const [joined, archived] = await Promise.allSettled([
        updateKey(id, { project_id: project.id }),
        archiveProject(stores, next(owner), placeOf(project)),
      ]);
      expect(archived.status).toBe('fulfilled');
      if (joined.status === 'rejected') expect(joined.reason).toMatchObject({ code: 'project_archived' });
      const { project_id } = await stores.apiKeys.get(organization, id);
      expect(project_id).toBe(joined.status === 'fulfilled' ? project.id : null);
    }
  });
});

describe('the budgets of a project', () => {
  const limiterOf = async ({ id }: { id: string }) => {
    const item = await database.limiters.get(id);
    return item && { org: item.org, budgets: limitsOf(item).budgets };
  };
  const update = (project: { id: string }, body: object, deps = stores) =>
    updateProject(deps, next(owner), placeOf(project), ProjectUpdate.parse(body));

  test('are in a limiter, which a project has from its first budget on', async () => {
    const project = await create();
    expect(project.budgets).toEqual({ day: null, month: null, total: null });
    expect(await limiterOf(project)).toBeUndefined();
    expect((await update(project, { budgets: { month: '12.5' } })).budgets).toEqual({ day: null, month: '12.5', total: null });
    expect(await limiterOf(project)).toEqual({ org: organization, budgets: { month: 12_500_000_000n } });
    await update(project, { budgets: { day: '1' } });
    expect(await limiterOf(project)).toEqual({ org: organization, budgets: { day: 1_000_000_000n, month: 12_500_000_000n } });
    await update(project, { name: 'renamed' });
    expect((await update(project, { budgets: { day: null, month: null } })).budgets).toEqual({ day: null, month: null, total: null });
    expect(await limiterOf(project)).toEqual({ org: organization, budgets: {} });
  });

  test('can be set when the project is created, and after it was archived', async () => {
    const project = await create('Search', owner, { budgets: KeyBudgets.parse({ month: '5' }) });
    expect(await limiterOf(project)).toEqual({ org: organization, budgets: { month: 5_000_000_000n } });
    await archiveProject(stores, next(owner), placeOf(project));
    await update(project, { budgets: { month: '7' } });
    expect(await limiterOf(project)).toEqual({ org: organization, budgets: { month: 7_000_000_000n } });
  });

  test('are changed as a whole or not at all, even by two owners at once', async () => {
    const project = await create();
    const { promise: bothArrived, resolve } = Promise.withResolvers<void>();
    let arrived = 0;
    // Both have read the project before either of them writes, also on a slow machine.
    const transactWrite: Database['transactWrite'] = async (input) => {
      if (++arrived === 2) resolve();
      await bothArrived;
      await database.database.transactWrite(input);
    };
    const deps = accountStores(database, { ...database.database, transactWrite });
    const [a, b] = await Promise.allSettled(['1', '2'].map((month) => update(project, { budgets: { month } }, deps)));
    expect([a, b].filter((each) => each?.status === 'fulfilled')).toHaveLength(1);
    const { budgets } = await visibleProject(stores, owner, placeOf(project));
    expect((await limiterOf(project))?.budgets).toEqual({ month: BigInt(budgets.month as string) * 1_000_000_000n });
  });

  test('are shown with what is left of them over all limiters of a project, and not at all without one', async () => {
    const budgets = KeyBudgets.parse({ day: '4', month: '5' });
    const [none, busy, other] = [await create('None'), await create('Busy', owner, { budgets }), await create('Other', owner, { budgets })];
    const put = async (id: string, facts: object) => {
      const own = await database.limiters.get(id.split('#')[0] as string);
      await database.database.put({ TableName: database.tables.Keys as string, Item: { ...own, id, ...facts } });
    };
    const { month } = moneyCountersAt(NOW);
    await put(`${busy.id}#1`, { bud_d: 1_000_000_000, bud_m: 2_000_000_000, [month]: 500_000_000 });
    await put(busy.id, { bud_d: 3_000_000_000, bud_m: 3_000_000_000, [month]: 1_000_000_001, shards: 2 });
    const left = { day: '4', month: '3.499999999', total: null };
    const state = await retrieveProject(stores, owner, placeOf(busy));
    expect(ProjectState.parse(state)).toEqual({ ...busy, budgets_left: left });
    await expect(retrieveProject(stores, otherOwner, placeOf(busy))).rejects.toMatchObject({ status: 404 });
    expect((await retrieveProject(stores, owner, placeOf(none))).budgets_left).toEqual({ day: null, month: null, total: null });
    const listed = async () => (await listProjects(stores, owner, ProjectsQuery.parse({}))).data.map(({ budgets_left: all }) => all?.month);
    expect(await listed()).toEqual(['5', left.month, null]);
    await put(other.id, { shards: 1_001 });
    expect(await listed()).toEqual(['5', undefined, null]);
    expect((await retrieveProject(stores, owner, placeOf(busy))).budgets_left).toEqual(left);
  });

  test.each([{}, { status: 'active' }, { budgets: { week: '1' } }, { budgets: { month: 1 } }, { name: '' }])(
    'are not changed by %j',
    (body) => {
      expect(ProjectUpdate.safeParse(body).success).toBe(false);
    },
  );
});
