import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { DescribeTableCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, test } from '@jest/globals';
import { interpret } from '../../../../infra/assembly/interpret.ts';
import type { Table } from '../../../../infra/assembly/local-app.ts';
import { readAssembly } from '../../../../infra/assembly/read-assembly.ts';
import { type Database, startDatabase } from '../../../../infra/local/dynamodb/dynoxide.ts';
import { createTables } from '../../../../infra/local/dynamodb/tables.ts';
import { createProcessList } from '../../../../infra/local/processes/process-list.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { eventually, fixtureStacks, processState, writeAssembly } from '../fixtures.ts';

const processes = createProcessList();
const clients: DynamoDBClient[] = [];
afterAll(() => {
  for (const client of clients) client.destroy();
  processes.close();
});

const fixtureTables = async (): Promise<readonly Table[]> => {
  await using folder = temporaryFolder();
  await writeAssembly(folder.path, fixtureStacks);
  return interpret(await readAssembly(folder.path)).tables;
};
const start = (stateFolder: string, ephemeral = false): Promise<Database> =>
  startDatabase({ stateFolder, logFolder: stateFolder, ephemeral, processes, onChange: () => undefined, log: () => undefined });
const clientOf = (url: string) =>
  new DynamoDBClient({ endpoint: url, region: 'us-east-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
const item = { id: { S: 'one' }, owner: { S: 'me' } };

test('the error for a machine without a database says what to do', async () => {
  // In another process, whose architecture is set to an unsupported one.
  const program = `Object.defineProperty(process, 'arch', { value: 'riscv64' });
    const { startDatabase } = await import(${JSON.stringify(path.join(import.meta.dirname, '../../../../infra/local/dynamodb/dynoxide.ts'))});
    await startDatabase({}).catch((error) => console.log(error.message));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env: { PATH: '' } });
  for (const way of ['brew install dynoxide', 'cargo install dynoxide', 'DynamoDB Local', 'DYNAMODB_ENDPOINT='])
    expect(stdout).toContain(way);
});

describe('the database', () => {
  test('has the tables of the template, and keeps their items across a restart', async () => {
    await using folder = temporaryFolder();
    const tables = await fixtureTables();
    const first = await start(folder.path);
    expect(await createTables(first.url, tables)).toEqual({ Things: 'test-data-Things' });
    const { Table: made } = await clientOf(first.url).send(new DescribeTableCommand({ TableName: 'test-data-Things' }));
    expect(made).toMatchObject({
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: [expect.objectContaining({ IndexName: 'by-owner' })],
      StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
    });
    await clientOf(first.url).send(new PutItemCommand({ TableName: 'test-data-Things', Item: item }));
    await first.close();

    const second = await start(folder.path);
    expect(await createTables(second.url, tables)).toEqual({ Things: 'test-data-Things' });
    const { Item } = await clientOf(second.url).send(new GetItemCommand({ TableName: 'test-data-Things', Key: { id: { S: 'one' } } }));
    expect(Item).toEqual(item);
    await second.close();
  });

  test('serves all calls with one thread, and keeps nothing when it is ephemeral', async () => {
    await using folder = temporaryFolder();
    const tables = await fixtureTables();
    const first = await start(folder.path, true);
    expect(readFileSync(`/proc/${first.pid()}/environ`, 'utf8').split('\0')).toContain('TOKIO_WORKER_THREADS=1');
    await createTables(first.url, tables);
    await clientOf(first.url).send(new PutItemCommand({ TableName: 'test-data-Things', Item: item }));
    await first.close();
    const second = await start(folder.path, true);
    await createTables(second.url, tables);
    const { Item } = await clientOf(second.url).send(new GetItemCommand({ TableName: 'test-data-Things', Key: { id: { S: 'one' } } }));
    expect(Item).toBeUndefined();
    await second.close();
  });

  test('causes an error naming a table with different keys and what to do', async () => {
    await using folder = temporaryFolder();
    const database = await start(folder.path, true);
    const [table] = await fixtureTables();
    if (!table) throw new Error('There is no fixture table');
    await createTables(database.url, [table]);
    const changed = { ...table, properties: { ...table.properties, indexes: [], attributes: [{ name: 'id', type: 'S' as const }] } };
    await expect(createTables(database.url, [changed])).rejects.toThrow(/test-data-Things differ.*--state/);
    await database.close();
  });

  test('adds a missing stream to an existing table', async () => {
    await using folder = temporaryFolder();
    const database = await start(folder.path, true);
    const [table] = (await fixtureTables()) as [Table];
    await createTables(database.url, [{ ...table, properties: { ...table.properties, streamViewType: undefined } }]);
    await createTables(database.url, [table]);
    const { Table: kept } = await clientOf(database.url).send(new DescribeTableCommand({ TableName: table.name }));
    expect(kept).toMatchObject({ StreamSpecification: { StreamViewType: 'NEW_IMAGE' }, LatestStreamArn: expect.any(String) });
    await database.close();
  });

  test('is restarted with its data after a crash', async () => {
    await using folder = temporaryFolder();
    const database = await start(folder.path);
    await createTables(database.url, await fixtureTables());
    const pid = database.pid() ?? 0;
    process.kill(pid, 'SIGKILL');
    await eventually(
      () => processState(pid) === undefined && database.pid() !== undefined && database.pid() !== pid,
      'there is a new process',
    );
    const { Table: kept } = await clientOf(database.url).send(new DescribeTableCommand({ TableName: 'test-data-Things' }));
    expect(kept?.TableStatus).toBe('ACTIVE');
    await database.close();
  });

  test('is the server at DYNAMODB_ENDPOINT if that is set', async () => {
    process.env.DYNAMODB_ENDPOINT = 'http://127.0.0.1:8000/';
    const database = await start('/nowhere');
    process.env.DYNAMODB_ENDPOINT = '';
    expect(database.url).toBe('http://127.0.0.1:8000');
    expect(database.pid()).toBeUndefined();
  });
});
