import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { ModelAliasResource, NewModelAlias } from '../../../../functions/control/model-aliases/alias-resource.ts';
import {
  deleteModelAlias,
  listModelAliases,
  type ModelAliasDependencies,
  retrieveModelAlias,
  setModelAlias,
} from '../../../../functions/control/model-aliases/manage-aliases.ts';
import { transact, type Write } from '../../../../shared/database/transaction.ts';
import { createAliasStore } from '../../../../shared/models/alias-store.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { actorOf, admin, type Managed, manage, NOW_SECONDS } from '../../../support/fixtures/managed-models.ts';

let database: TestDatabase;
let managed: Managed;
let deps: ModelAliasDependencies;
// Published for all.
let shared: string;
// Not published, for all.
let hidden: string;
// A model of the organization.
let own: string;
let organization: string;
let owner: Actor;
let member: Actor;
let actorChecks: Write[] = [];
beforeAll(async () => {
  database = await startTestDatabase();
  managed = manage(database);
  deps = {
    ...managed.deps,
    aliases: createAliasStore(database.database, database.tables.Models as string),
    users: { toCheckActor: () => actorChecks },
  };
  ({ name: shared } = await managed.register({ status: 'published' }));
  ({ name: hidden } = await managed.register());
});
afterAll(async () => {
  await database.close();
});
beforeEach(async () => {
  actorChecks = [];
  ({ id: organization } = await managed.newOrganization());
  ({ name: own } = await managed.register({ organization }));
  [owner, member] = [actorOf('owner', organization), actorOf('member', organization)];
});

// The clock advances a second with each change, so that the log has an order.
let seconds = NOW_SECONDS;
const next = ({ role, organization: of }: Actor): Actor => actorOf(role, of, ++seconds * 1_000);
const set = (actor: Actor, alias: string, model: string, fields: object = {}) =>
  setModelAlias(deps, next(actor), alias, NewModelAlias.parse({ model, ...fields }));
const remove = (actor: Actor, alias: string, named?: string) => deleteModelAlias(deps, next(actor), alias, named);
const list = async (actor: Actor, query: object = {}) => {
  const { data } = await listModelAliases(deps, actor, { limit: 100, ...query });
  return data.map(({ alias, model }) => [alias, model]);
};

describe('an alias', () => {
  test('is set, changed and deleted, and the audit log has each step', async () => {
    const created = await set(owner, 'gpt', shared);
    expect(ModelAliasResource.parse(created)).toEqual(created);
    expect(created).toEqual({ object: 'model_alias', alias: 'gpt', model: shared, fallbacks: [], split: null, organization, version: 1 });
    await set(owner, 'gpt', own);
    expect(await list(member)).toEqual([['gpt', own]]);
    await remove(owner, 'gpt');
    expect(await list(member)).toEqual([]);
    const log = await managed.log(organization, 'gpt');
    expect(log.map(({ action, changes }) => [action, changes])).toEqual([
      ['model_alias.deleted', { model: { from: own, to: null } }],
      ['model_alias.updated', { model: { from: shared, to: own } }],
      ['model_alias.updated', { model: { from: null, to: shared } }],
    ]);
  });

  test('stays as it is if the same is sent again, without an audit entry', async () => {
    for (let i = 0; i < 2; i++) expect(await set(owner, 'gpt', shared)).toMatchObject({ model: shared });
    expect(await managed.log(organization, 'gpt')).toHaveLength(1);
  });

  test('for all is set and deleted by admins, in the log of the platform', async () => {
    expect(await set(admin, 'for/all', shared)).toMatchObject({ organization: null });
    expect(await deps.aliases.list(SERVERLESS_POOL)).toEqual(
      new Map([['for/all', { alias: 'for/all', model: shared, fallbacks: [], version: 1 }]]),
    );
    await remove(admin, 'for/all');
    expect((await managed.log(null, 'for/all')).map(({ action }) => action)).toEqual(['model_alias.deleted', 'model_alias.updated']);
  });

  test('is set and deleted by admins for an organization that they name', async () => {
    expect(await set(admin, 'gpt', own, { organization })).toMatchObject({ organization });
    expect(await list(member)).toEqual([['gpt', own]]);
    expect(await list(admin, { organization })).toEqual([['gpt', own]]);
    await remove(admin, 'gpt', organization);
    expect(await list(member)).toEqual([]);
  });

  test('is a 409 if a model has its name, in the organization or for all', async () => {
    for (const name of [own, shared])
      await expect(set(owner, name, shared)).rejects.toMatchObject({ status: 409, code: 'model_exists', param: 'alias' });
    await expect(set(admin, hidden, shared)).rejects.toMatchObject({ status: 409, code: 'model_exists' });
  });

  test('is a 404 if its model does not exist, is another alias, or is hidden from the actor', async () => {
    await set(owner, 'gpt', shared);
    for (const model of ['nothing', 'gpt', hidden])
      await expect(set(owner, 'other', model)).rejects.toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    await expect(set(admin, 'other', own)).rejects.toMatchObject({ status: 404 });
    expect(await list(member)).toEqual([['gpt', shared]]);
  });

  test('is a 400 if requests cannot send it', async () => {
    for (const alias of ['', '/a', 'a//b', '!a'])
      await expect(set(owner, alias, shared)).rejects.toMatchObject({ status: 400, param: 'alias' });
  });

  test('is a 404 for other organizations, and for one that is not there', async () => {
    const { id: other } = await managed.newOrganization();
    const stranger = actorOf('owner', other);
    await set(owner, 'gpt', shared);
    expect(await list(stranger)).toEqual([]);
    await expect(list(stranger, { organization })).rejects.toMatchObject({ status: 404 });
    await expect(set(stranger, 'gpt', shared, { organization })).rejects.toMatchObject({ status: 404 });
    for (const named of [undefined, organization]) await expect(remove(stranger, 'gpt', named)).rejects.toMatchObject({ status: 404 });
    await expect(set(admin, 'gpt', shared, { organization: 'org_none' })).rejects.toMatchObject({ status: 404 });
    expect(await list(owner)).toEqual([['gpt', shared]]);
  });

  test('is one of at most 100 of an organization, each of which can still change', async () => {
    for (let i = 0; i < 100; i++)
      await database.database.put({
        TableName: database.tables.Models as string,
        Item: { pool: `aliases#${organization}`, name: `a${i}`, alias: `a${i}`, model: shared },
      });
    await expect(set(owner, 'new', shared)).rejects.toMatchObject({ status: 409, code: 'too_many_aliases' });
    expect(await set(owner, 'a7', own)).toMatchObject({ model: own });
  });

  test('is not changed by an actor who loses the role meanwhile', async () => {
    const refused = () => new Error('no longer an owner');
    const ConditionExpression = 'attribute_exists(#pool)';
    const Key = { pool: 'none', name: 'none' };
    const ExpressionAttributeNames = { '#pool': 'pool' };
    const TableName = database.tables.Models as string;
    actorChecks = [{ item: { ConditionCheck: { TableName, Key, ConditionExpression, ExpressionAttributeNames } }, refused }];
    await expect(set(owner, 'gpt', shared)).rejects.toThrow('no longer an owner');
    expect(await list(member)).toEqual([]);
  });
});

describe('the version of an alias', () => {
  const expecting = (version: number, model = own) => setModelAlias(deps, next(owner), 'gpt', NewModelAlias.parse({ model }), [version]);
  const removeExpecting = (version: number) => deleteModelAlias(deps, next(owner), 'gpt', undefined, [version]);
  const refused = { status: 412 };

  test('is one more with each change, and a caller who expects another one changes nothing', async () => {
    expect(await set(owner, 'gpt', shared)).toMatchObject({ version: 1 });
    await expect(expecting(2)).rejects.toMatchObject(refused);
    expect(await expecting(1)).toMatchObject({ version: 2, model: own });
    await expect(expecting(1, shared)).rejects.toMatchObject(refused);
    await expect(removeExpecting(1)).rejects.toMatchObject(refused);
    expect(await retrieveModelAlias(deps, member, 'gpt', undefined)).toMatchObject({ version: 2, model: own });
    await removeExpecting(2);
  });

  test('is 0 while there is none, so that a caller can create one without replacing another', async () => {
    await expect(expecting(1)).rejects.toMatchObject(refused);
    expect(await expecting(0)).toMatchObject({ version: 1 });
    await expect(expecting(0, shared)).rejects.toMatchObject(refused);
  });

  test('is expected by at most one of several who change it at once', async () => {
    await set(owner, 'gpt', shared);
    const changes = await Promise.allSettled([expecting(1), expecting(1, hidden), expecting(1), removeExpecting(1)]);
    expect(changes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('is 1 in a row without one, and is counted from there', async () => {
    const row = { pool: `aliases#${organization}`, name: 'gpt', alias: 'gpt', model: shared };
    await database.database.put({ TableName: database.tables.Models as string, Item: row });
    expect(await retrieveModelAlias(deps, member, 'gpt', undefined)).toMatchObject({ version: 1 });
    expect(await expecting(1)).toMatchObject({ version: 2 });
  });
});

describe('one alias', () => {
  test('is that of the organization before one for all, and a 404 for those who cannot see it', async () => {
    await set(admin, 'both', shared);
    await set(admin, 'not-yet', hidden);
    const retrieve = (actor: Actor, alias: string, of?: string) => retrieveModelAlias(deps, actor, alias, of);
    expect(await retrieve(member, 'both')).toMatchObject({ model: shared, organization: null });
    await set(owner, 'both', own);
    expect(await retrieve(member, 'both')).toMatchObject({ model: own, organization });
    expect(await retrieve(admin, 'both')).toMatchObject({ model: shared });
    expect(await retrieve(admin, 'both', organization)).toMatchObject({ model: own });
    expect(await retrieve(admin, 'not-yet')).toMatchObject({ model: hidden });
    for (const alias of ['not-yet', 'none'])
      await expect(retrieve(member, alias)).rejects.toMatchObject({ status: 404, code: 'model_alias_not_found' });
    const { id: other } = await managed.newOrganization();
    await set(owner, 'private', own);
    await expect(retrieve(actorOf('owner', other), 'private')).rejects.toMatchObject({ status: 404 });
    await expect(retrieve(actorOf('owner', other), 'private', organization)).rejects.toMatchObject({ status: 404 });
    for (const alias of ['both', 'not-yet']) await remove(admin, alias);
  });
});

describe('the fallbacks of an alias', () => {
  test('are stored in their order, shown, and in the audit log', async () => {
    expect(await set(owner, 'gpt', own, { fallbacks: [shared] })).toMatchObject({ model: own, fallbacks: [shared] });
    await set(owner, 'gpt', own);
    expect((await managed.log(organization, 'gpt')).map(({ changes }) => changes)).toEqual([
      { fallbacks: { from: [shared], to: null } },
      { model: { from: null, to: own }, fallbacks: { from: null, to: [shared] } },
    ]);
  });

  test('are a 404 that names the one that does not exist or is hidden from the actor', async () => {
    for (const name of ['nothing', hidden])
      await expect(set(owner, 'gpt', own, { fallbacks: [shared, name] })).rejects.toMatchObject({ status: 404, param: 'fallbacks.1' });
  });

  test('are at most three different models', () => {
    for (const fallbacks of [
      ['a', 'a'],
      ['a', 'b', 'c', 'd'],
    ])
      expect(NewModelAlias.safeParse({ model: 'm', fallbacks }).success).toBe(false);
  });
});

describe('the split of an alias', () => {
  const stop = async (alias: string) => {
    const before = (await deps.aliases.list(organization)).get(alias);
    if (!before?.split) throw new Error('There is no split.');
    await transact(database.database, [
      deps.aliases.toPut(organization, { ...before, split: { ...before.split, stopped_at: NOW_SECONDS } }, before),
    ]);
  };
  const stored = async (alias: string) => (await deps.aliases.list(organization)).get(alias)?.split;

  test('is set, shown and removed, and the audit log has each step', async () => {
    const created = await set(owner, 'gpt', own, { split: { model: shared, percent: 5, max_error_percent: 2 } });
    expect(ModelAliasResource.parse(created)).toEqual(created);
    expect(created.split).toEqual({
      model: shared,
      percent: 5,
      max_error_percent: 2,
      min_requests: 100,
      started_at: seconds,
      stopped_at: null,
      stopped_by: null,
    });
    expect(await set(owner, 'gpt', own)).toMatchObject({ split: null });
    const [removed, added] = await managed.log(organization, 'gpt');
    expect(removed?.changes).toEqual({ split: { from: created.split, to: null } });
    expect(added?.changes).toMatchObject({ split: { from: null, to: created.split } });
  });

  test('goes on when something else changes, and starts again with other values', async () => {
    const split = { model: shared, percent: 5 };
    await set(owner, 'gpt', own, { split });
    const first = await stored('gpt');
    await set(owner, 'gpt', own, { split, fallbacks: [shared] });
    expect(await stored('gpt')).toEqual(first);
    await set(owner, 'gpt', own, { split: { ...split, percent: 10 } });
    expect((await stored('gpt'))?.id).not.toBe(first?.id);
  });

  test('stays stopped until its values change or it is to restart', async () => {
    const split = { model: shared, percent: 5 };
    await set(owner, 'gpt', own, { split });
    await stop('gpt');
    expect(await set(owner, 'gpt', own, { split, fallbacks: [shared] })).toMatchObject({ split: { stopped_at: NOW_SECONDS } });
    const stopped = await stored('gpt');
    expect(await set(owner, 'gpt', own, { split: { ...split, restart: true } })).toMatchObject({ split: { stopped_at: null } });
    const restarted = await stored('gpt');
    expect(restarted?.id).not.toBe(stopped?.id);
    await set(owner, 'gpt', own, { split: { ...split, restart: true } });
    expect(await stored('gpt')).toEqual(restarted);
    await stop('gpt');
    expect(await set(owner, 'gpt', own, { split: { ...split, percent: 6 } })).toMatchObject({ split: { stopped_at: null } });
  });

  test('is a 400 with the model of the alias, and a 404 with one that is hidden', async () => {
    const splitTo = (model: string) => set(owner, 'gpt', own, { split: { model, percent: 5 } });
    await expect(splitTo(own)).rejects.toMatchObject({ status: 400, param: 'split.model' });
    await expect(splitTo(hidden)).rejects.toMatchObject({ status: 404, param: 'split.model' });
  });
});

describe('an alias of a model that embeds', () => {
  const embed = { task: 'embed', embedding: { dimensions: 8 }, max_output_tokens: undefined, default_output_tokens: undefined } as const;

  test('has neither fallbacks nor a split, and is no fallback, since its vectors differ from those of others', async () => {
    const { name: embedder } = await managed.register({ ...embed, organization });
    const { name: other } = await managed.register({ ...embed, organization });
    expect(await set(owner, 'vectors', embedder)).toMatchObject({ model: embedder });
    const refused = (param: string) => ({ status: 400, param });
    await expect(set(owner, 'vectors', embedder, { fallbacks: [other] })).rejects.toMatchObject(refused('model'));
    await expect(set(owner, 'gpt', own, { fallbacks: [embedder] })).rejects.toMatchObject(refused('fallbacks.0'));
    await expect(set(owner, 'gpt', own, { split: { model: other, percent: 5 } })).rejects.toMatchObject(refused('split.model'));
  });
});

describe('the list of aliases', () => {
  test.each(['key_a', 'a!', 'a!2'])('rejects the cursor %j, which no page returned', async (after) => {
    const read = listModelAliases(deps, member, { limit: 1, after });
    await expect(read).rejects.toMatchObject({ status: 400, param: 'after' });
  });

  test('has those of the organization and those for all, page by page', async () => {
    await set(admin, 'claude', shared);
    await set(admin, 'claude-2', shared);
    await set(owner, 'claude', own);
    await set(owner, 'a', own);
    const pages: unknown[] = [];
    for (let after: string | undefined; ; ) {
      const { data, has_more, next } = await listModelAliases(deps, member, { limit: 1, after });
      pages.push(...data.map(({ alias, organization: whose }) => [alias, whose]));
      expect(next === null).toBe(!has_more);
      if (next === null) break;
      after = next;
    }
    expect(pages).toEqual([
      ['a', organization],
      ['claude', organization],
      ['claude', null],
      ['claude-2', null],
    ]);
    expect(await list(member, { organization })).toEqual([
      ['a', own],
      ['claude', own],
    ]);
    expect(await list(admin)).toEqual([
      ['claude', shared],
      ['claude-2', shared],
    ]);
  });

  test('shows aliases for all of hidden models to admins only', async () => {
    await set(admin, 'soon', hidden);
    expect(await list(admin)).toContainEqual(['soon', hidden]);
    expect(await list(member)).not.toContainEqual(['soon', hidden]);
  });
});
