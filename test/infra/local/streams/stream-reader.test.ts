import { afterAll, describe, expect, test } from '@jest/globals';
import { interpret } from '../../../../infra/assembly/interpret.ts';
import { readAssembly } from '../../../../infra/assembly/read-assembly.ts';
import { createDatabaseCalls } from '../../../../infra/local/dynamodb/database-calls.ts';
import { type Database, startDatabase } from '../../../../infra/local/dynamodb/dynoxide.ts';
import { createTables } from '../../../../infra/local/dynamodb/tables.ts';
import { createProcessList } from '../../../../infra/local/processes/process-list.ts';
import { createStreamReader, type StreamReader } from '../../../../infra/local/streams/stream-reader.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { eventually, fixtureStacks, writeAssembly } from '../fixtures.ts';

const processes = createProcessList();
afterAll(() => {
  processes.close();
});

const TABLE = 'test-data-Things';
const SILENCE_MS = 60_000;

const start = async (stateFolder: string): Promise<Database> => {
  await using assembly = temporaryFolder();
  await writeAssembly(assembly.path, fixtureStacks);
  const common = { stateFolder, logFolder: stateFolder, processes, onChange: () => undefined, log: () => undefined };
  const database = await startDatabase({ ...common, ephemeral: false });
  await createTables(database.url, interpret(await readAssembly(assembly.path)).tables);
  return database;
};

// A reader of the fixture's table, and a function that writes items.
const openReader = (url: string) => {
  const call = createDatabaseCalls(url, SILENCE_MS);
  const put = async (...ids: string[]): Promise<void> => {
    for (const id of ids) await call('PutItem', { TableName: TABLE, Item: { id: { S: id }, owner: { S: 'me' } } });
  };
  return { put, reader: createStreamReader(call, TABLE) };
};

const read = async (reader: StreamReader): Promise<(string | undefined)[]> =>
  (await Array.fromAsync(reader.poll())).flat().map(({ dynamodb }) => dynamodb?.Keys?.id?.S);

describe('a stream reader', () => {
  test('reads each record once, from the beginning, even if the database crashes', async () => {
    await using folder = temporaryFolder();
    const database = await start(folder.path);
    const { put, reader } = openReader(database.url);
    await put('one', 'two');
    expect(await read(reader)).toEqual(['one', 'two']);
    expect(await read(reader)).toEqual([]);
    await put('three');
    const pid = database.pid() ?? 0;
    process.kill(pid, 'SIGKILL');
    const seen: unknown[] = [];
    const readMore = async () => seen.push(...(await read(reader).catch(() => [])));
    await eventually(async () => (await readMore()) > 0, 'the third record is read');
    await put('four');
    await eventually(async () => (await readMore()) > 1, 'the fourth record is read');
    expect(seen).toEqual(['three', 'four']);
    await database.close();
  });

  test('reads the whole stream again in a new run', async () => {
    await using folder = temporaryFolder();
    const first = await start(folder.path);
    const { put, reader } = openReader(first.url);
    await put('one', 'two');
    expect(await read(reader)).toEqual(['one', 'two']);
    await first.close();
    const second = await start(folder.path);
    expect(await read(openReader(second.url).reader)).toEqual(['one', 'two']);
    await second.close();
  });
});
