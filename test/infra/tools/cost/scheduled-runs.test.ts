import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SCHEDULED_LOG_BYTES } from '../../../../infra/tools/cost/assumed.ts';
import { SCHEDULED_RUNS } from '../../../../infra/tools/cost/measured.ts';
import { type Observer, startObserver } from '../../../bench/observer.ts';
import { startTestRun, type TestRun } from '../../../support/clients/local-run.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';

// The observer is between the database and the functions of the run, whose own container it does not observe.
let database: TestDatabase;
let observer: Observer;
let run: TestRun;
beforeAll(async () => {
  database = await startTestDatabase();
  observer = await startObserver(database.url, database.url);
  process.env.DYNAMODB_ENDPOINT = observer.databaseUrl;
  run = await startTestRun();
});
afterAll(async () => {
  delete process.env.DYNAMODB_ENDPOINT;
  await run.close();
  await observer.close();
  await database.close();
});

const invoke = async (name: string): Promise<void> => {
  const event = JSON.stringify({ source: 'aws.events', 'detail-type': 'Scheduled Event', detail: {} });
  const reply = await fetch(`${run.lambda_endpoint}/2015-03-31/functions/${name}/invocations`, { method: 'POST', body: event });
  expect(reply.headers.get('x-amz-function-error')).toBeNull();
};

const linesOf = (name: string): string[] =>
  readFileSync(path.join(run.state, 'logs', `${name}.log`), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'));

describe.each(Object.entries(SCHEDULED_RUNS))('a scheduled run of %s that finds nothing to do', (name, { reads, lines }) => {
  // The sweep reads two or three epochs, by the time of day.
  test('reads at most what the model of costs says, and at least half of it, and writes its lines', async () => {
    // The first run also writes what later ones find.
    await invoke(name);
    const before = linesOf(name).length;
    observer.take();
    await invoke(name);
    const calls = observer.take();
    const read = calls.reduce((sum, { readUnits }) => sum + readUnits, 0) * 1_000;
    expect(read).toBeLessThanOrEqual(reads);
    expect(read).toBeGreaterThan(reads / 2);
    expect(calls.reduce((sum, { writeUnits }) => sum + writeUnits, 0)).toBeLessThanOrEqual(1);
    const written = linesOf(name).slice(before);
    expect(written.map((line) => JSON.parse(line))).toEqual(lines.map((line) => expect.objectContaining(line)));
    expect(written.join('\n').length).toBeLessThanOrEqual(Number(SCHEDULED_LOG_BYTES));
  });
});
