import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { controlOf, type SignedIn } from '../../support/clients/control.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { openTestKeys } from '../../support/clients/test-keys.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type FaultProxy, startFaultProxy } from '../../support/faults/fault-proxy.ts';
import { endFaults, TABLE_FAULTS } from '../../support/faults/fault-table/faults.ts';
import { createIdentities } from '../../support/faults/fault-table/identities.ts';
import { brokenPromises } from '../../support/faults/fault-table/invariants.ts';
import { type Cell, measure } from '../../support/faults/fault-table/measure.ts';
import { renderFault, renderFaults, rowOf } from '../../support/faults/fault-table/render.ts';
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
// These calls write events. Admissions use others, so requests are still admitted.
const EVENT_WRITES = new Set(['PutItem', 'TransactWriteItems']);
const isUpdated = process.env.UPDATE_FAULTS !== undefined;
const LIMIT_MS = 400_000;
const USERS = 4;
const MAX_TIMES = 5;

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

const rowsIn = (document: string, { name }: TableFault): Set<string> => {
  const [section = ''] = document.split('\n## ').filter((text) => text.startsWith(`${name}\n`));
  return new Set(section.split('\n').map((line) => line.slice(2, -2).replaceAll(/ +\| /g, ' | ').trimEnd()));
};

// A busy machine can make a request slower than the document says, so it is then sent again, alone.
const measureInTime = async (fault: TableFault, document: string): Promise<Cell[][]> => {
  const times = [await measure(faulty, fault)];
  for (let time = 2; time <= MAX_TIMES; time++) {
    const cells = times.at(-1) as Cell[];
    const section = renderFault(cells);
    if (document.includes(section) || !withoutTimes(document).includes(withoutTimes(section))) break;
    const rows = rowsIn(document, fault);
    const again: Cell[] = [];
    for (const { route } of cells.filter((cell) => !rows.has(rowOf(cell)))) again.push(...(await measure(faulty, fault, new Set([route]))));
    times.push(cells.map((cell) => again.find(({ route }) => route === cell.route) ?? cell));
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

test('answers that end while the database takes no events are charged when it is back', async () => {
  const { secret, key_id } = await run.createKey();
  faulty.failOnly((operation) => EVENT_WRITES.has(operation));
  proxy.faults = { failed: 1 };
  const used = await Promise.all(
    [true, false].map(async (stream) => {
      const response = await fetch(`${run.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: run.model,
          messages: [{ role: 'user', content: 'Hello' }],
          max_tokens: 5,
          temperature: 0,
          stream,
          ...(stream && { stream_options: { include_usage: true } }),
        }),
      });
      expect(response.status).toBe(200);
      const text = await response.text();
      if (stream) expect(text).toContain('[DONE]');
      return Number(/"completion_tokens":(\d+)/.exec(text)?.[1]);
    }),
  );
  expect(used).toEqual([5, 5]);
  expect(await run.eventsOf(key_id)).toEqual([]);
  const refused = proxy.seen.failed;
  // `metering` tries in vain.
  await eventually(async () => proxy.seen.failed > refused, 'the settlement has been tried again');

  await endFaults(faulty);
  await eventually(async () => (await run.eventsOf(key_id)).length === 2, 'both are settled');
  for (const event of await run.eventsOf(key_id))
    expect(event).toMatchObject({ outcome: 'completed', source: 'runtime', completion_tokens: 5, cost_nanos: expect.any(BigInt) });
  const spent = (await run.eventsOf(key_id)).reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
  expect(spent).toBeGreaterThan(0n);
  // The event is written before the release.
  await eventually(
    async () => Object.keys((await run.limiters.whole(key_id))?.fl ?? { missing: true }).length === 0,
    'nothing is in flight',
  );
});
