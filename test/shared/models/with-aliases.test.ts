import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { transact } from '../../../shared/database/transaction.ts';
import { AliasChanged, type AliasStore, createAliasStore } from '../../../shared/models/alias-store.ts';
import { createDeployments } from '../../../shared/models/deployments.ts';
import { createInventory } from '../../../shared/models/inventory.ts';
import type { NewModel } from '../../../shared/models/model.ts';
import type { ModelAlias } from '../../../shared/models/model-alias.ts';
import type { ModelSplit } from '../../../shared/models/split.ts';
import { type AliasedInventory, createCachedAliases, withAliases } from '../../../shared/models/with-aliases.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

let database: TestDatabase;
let aliases: AliasStore;
let now = 0;
let isDown = false;
// The owners whose aliases were read, in order.
let reads: string[] = [];
// Each test has an organization and a pool of its own.
let organization: string;
let pool: string;
let tests = 0;
beforeAll(async () => {
  database = await startTestDatabase();
  aliases = createAliasStore(database.database, database.tables.Models as string);
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  tests += 1;
  [now, isDown, reads, organization, pool] = [1_000_000, false, [], `org_${tests}`, `pool_${tests}`];
});
afterEach(() => {
  jest.restoreAllMocks();
});

const model = (name: string, change: Partial<NewModel> = {}): NewModel => ({
  name,
  status: 'published',
  created: 0,
  context_length: 10,
  max_output_tokens: 5,
  default_output_tokens: 5,
  targets: [{ endpoint: 'e' }],
  prices: [{ version: '1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
  ...change,
});

const publish = (...names: string[]) => Promise.all(names.map((name) => database.models.put(pool, model(name))));
const setAlias = async (owner: string, alias: Pick<ModelAlias, 'alias' | 'model'> & Partial<ModelAlias>) =>
  transact(database.database, [aliases.toPut(owner, { fallbacks: [], ...alias }, (await aliases.list(owner)).get(alias.alias))]);
const name = (owner: string, alias: string, target: string) => setAlias(owner, { alias, model: target });

const cachedAliases = () => {
  const list = async (owner: string) => {
    reads.push(owner);
    if (isDown) throw new Error('DynamoDB is down');
    return aliases.list(owner);
  };
  return createCachedAliases({ list }, () => now);
};
const shared = (): AliasedInventory =>
  withAliases(
    createInventory(database.models, pool, () => now),
    cachedAliases(),
    [organization, pool],
  );
const own = (): AliasedInventory => withAliases(createDeployments(database.models, () => now)(pool), cachedAliases(), [pool]);

const HALF: ModelSplit = { id: 'spl_1', model: 'new', percent: 50, min_requests: 100, started_at: 1 };

const found = async (inventory: AliasedInventory, asked: string): Promise<string> => (await inventory.find(asked)).name;

describe('an inventory with aliases', () => {
  test('finds the model of an alias', async () => {
    await publish('qwen');
    await name(pool, 'claude-sonnet', 'qwen');
    expect(await found(shared(), 'claude-sonnet')).toBe('qwen');
  });

  test('lets the name of a model win, without reading aliases', async () => {
    await publish('qwen', 'llama');
    await name(pool, 'llama', 'qwen');
    expect(await found(shared(), 'llama')).toBe('llama');
    expect(reads).toEqual([]);
  });

  test('takes an alias of the organization before one for all', async () => {
    await publish('large', 'small');
    await name(pool, 'gpt', 'large');
    await name(organization, 'gpt', 'small');
    expect(await found(shared(), 'gpt')).toBe('small');
  });

  test('takes the alias for all if the one of the organization is for another host', async () => {
    await publish('large');
    await name(pool, 'gpt', 'large');
    await name(organization, 'gpt', 'own-deployment');
    expect(await found(shared(), 'gpt')).toBe('large');
  });

  test('never follows an alias to another alias', async () => {
    await publish('qwen');
    await name(pool, 'one', 'two');
    await name(pool, 'two', 'qwen');
    await name(pool, 'self', 'self');
    const inventory = shared();
    expect(await found(inventory, 'two')).toBe('qwen');
    for (const asked of ['one', 'self']) await expect(inventory.find(asked)).rejects.toThrow(`The model '${asked}' does not exist.`);
  });

  test('names the asked model in the 404 of an alias whose model is gone or unpublished', async () => {
    await database.models.put(pool, model('hidden', { status: 'unpublished' }));
    await name(pool, 'gpt', 'hidden');
    await expect(shared().find('gpt')).rejects.toMatchObject({ status: 404, message: expect.stringContaining("'gpt' does not exist") });
  });

  test('never sees the aliases of another organization', async () => {
    await publish('qwen');
    await name('org_other', 'theirs', 'qwen');
    await expect(shared().find('theirs')).rejects.toMatchObject({ status: 404 });
  });

  test('finds the model of an alias that has the name of an unpublished shared model', async () => {
    await database.models.put(pool, model('gpt', { status: 'unpublished' }));
    await publish('qwen');
    await name(pool, 'gpt', 'qwen');
    expect(await found(shared(), 'gpt')).toBe('qwen');
  });

  test('keeps the name of a deployment that is not in service: 503, also through an alias', async () => {
    await database.models.put(pool, model('stopped', { status: 'unpublished' }));
    await publish('running');
    await name(pool, 'stopped', 'running');
    await name(pool, 'claude', 'stopped');
    for (const asked of ['stopped', 'claude'])
      await expect(own().find(asked)).rejects.toMatchObject({ status: 503, code: 'deployment_not_ready' });
  });

  test('lists the aliases of published models, by alias', async () => {
    await publish('qwen', 'taken');
    for (const alias of ['b', 'a', 'taken']) await name(pool, alias, 'qwen');
    await name(pool, 'c', 'nothing');
    expect((await own().aliases()).map(({ alias, model: { name: target } }) => [alias, target])).toEqual([
      ['a', 'qwen'],
      ['b', 'qwen'],
    ]);
  });
});

describe('the fallbacks of an alias', () => {
  const unknown = () => undefined;
  const onDemand = (): AliasedInventory =>
    withAliases(
      createDeployments(database.models, () => now)(organization),
      cachedAliases(),
      [organization],
      createInventory(database.models, pool, () => now),
    );
  const deploy = (deployment: string, change: Partial<NewModel> = {}) => database.models.put(organization, model(deployment, change));

  test('follow its model, without that one', async () => {
    await publish('large', 'small', 'tiny');
    await setAlias(pool, { alias: 'gpt', model: 'large', fallbacks: ['small', 'large', 'tiny'] });
    expect(await shared().route('gpt', unknown)).toEqual({
      model: expect.objectContaining({ name: 'large' }),
      isShared: false,
      alias: 'gpt',
      fallbacks: ['small', 'tiny'],
    });
  });

  test('are published models of the host, never aliases', async () => {
    await publish('large', 'small');
    await database.models.put(pool, model('hidden', { status: 'unpublished' }));
    await setAlias(pool, { alias: 'gpt', model: 'large' });
    const inventory = shared();
    expect(await inventory.fallback('small')).toMatchObject({ model: { name: 'small' }, isShared: false });
    for (const other of ['gpt', 'hidden', 'nothing']) expect(await inventory.fallback(other)).toBeUndefined();
  });

  test('can be shared models in place of a deployment, and a deployment of the same name wins', async () => {
    await publish('warm', 'both');
    await deploy('own');
    await deploy('both');
    await setAlias(organization, { alias: 'assistant', model: 'own', fallbacks: ['both', 'warm'] });
    const inventory = onDemand();
    expect(await inventory.route('assistant', unknown)).toMatchObject({ model: { name: 'own' }, fallbacks: ['both', 'warm'] });
    expect(await inventory.fallback('warm')).toMatchObject({ model: { name: 'warm' }, isShared: true });
    expect(await inventory.fallback('both')).toMatchObject({ model: { name: 'both' }, isShared: false });
  });

  test('never make a shared model the model of a name on the host of deployments', async () => {
    await publish('warm');
    await deploy('own');
    await setAlias(organization, { alias: 'direct', model: 'warm', fallbacks: ['own'] });
    await setAlias(organization, { alias: 'half', model: 'own', split: { ...HALF, model: 'warm', percent: 99 } });
    const inventory = onDemand();
    for (const asked of ['warm', 'direct']) await expect(inventory.route(asked, unknown)).rejects.toMatchObject({ status: 404 });
    expect(await inventory.route('half', () => 'anyone')).toMatchObject({ model: { name: 'own' }, isShared: false });
  });

  test('answer for a deployment that is not in service, which the route names', async () => {
    await publish('warm', 'last');
    await deploy('own', { status: 'unpublished' });
    await setAlias(organization, { alias: 'assistant', model: 'own', fallbacks: ['nothing', 'warm', 'last'] });
    await setAlias(organization, { alias: 'alone', model: 'own' });
    const inventory = onDemand();
    expect(await inventory.route('assistant', unknown)).toMatchObject({
      model: { name: 'warm' },
      isShared: true,
      fallbacks: ['last'],
      unavailable: { name: 'own', error: { status: 503, code: 'deployment_not_ready' } },
    });
    await expect(inventory.route('alone', unknown)).rejects.toMatchObject({ code: 'deployment_not_ready' });
  });

  test('are listed with the alias if they are published', async () => {
    await publish('warm');
    await deploy('own');
    await setAlias(organization, { alias: 'assistant', model: 'own', fallbacks: ['own', 'nothing', 'warm'] });
    const [listed] = await onDemand().aliases();
    expect(listed).toMatchObject({ alias: 'assistant', model: { name: 'own' }, fallbacks: [{ name: 'warm' }] });
  });
});

describe('the split of an alias', () => {
  const callers = Array.from({ length: 200 }, (_, i) => `caller ${i}`);

  test('answers each caller always with the same model, and names the side', async () => {
    await publish('old', 'new');
    await setAlias(pool, { alias: 'gpt', model: 'old', split: HALF });
    const sides = async () => {
      const inventory = shared();
      return Promise.all(callers.map(async (caller) => inventory.route('gpt', () => caller)));
    };
    const first = await sides();
    for (const { model: of, side, splitId } of first) expect([of.name, splitId]).toEqual([side === 'new' ? 'new' : 'old', HALF.id]);
    expect(new Set(first.map(({ side }) => side))).toEqual(new Set(['base', 'new']));
    expect((await sides()).map(({ side }) => side)).toEqual(first.map(({ side }) => side));
  });

  test('asks who calls only for an alias with a split', async () => {
    await publish('old', 'new');
    await setAlias(pool, { alias: 'plain', model: 'old' });
    const inventory = shared();
    for (const asked of ['plain', 'old'])
      expect(
        await inventory.route(asked, () => {
          throw new Error('asked');
        }),
      ).not.toHaveProperty('side');
  });

  test.each([
    ['it has stopped', { stopped_at: 2 }, 'published'],
    ['its new model is not published', {}, 'unpublished'],
  ] as const)('has no part in a request if %s', async (_, change, status) => {
    await publish('old');
    await database.models.put(pool, model('new', { status }));
    await setAlias(pool, { alias: 'gpt', model: 'old', split: { ...HALF, percent: 99, ...change } });
    const route = await shared().route('gpt', () => 'anyone');
    expect(route.model.name).toBe('old');
    expect(route).not.toHaveProperty('side');
  });

  test('is not started again by a change that was made before it stopped', async () => {
    await setAlias(pool, { alias: 'gpt', model: 'old', split: HALF });
    const before = (await aliases.list(pool)).get('gpt');
    await setAlias(pool, { alias: 'gpt', model: 'old', split: { ...HALF, stopped_at: 2 } });
    const change = aliases.toPut(pool, { alias: 'gpt', model: 'old', fallbacks: ['x'], split: HALF }, before);
    await expect(transact(database.database, [change])).rejects.toThrow(AliasChanged);
    expect((await aliases.list(pool)).get('gpt')).toMatchObject({ split: { stopped_at: 2 } });
  });
});

describe('the aliases of an environment', () => {
  test('are read once for concurrent requests and unknown names, and again after 30 s', async () => {
    await publish('qwen');
    await name(organization, 'gpt', 'qwen');
    const inventory = shared();
    await Promise.all(Array.from({ length: 20 }, () => inventory.find('gpt')));
    expect(reads).toEqual([organization]);
    for (const asked of ['a', 'b', 'c']) await inventory.find(asked).catch(() => undefined);
    now += 29_999;
    await inventory.find('d').catch(() => undefined);
    expect(reads).toEqual([organization, pool]);
    await publish('llama');
    await name(organization, 'gpt', 'llama');
    now += 1;
    expect(await found(inventory, 'gpt')).toBe('llama');
  });

  test('are used for ten minutes while the table does not answer', async () => {
    await publish('qwen');
    await name(organization, 'gpt', 'qwen');
    const inventory = shared();
    await inventory.find('gpt');
    isDown = true;
    now += 10 * 60_000;
    expect(await found(inventory, 'gpt')).toBe('qwen');
    now += 5_000;
    await expect(inventory.find('gpt')).rejects.toThrow('DynamoDB is down');
    expect(await found(inventory, 'qwen')).toBe('qwen');
  });

  test('are those of the last 1,000 owners', async () => {
    const list = async (owner: string) => {
      reads.push(owner);
      return new Map<string, ModelAlias>();
    };
    const aliasesOf = createCachedAliases({ list }, () => now);
    for (let i = 0; i < 1_000; i++) await aliasesOf(`org_${i}`);
    await aliasesOf('org_0');
    await aliasesOf('org_new');
    reads = [];
    for (const owner of ['org_0', 'org_2', 'org_1']) await aliasesOf(owner);
    expect(reads).toEqual(['org_1']);
  });

  test('are without a row that can’t be read, and ignore what a later release adds', async () => {
    const row = { pool: `aliases#${pool}`, name: 'a', alias: 'a', model: 'qwen' };
    await database.database.put({ TableName: database.tables.Models as string, Item: { ...row, owner_note: 'later' } });
    await database.database.put({ TableName: database.tables.Models as string, Item: { ...row, name: 'b', model: 7 } });
    expect([...(await aliases.list(pool))]).toEqual([['a', { alias: 'a', model: 'qwen', fallbacks: [] }]]);
  });

  test('are in no list of models', async () => {
    await publish('qwen');
    await name(pool, 'gpt', 'qwen');
    expect([...(await database.models.list(pool)).keys()]).toEqual(['qwen']);
  });

  test('end with their deletion', async () => {
    await name(pool, 'gpt', 'qwen');
    await transact(database.database, [aliases.toDelete(pool, (await aliases.get(pool, 'gpt')) as ModelAlias)]);
    expect(await aliases.list(pool)).toEqual(new Map());
  });
});
