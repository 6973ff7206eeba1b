import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Admission, release } from '../../../functions/inference/admission/admit.ts';
import { operatorOrigin } from '../../../infra/tools/admin/accounts.ts';
import { type DeletionReport, deleteData, NotReady } from '../../../infra/tools/admin/delete-data/delete-data.ts';
import { openDataStores } from '../../../infra/tools/admin/delete-data/open-stores.ts';
import { type PresentedKey, parseSecret } from '../../../shared/admission/item/secret.ts';
import type { SdkDatabase } from '../../../shared/database/sdk-database.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createUserPool, createUserPoolClient } from '../../../shared/identity/user-pool.ts';
import { runAdmin } from '../../infra/tools/admin/run-admin.ts';
import { type Control, controlOf } from '../../support/clients/control.ts';
import { startTestRun, type TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { Crash } from '../../support/faults/unreliable-database.ts';
import { attempt, makeCaller, usedTokens } from '../../support/fixtures/callers.ts';
import { deploymentsOf, storeDeployment } from '../../support/fixtures/deployments.ts';
import { type Customer, createCustomer, startReceiver } from './customer.ts';

const LEAVING = 'canary-leaving';
const STAYING = 'canary-staying';
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };
const CHANGES_BETWEEN_CRASHES = 7;
const POLL_MS = 1_000;

let run: TestRun;
let control: Control;
let s3: S3Client;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let leaving: Customer;
let staying: Customer;
const deletedSecrets = new Set<string>();
beforeAll(async () => {
  receiver = await startReceiver();
  run = await startTestRun('--batch-window-ms', '1000', '--queue-delay-ms', '200', '--schedule-ms', '4000');
  control = controlOf(run);
  s3 = new S3Client({ endpoint: run.s3_endpoint, region: 'us-east-1', credentials: CREDENTIALS, forcePathStyle: true });
  leaving = await createCustomer(run, control, s3, LEAVING, receiver.port);
  staying = await createCustomer(run, control, s3, STAYING, receiver.port);
  // An admin can search 200 times a minute.
  const areCounted = async (): Promise<boolean> => (await countedEvents()) === leaving.events + staying.events;
  await eventually(async () => (await areCounted()) || delay(POLL_MS, false), 'the totals have all events');
  for (const customer of [leaving, staying]) {
    const areFound = async (): Promise<boolean> => (await searchableEvents(customer)) === customer.events;
    await eventually(async () => (await areFound()) || delay(POLL_MS, false), 'all requests can be searched');
    await eventually(async () => refusalsOf(customer, await allItems()).length > 0, 'the refused request is counted');
  }
});
afterAll(async () => {
  s3.destroy();
  await run.close();
  await receiver.close();
});

type Item = Record<string, unknown>;

const usageOf = async ({ organization }: Customer, groupBy: string) => {
  const { token } = await control.asAdmin();
  const start = Math.floor(Date.now() / 1_000) - 86_400;
  const query = new URLSearchParams({ organization, start_time: String(start), bucket_width: '1d', 'group_by[]': groupBy });
  const { data } = await control.done('GET', `/v1/organization/usage/completions?${query}`, { token });
  return data.flatMap(({ results }: { results: Item[] }) => results);
};
const countedEvents = async (): Promise<number> => {
  const rows = [...(await usageOf(leaving, 'model')), ...(await usageOf(staying, 'model'))];
  return rows.reduce((sum, row) => sum + Number(row.num_model_requests), 0);
};
// The rollup writes the rows of requests after its totals.
const searchableEvents = async ({ organization }: Customer): Promise<number> => {
  const { token } = await control.asAdmin();
  const { data } = await control.done('GET', `/v1/observability/requests?organization=${organization}&limit=100`, { token });
  return data.length;
};

const allItems = async (): Promise<Map<string, string>> => {
  const items = new Map<string, string>();
  for (const [name, TableName] of Object.entries(run.tables))
    for (let start: Item | undefined, more = true; more; ) {
      const page = await run.database.scan({ TableName, ...(start && { ExclusiveStartKey: start }) });
      for (const item of page.Items ?? []) {
        const { account = item.id ?? item.usage_bucket ?? item.pool, record = item.usage_event ?? item.name ?? '' } = item;
        items.set(`${name} ${account} ${record}`, readable(item));
      }
      start = page.LastEvaluatedKey;
      more = start !== undefined;
    }
  return items;
};

const unpacked = (bytes: Uint8Array): string =>
  (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : Buffer.from(bytes)).toString('latin1');
// The attributes of every object in the order of their names, so that equal items have equal texts.
const readable = (item: Item): string =>
  JSON.stringify(item, (_, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    if (value instanceof Uint8Array) return unpacked(value);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value;
  });

const allObjects = async (): Promise<Map<string, string>> => {
  const objects = new Map<string, string>();
  for (const Bucket of Object.values(run.buckets)) {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
    for (const { Key = '' } of Contents) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      objects.set(`${Bucket} ${Key}`, unpacked((await Body?.transformToByteArray()) ?? new Uint8Array()));
    }
  }
  return objects;
};

const mentions = (all: ReadonlyMap<string, string>, text: string): string[] =>
  [...all].filter(([key, content]) => key.includes(text) || content.includes(text)).map(([key]) => key);

const refusalsOf = ({ organization }: Customer, all: ReadonlyMap<string, string>): string[] =>
  [...all.keys()].filter((key) => key.startsWith(`Observability refusals#${organization}#`));

// Without the rows of the service itself, such as how far a sweep came.
const ofCustomers = (all: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const ids = [leaving.organization, staying.organization];
  return new Map([...all].filter(([key, content]) => ids.some((id) => key.includes(id) || content.includes(id))));
};

// `mayChange` says before each change if it is made; the deletion crashes otherwise.
const deleteIn = async (mayChange: () => boolean, isDeleting = true): Promise<DeletionReport> => {
  const or =
    <Rest extends unknown[], Result>(call: (...input: Rest) => Promise<Result>) =>
    async (...input: Rest): Promise<Result> => {
      if (!mayChange()) throw new Crash();
      return call(...input);
    };
  const { database } = run;
  const crashing: SdkDatabase = {
    ...database,
    put: or(database.put),
    update: or(database.update),
    delete: or(database.delete),
    transactWrite: or(database.transactWrite),
  };
  const pool = run.user_pools.Users;
  const identity = createUserPoolClient({ endpoint: run.cognito_endpoint as string, region: 'us-east-1', credentials: CREDENTIALS });
  const userPool = createUserPool(identity, { poolId: pool?.id ?? '', clientIds: { api: pool?.client_id ?? '' } });
  const { tables, buckets } = run;
  const names = {
    tables: {
      accounts: tables.Accounts,
      audit: tables.Audit,
      billing: tables.Billing,
      deployments: tables.Deployments,
      keys: tables.Keys,
      models: tables.Models,
      notifications: tables.Notifications,
      observability: tables.Observability,
      responses: tables.Responses,
      tickets: tables.Tickets,
      usage: tables.Usage,
    } as Parameters<typeof openDataStores>[1]['tables'],
    buckets: {
      billing: buckets.BillingFiles,
      payloads: buckets.Payloads,
      ticketFiles: buckets.TicketFiles,
      weights: buckets.Weights,
    } as Parameters<typeof openDataStores>[1]['buckets'],
  };
  const stores = openDataStores(crashing, names, {
    userPool: { ...userPool, deleteUser: or(userPool.deleteUser) },
    clientSecrets: { delete: or(async (id: string) => void deletedSecrets.add(id)) },
    s3,
  });
  try {
    return await deleteData(stores, operatorOrigin('ada', Date.now()), leaving.organization, isDeleting);
  } finally {
    identity.destroy();
  }
};
const always = () => true;

const suspend = async (organization: string): Promise<void> => {
  const { token } = await control.asAdmin();
  await control.done('POST', `/v1/organizations/${organization}/suspend`, { token, body: { reason: 'It left.' } });
};

test('nothing is deleted while an organization is active, has requests in flight, or has a deployment', async () => {
  const { organization, secret } = leaving;
  await expect(deleteIn(always)).rejects.toThrow(NotReady);
  await expect(deleteIn(always)).rejects.toThrow('Suspend it in the control plane first');
  const caller = makeCaller(run.limiters, Date.now);
  const admission = await attempt(caller, parseSecret(secret) as PresentedKey);
  await suspend(organization);
  await expect(deleteIn(always)).rejects.toThrow('requests in flight');
  await release(caller, admission as Admission, usedTokens(1));
  const deployment = await storeDeployment(run, { organization, wanted: 'stopped', state: 'stopped' });
  await expect(deleteIn(always)).rejects.toThrow(`still has the deployment ${deployment.id}`);
  await transact(run.database, deploymentsOf(run).toClear(deployment));
});

test('all data of a suspended organization is deleted despite interruptions, and none of any other one', async () => {
  const usage = { before: await usageOf(leaving, 'model'), after: [] as unknown };
  const [items, objects] = [await allItems(), await allObjects()];
  expect(mentions(items, LEAVING).length).toBeGreaterThan(20);
  expect(mentions(objects, LEAVING).length).toBeGreaterThan(6);

  const found = await deleteIn(always, false);
  for (const [kind, count] of Object.entries(found)) expect([kind, Number(count) !== 0]).toEqual([kind, true]);
  expect(found).toMatchObject({ users: 1, api_keys: 1, tickets: 1, billing_addresses: 1, events: leaving.events });
  expect(ofCustomers(await allItems())).toEqual(ofCustomers(items));

  let crashes = 0;
  for (let isComplete = false; !isComplete; ) {
    let changes = 0;
    isComplete = await deleteIn(() => changes++ < CHANGES_BETWEEN_CRASHES).then(
      () => true,
      (error: unknown) => {
        const causes = error instanceof AggregateError ? error.errors : [error];
        expect(causes.filter((cause) => !(cause instanceof Crash))).toEqual([]);
        return false;
      },
    );
    if (!isComplete) crashes++;
  }
  expect(crashes).toBeGreaterThan(5);

  const left = await allItems();
  // The audit log says who did what.
  expect(mentions(left, LEAVING).filter((key) => !key.startsWith('Audit '))).toEqual([]);
  const rowsOf = ({ partitions }: Customer, all: ReadonlyMap<string, string>): string[] =>
    [...all.keys()].filter((key) => partitions.some((partition) => key.startsWith(`Accounts ${partition} `)));
  expect(rowsOf(leaving, items).length).toBeGreaterThan(leaving.partitions.length);
  expect(rowsOf(leaving, left)).toEqual([]);
  expect([...deletedSecrets]).toEqual([leaving.partitions[2]]);
  const objectsLeft = await allObjects();
  expect(mentions(objectsLeft, LEAVING)).toEqual([]);
  const [person, serviceAccount] = leaving.partitions;
  const sessionsIn = (all: ReadonlyMap<string, string>) => [...all.keys()].filter((key) => key.startsWith(`Accounts ${person} session`));
  expect(sessionsIn(items)).not.toEqual([]);
  expect(sessionsIn(left)).toEqual([]);
  const secretsToEnd = (all: ReadonlyMap<string, string>) =>
    [...all.keys()].filter((key) => key.startsWith('Accounts secret-expiries ') && key.includes(String(serviceAccount)));
  expect([secretsToEnd(items).length, secretsToEnd(left)]).toEqual([1, []]);
  expect(refusalsOf(leaving, items)).not.toEqual([]);
  expect(refusalsOf(leaving, left)).toEqual([]);
  expect(refusalsOf(staying, left)).toEqual(refusalsOf(staying, items));
  const theirs = mentions(items, STAYING);
  expect(theirs.length).toBeGreaterThan(20);
  for (const key of theirs) expect(left.get(key)).toBe(items.get(key));
  for (const [key, content] of objects) if (key.includes(staying.organization)) expect(objectsLeft.get(key)).toBe(content);

  // Usage that was billed stays.
  usage.after = await usageOf(leaving, 'model');
  expect(usage.after).toEqual(usage.before);
  expect(await usageOf(leaving, 'user_id')).toEqual([expect.objectContaining({ user_id: null, num_model_requests: leaving.events })]);
  expect((await control.call('POST', '/v1/auth/login', { body: { email: leaving.email, password: leaving.password } })).status).toBe(401);
  const { token } = await control.asAdmin();
  const { data } = await control.done('GET', `/v1/audit-log?organization=${leaving.organization}&limit=1`, { token });
  expect(data).toMatchObject([{ action: 'organization.data_deleted', actor: { type: 'operator', id: 'ada' } }]);
});

test('a repeated deletion finds nothing, and the totals are those of the events', async () => {
  const { organization } = leaving;
  const [pool] = Object.values(run.user_pools);
  const admin = (...args: string[]) =>
    runAdmin({ url: run.dynamodb_endpoint, tables: run.tables }, args, {
      AWS_ENDPOINT_URL_S3: run.s3_endpoint,
      AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: run.cognito_endpoint as string,
      ...{ USER_POOL_ID: pool?.id ?? '', USER_POOL_CLIENT_ID: pool?.client_id ?? '', TOKEN_ISSUER: 'https://issuer.example.com' },
      ...{ BILLING_TABLE: run.tables.Billing ?? '', NOTIFICATIONS_TABLE: run.tables.Notifications ?? '' },
      ...{ RESPONSES_TABLE: run.tables.Responses ?? '', TICKETS_TABLE: run.tables.Tickets ?? '' },
      ...{ BILLING_BUCKET: run.buckets.BillingFiles ?? '', PAYLOADS_BUCKET: run.buckets.Payloads ?? '' },
      ...{ TICKET_FILES_BUCKET: run.buckets.TicketFiles ?? '', WEIGHTS_BUCKET: run.buckets.Weights ?? '' },
    });
  const again = await admin('delete-data', '--org', organization, '--confirm', organization);
  expect(again.stderr).toBe('');
  const { organization: of, ...counts } = JSON.parse(again.stdout);
  expect([of, Object.entries(counts).filter(([, count]) => count !== 0)]).toEqual([organization, []]);
  const rebuilt = await admin('rebuild');
  expect([rebuilt.code, JSON.parse(rebuilt.stdout).totals.rows]).toEqual([0, 0]);
  const wrong = await admin('delete-data', '--org', organization, '--confirm', staying.organization);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining(`--confirm must be ${organization}`)]);
});
