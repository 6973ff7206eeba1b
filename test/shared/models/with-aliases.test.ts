import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { transact } from '../../../shared/database/transaction.ts';
import { type AliasStore, createAliasStore } from '../../../shared/models/alias-store.ts';
import { createDeployments } from '../../../shared/models/deployments.ts';
import { createInventory } from '../../../shared/models/inventory.ts';
import type { NewModel } from '../../../shared/models/model.ts';
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
const name = (owner: string, alias: string, target: string) =>
  transact(database.database, [aliases.toPut(owner, { alias, model: target })]);

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
      return new Map<string, string>();
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
    await database.database.put({ TableName: database.tables.Models as string, Item: { ...row, split: [{ model: 'llama', weight: 1 }] } });
    await database.database.put({ TableName: database.tables.Models as string, Item: { ...row, name: 'b', model: 7 } });
    expect([...(await aliases.list(pool))]).toEqual([['a', 'qwen']]);
  });

  test('are in no list of models', async () => {
    await publish('qwen');
    await name(pool, 'gpt', 'qwen');
    expect([...(await database.models.list(pool)).keys()]).toEqual(['qwen']);
  });

  test('end with their deletion', async () => {
    await name(pool, 'gpt', 'qwen');
    await transact(database.database, [aliases.toDelete(pool, 'gpt')]);
    expect(await aliases.list(pool)).toEqual(new Map());
  });
});
