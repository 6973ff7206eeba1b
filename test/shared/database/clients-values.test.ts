import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openLocalDatabase } from '../../../infra/local/dynamodb/open-database.ts';
import type { Database, Item } from '../../../shared/database/database.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { openDirectDatabase } from '../../support/emulators/direct-database.ts';
import { type FakeAws, startFakeAws } from '../../support/emulators/fake-aws.ts';

let database: TestDatabase;
let clients: Record<'sdk' | 'direct', Database>;
let TableName: string;
beforeAll(async () => {
  database = await startTestDatabase();
  clients = { sdk: database.sdk, direct: database.database };
  TableName = database.tables.Keys as string;
});
afterAll(() => database.close());

const DIRECTIONS = [
  ['sdk', 'direct'],
  ['direct', 'sdk'],
  ['direct', 'direct'],
] as const;

const roundTrip = async (writer: Database, reader: Database, fields: Item): Promise<Item | undefined> => {
  await writer.put({ TableName, Item: { ...fields, id: 'round trip' } });
  const { Item } = await reader.get({ TableName, Key: { id: 'round trip' }, ConsistentRead: true });
  delete Item?.id;
  return Item;
};

describe.each(DIRECTIONS)('what the %s client writes, the %s client reads:', (writer, reader) => {
  const values: [string, unknown][] = [
    ['an empty string', ''],
    ['text with quotes, controls and line separators', '"\\\u0000\u0001\n\u2028\u2029</script>'],
    ['text beyond the basic plane', 'é漢字🤖\u{10FFFF}\uFEFF'],
    ['an integer', -42],
    ['the largest exact integer', Number.MAX_SAFE_INTEGER],
    ['zero', 0],
    ['a decimal', 0.1],
    ['a decimal with seventeen digits', 0.1 + 0.2],
    ['a small number with an exponent', 1.5e-7],
    ['a very small number', 1e-120],
    ['an integer beyond 2^53', 2n ** 53n + 1n],
    ['a negative integer beyond 2^53', -(2n ** 80n)],
    ['an integer with 38 digits', 10n ** 38n - 1n],
    ['a round integer with 38 digits', 10n ** 37n],
    ['true', true],
    ['false', false],
    ['null', null],
    ['bytes', new Uint8Array([0, 1, 254, 255])],
    ['no bytes', new Uint8Array()],
    ['an empty list', []],
    ['an empty map', {}],
    ['nested lists and maps', { a: [{ b: [[], {}, [null]] }, 'c'], 'd e': { f: { g: -1 } } }],
  ];
  test.each(values)('%s', async (_, value) => {
    expect(await roundTrip(clients[writer], clients[reader], { value })).toEqual({ value });
  });

  test('a view of a part of a buffer, as only that part', async () => {
    const value = new Uint8Array([9, 1, 2, 9]).subarray(1, 3);
    expect(await roundTrip(clients[writer], clients[reader], { value })).toEqual({ value: new Uint8Array([1, 2]) });
  });

  test('an integer as a number if a number holds it', async () => {
    expect(await roundTrip(clients[writer], clients[reader], { value: [5n, -1n] })).toEqual({ value: [5, -1] });
  });

  test('nothing of undefined', async () => {
    const item = { a: undefined, b: { c: undefined, d: 1 }, e: [1, undefined, 2] };
    expect(await roundTrip(clients[writer], clients[reader], item)).toStrictEqual({ b: { d: 1 }, e: [1, 2] });
  });

  test('generated items', async () => {
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.string({ unit: anyCharacter, maxLength: 30 }),
        fc.maxSafeInteger(),
        // DynamoDB keeps 38 digits and magnitudes from 1e-130.
        fc
          .double({ noDefaultInfinity: true, noNaN: true, min: -1e15, max: 1e15 })
          .filter((number) => !Object.is(number, -0) && (number === 0 || Math.abs(number) > 1e-120)),
        fc
          .bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n })
          .map((integer) => (Number.isSafeInteger(Number(integer)) ? Number(integer) : integer)),
        fc.boolean(),
        fc.constant(null),
        fc.uint8Array({ maxLength: 20 }),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(
          fc.string({ minLength: 1, maxLength: 10, unit: 'grapheme' }).filter((name) => !(name in {})),
          tie('value'),
          { maxKeys: 4, noNullPrototype: true },
        ),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(fc.record({ value, other: value }), async (item) => {
        expect(await roundTrip(clients[writer], clients[reader], item)).toEqual(item);
      }),
      { numRuns: 150 },
    );
  });
});

test('keeps attributes with names that objects inherit in the direct client', async () => {
  const item = JSON.parse('{"value":{"__proto__":{"a":1},"constructor":2,"toString":"x"}}') as Item;
  const read = (await roundTrip(clients.direct, clients.direct, item))?.value as object;
  expect(new Map(Object.entries(read))).toEqual(
    new Map<string, unknown>([
      ['__proto__', { a: 1 }],
      ['constructor', 2],
      ['toString', 'x'],
    ]),
  );
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
});

describe('both clients', () => {
  let nowhere: FakeAws;
  let both: Database[];
  beforeAll(async () => {
    nowhere = await startFakeAws();
    both = [openLocalDatabase(nowhere.url), openDirectDatabase(nowhere.url)];
  });
  afterAll(() => nowhere.close());

  class Money {
    readonly nanos = 1;
  }
  const values: [string, unknown][] = [
    ['a date', new Date()],
    ['an instance of a class', new Money()],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['a number that is not exact', 2 ** 53],
    ['a negative number that is not exact', -(2 ** 53)],
    ['a large number', 1e21],
    ['a symbol', Symbol('x')],
  ];
  test.each(values)('reject %s, wherever it is, and send nothing', async (_, value) => {
    for (const client of both) {
      const Key = { id: 'x' };
      await expect(client.put({ TableName, Item: { ...Key, value } })).rejects.toThrow();
      await expect(client.put({ TableName, Item: { ...Key, nested: [{ value }] } })).rejects.toThrow();
      const update = { TableName, Key, UpdateExpression: 'SET a = :a', ExpressionAttributeValues: { ':a': value } };
      await expect(client.update(update)).rejects.toThrow();
      await expect(client.transactWrite({ TransactItems: [{ Update: update }] })).rejects.toThrow();
      await expect(client.get({ TableName, Key: { id: value } })).rejects.toThrow();
    }
    expect(nowhere.received).toEqual([]);
  });
});
