import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/database.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { endFaults, TABLE_FAULTS } from '../../support/fault-table/faults.ts';
import { brokenPromises } from '../../support/fault-table/invariants.ts';
import { type Cell, measure } from '../../support/fault-table/measure.ts';
import { renderFaults } from '../../support/fault-table/render.ts';
import type { FaultyRun } from '../../support/fault-table/table-fault.ts';
import { startTestRun, type TestRun } from '../../support/local-run.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/faults.md');
const MIN_CELLS = 120;
const SLOW_MS = 300;
const LIMIT_MS = 400_000;

let database: TestDatabase;
let proxy: FaultProxy;
let run: TestRun;
let faulty: FaultyRun;
beforeAll(async () => {
  let mayFail: Parameters<FaultyRun['failOnly']>[0] = () => true;
  database = await startTestDatabase();
  proxy = await startFaultProxy(database.url, {
    random: () => 0,
    holdMs: SLOW_MS,
    mayFail: (operation, body) => mayFail(operation, body),
    keysTable: database.tables.Keys as string,
    usageTable: database.tables.Usage as string,
  });
  process.env.DYNAMODB_ENDPOINT = proxy.url;
  try {
    run = await startTestRun();
  } finally {
    delete process.env.DYNAMODB_ENDPOINT;
  }
  for (const model of (await run.models.list(SERVERLESS_POOL)).values()) await run.models.put('org_test', model);
  faulty = {
    run,
    proxy,
    failOnly: (next) => {
      mayFail = next;
    },
  };
  await endFaults(faulty);
});
afterAll(async () => {
  await run.close();
  await proxy.close();
  await database.close();
});

test(
  'each fault keeps the promises of every route, and docs/faults.md says what happens',
  async () => {
    const sections: Cell[][] = [];
    for (const fault of TABLE_FAULTS) sections.push(await measure(faulty, fault));
    const cells = sections.flat();
    expect(cells.length).toBeGreaterThanOrEqual(MIN_CELLS);
    const broken = cells.flatMap((cell) => brokenPromises(cell).map((promise) => `${cell.fault.name}, ${cell.route.name}: ${promise}`));
    expect(broken).toEqual([]);
    if (process.env.UPDATE_FAULTS) await writeFile(DOCUMENT, renderFaults(sections));
    expect(renderFaults(sections)).toBe(await readFile(DOCUMENT, 'utf8'));
  },
  LIMIT_MS,
);
