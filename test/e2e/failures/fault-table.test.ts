import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { controlOf, type SignedIn } from '../../support/clients/control.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { openTestKeys } from '../../support/clients/test-keys.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { endFaults, TABLE_FAULTS } from '../../support/faults/fault-table/faults.ts';
import { createIdentities } from '../../support/faults/fault-table/identities.ts';
import { brokenPromises } from '../../support/faults/fault-table/invariants.ts';
import { type Cell, measure } from '../../support/faults/fault-table/measure.ts';
import { renderFault, renderFaults } from '../../support/faults/fault-table/render.ts';
import type { FaultyRun, TableFault } from '../../support/faults/fault-table/table-fault.ts';
import { withoutTimes } from '../../support/faults/fault-table/time-class.ts';
import { isFull, sized } from '../../support/sized.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/faults.md');
const MIN_CELLS = sized(120, 700);
// One or two of each kind, without those that take long.
const SOME_FAULTS = [
  'None',
  'DynamoDB fails every call',
  'DynamoDB fails every write',
  'DynamoDB does every call and loses every reply',
  'DynamoDB loses replies of the table `usage`',
  'The model server breaks the connection',
  "The model server is silent until the function's time ends",
  'SageMaker throttles',
  'SageMaker has no copy of one of the models',
  'SageMaker fails in the stream',
  'Inventory: the model has no price yet',
  'S3 fails when payloads are logged',
  'Cognito fails',
];
const isUpdated = process.env.UPDATE_FAULTS !== undefined;
const LIMIT_MS = 400_000;
const USERS = 4;
const MAX_TIMES = 3;

let database: TestDatabase;
let proxy: FaultProxy;
let run: TestRun;
let faulty: FaultyRun;
beforeAll(async () => {
  let mayFail: Parameters<FaultyRun['failOnly']>[0] = () => true;
  database = await startTestDatabase();
  proxy = await startFaultProxy(database.url, {
    random: () => 0,
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
  const control = controlOf(run);
  const { id: organization } = await control.createOrganization();
  const users: SignedIn[] = [];
  for (let number = 0; number < USERS; number++) users.push(await control.createUser({ role: 'owner', organization }));
  const identities = await createIdentities(run, control, users[0] as SignedIn, organization);
  faulty = {
    run,
    control,
    users,
    identities,
    proxy,
    keys: openTestKeys(database.database, database.tables),
    failOnly: (next) => {
      mayFail = next;
    },
  };
  await endFaults(faulty);
});
afterAll(async () => {
  await run.close();
  await faulty.identities.workload.close();
  await proxy.close();
  await database.close();
});

// A busy machine can make a fault slower than the document says, so it is then measured again.
const measureInTime = async (fault: TableFault, document: string): Promise<Cell[][]> => {
  const times: Cell[][] = [];
  for (let time = 1; time <= MAX_TIMES; time++) {
    const cells = await measure(faulty, fault);
    times.push(cells);
    const section = renderFault(cells);
    if (document.includes(section) || !withoutTimes(document).includes(withoutTimes(section))) break;
  }
  return times;
};

test(
  'each fault keeps the promises of every route, and docs/faults.md says what happens',
  async () => {
    const document = isUpdated ? '' : await readFile(DOCUMENT, 'utf8');
    const some = SOME_FAULTS.map((name) => TABLE_FAULTS.find((fault) => fault.name === name) as TableFault);
    const faults = isUpdated ? TABLE_FAULTS : sized(some, TABLE_FAULTS);
    const measured: Cell[][][] = [];
    for (const fault of faults) measured.push(await measureInTime(fault, document));
    const cells = measured.flat(2);
    const sections = measured.map((times) => times.at(-1) as Cell[]);
    expect(cells.length).toBeGreaterThanOrEqual(MIN_CELLS);
    const broken = cells.flatMap((cell) => brokenPromises(cell).map((promise) => `${cell.fault.name}, ${cell.route.name}: ${promise}`));
    expect(broken).toEqual([]);
    if (isUpdated) await writeFile(DOCUMENT, renderFaults(sections));
    const written = await readFile(DOCUMENT, 'utf8');
    if (isFull || isUpdated) expect(renderFaults(sections)).toBe(written);
    for (const section of sections) expect(written).toContain(renderFault(section));
    const headings = [...written.matchAll(/^## (.*)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(TABLE_FAULTS.map(({ name }) => name));
  },
  LIMIT_MS,
);
