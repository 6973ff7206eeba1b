import { beforeAll, expect, test } from '@jest/globals';
import { controlRoutes } from '../../functions/control/routes.ts';
import { SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { type Control, controlOf, type SignedIn } from '../support/clients/control.ts';
import { type Caller, createEveryKindOfKey } from '../support/fixtures/every-kind-of-key.ts';
import { ledgerFaults } from './ledger.ts';
import { upgrade } from './run.ts';
import { sendDuring } from './traffic.ts';
import type { UpgradeRun } from './upgrade-run.ts';

const REQUESTS = 20;
const GRANTED = 1_000_000_000n;
const MAX_PAGES = 100;
const LATER = { later_attribute: { written_by: 'a later release', list: [1] } };

// The last release doesn't have them.
const NEW_PATHS = [
  '/v1/adapter-prices',
  '/v1/economics',
  '/v1/identity-providers',
  '/v1/lookup',
  '/v1/me/sessions',
  '/v1/model-aliases',
  '/v1/observability/now',
  '/v1/projects',
  '/v1/service-accounts',
  '/v1/service-levels',
  '/v1/service-promises',
  '/v1/summary',
];

// For these, the last release has no list of all organizations.
const OF_AN_ORGANIZATION = ['/v1/billing/invoices', '/v1/deployments'];

// Reads that need no id and no time range, as far as an owner or an admin may make them.
const READS = controlRoutes.filter(
  ({ method, path, access }) => method === 'GET' && !path.includes('{') && access !== 'public' && !NEW_PATHS.includes(path),
);

let run: UpgradeRun;
let control: Control;
let owner: SignedIn;
let organization: string;
let callers: Caller[];
let requests = 0;

const send = async (): Promise<void> => {
  const traffic = await sendDuring(run, callers, [{ requests: REQUESTS, begin: async () => undefined }]);
  expect(traffic.faults).toEqual([]);
  requests += traffic.requests;
};

// As if a later release had written the rows. Returns the number of rows by table.
const addAttributes = async (tables: Readonly<Record<string, string>>): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const [table, TableName] of Object.entries(tables)) {
    let ExclusiveStartKey: Record<string, unknown> | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const { Items = [], LastEvaluatedKey } = await run.database.scan({ TableName, ...(ExclusiveStartKey && { ExclusiveStartKey }) });
      for (const item of Items) await run.database.put({ TableName, Item: { ...item, ...LATER } });
      counts[table] = (counts[table] ?? 0) + Items.length;
      ExclusiveStartKey = LastEvaluatedKey;
      if (!ExclusiveStartKey) break;
    }
  }
  return counts;
};

// By role and path: the status, and the objects without fields that depend on the moment.
const readAll = async (): Promise<Record<string, number>> => {
  const admin = await control.asAdmin();
  const statuses: Record<string, number> = {};
  for (const { path } of READS) {
    const query = OF_AN_ORGANIZATION.includes(path) ? `?organization=${organization}` : '';
    for (const [role, { token }] of Object.entries({ owner, admin }))
      statuses[`${role} ${path}`] = (await control.call('GET', path + query, { token })).status;
  }
  return statuses;
};

beforeAll(async () => {
  ({ run } = await upgrade.start());
  await run.setShare(1);
  const { database, limiters, tables } = run;
  callers = await createEveryKindOfKey({ database, limiters, accountsTable: tables.Accounts as string }, GRANTED);
  control = controlOf(run);
  ({ id: organization } = await control.createOrganization());
  owner = await control.createUser({ role: 'owner', organization });
  const { token } = owner;
  await control.done('POST', '/v1/api-keys', { token, body: { name: 'A key', budgets: { day: '5' } } });
  await control.done('POST', '/v1/webhooks', { token, body: { url: 'https://example.com/webhooks' } });
  await control.done('POST', '/v1/tickets', { token, body: { subject: 'A ticket', body: 'What is a sluice?' } });
});

test('reads rows of the last release with attributes of a later one, also with the last after a rollback', async () => {
  await run.setShare(1);
  await send();
  const before = await readAll();
  expect(Object.values(before).filter((status) => status === 200).length).toBeGreaterThan(READS.length / 2);
  // A rollup that runs meanwhile would lose what it adds.
  expect(await ledgerFaults(run, callers, { granted: GRANTED, requests })).toEqual([]);
  const rows = await addAttributes(run.tables);
  for (const table of ['Keys', 'Usage', 'Accounts', 'Audit', 'Models', 'Responses', 'Notifications', 'Tickets'])
    expect({ table, rows: rows[table] }).not.toEqual({ table, rows: 0 });
  for (const share of [0, 1]) {
    await run.setShare(share);
    await send();
    expect(await readAll()).toEqual(before);
  }
  expect(await ledgerFaults(run, callers, { granted: GRANTED, requests })).toEqual([]);
});

test('reads an alias with attributes of a later release, which the last release never reads', async () => {
  await run.setShare(0);
  const { token } = owner;
  await control.done('PUT', '/v1/model-aliases/gpt', { token, body: { model: run.model } });
  const models = { Models: run.tables.Models as string };
  expect((await addAttributes(models)).Models).toBeGreaterThan(1);
  const { data } = await control.done('GET', '/v1/model-aliases', { token });
  expect(data).toEqual([expect.objectContaining({ alias: 'gpt', model: run.model })]);
  await run.setShare(1);
  expect((await control.call('GET', '/v1/models', { token })).status).toBe(200);
});

test('keeps a model published if a later release wrote attributes into its targets', async () => {
  await run.setShare(0);
  const model = (await run.models.list(SERVERLESS_POOL)).get(run.model);
  const [target, ...others] = model?.targets ?? [];
  const TableName = run.tables.Models as string;
  const { Item: before } = await run.database.get({ TableName, Key: { pool: SERVERLESS_POOL, name: run.model } });
  const Item = {
    ...model,
    pool: SERVERLESS_POOL,
    targets: [{ ...target, ...LATER }, ...others],
    capabilities: { ...model?.capabilities, ...LATER },
  };
  await run.database.put({ TableName, Item });
  expect((await run.models.list(SERVERLESS_POOL)).get(run.model)).toEqual(model);
  // The last release would not list it.
  await run.database.put({ TableName, Item: before as Record<string, unknown> });
});
