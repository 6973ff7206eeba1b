import { expect, test } from '@jest/globals';
import { moneyCountersAt } from '../../../shared/admission/item/limiter-item.ts';
import { ownerIdOf } from '../../../shared/admission/item/shards.ts';
import type { SdkDatabase } from '../../../shared/database/sdk-database.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import { runAdmin } from '../../infra/tools/admin/run-admin.ts';
import { synthesizeWith } from '../../support/assembly/assembly.ts';
import { type Control, controlOf } from '../../support/clients/control.ts';
import { startDurableRun, type TestRun } from '../../support/clients/local-run.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const REQUESTS_A_SECRET = 6;
const OVERLAP_SECONDS = 3_600;
const TABLES = ['Keys', 'Usage', 'Observability'] as const;
const restored = (table: string): string => `restored-${table.toLowerCase()}`;

// The label is not used here. On AWS, a table has the ARN of its stream as LatestStreamArn.
const streamOf = (table: string): string =>
  `arn:aws:dynamodb:us-east-1:000000000000:table/${restored(table)}/stream/2026-11-21T00:00:00.000`;

const ADOPTING_SETTINGS = {
  tables: {
    keys: { name: restored('Keys') },
    usage: { name: restored('Usage'), streamArn: streamOf('Usage') },
    observability: { name: restored('Observability') },
  },
};

type Item = Record<string, unknown>;

const itemsOf = async (database: SdkDatabase, TableName: string): Promise<Item[]> => {
  const items: Item[] = [];
  for (let start: Item | undefined; ; ) {
    const page = await database.scan({ TableName, ...(start && { ExclusiveStartKey: start }) });
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
    if (!start) return items;
  }
};

// Budget counters and remaining credit of each key and organization, summed over all its items.
const moneyOf = (items: readonly Item[], counters: ReadonlySet<string>): Map<string, Record<string, bigint>> => {
  const money = new Map<string, Record<string, bigint>>();
  for (const item of items.filter(({ org }) => org !== undefined)) {
    const owner = ownerIdOf(String(item.id));
    const sums = money.get(owner) ?? Object.fromEntries([...counters].map((name) => [name, 0n]));
    for (const name of counters) sums[name] = (sums[name] ?? 0n) + BigInt((item[name] as number | bigint | undefined) ?? 0);
    money.set(owner, sums);
  }
  return money;
};

const ask = async (run: TestRun, secret: string, tokens: number): Promise<number> => {
  const response = await fetch(`${run.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: run.model, messages: [{ role: 'user', content: 'Tell me about rivers.' }], max_tokens: tokens }),
  });
  await response.text();
  return response.status;
};

interface Customers {
  /** Valid secrets, among them a previous one during its overlap. */
  secrets: string[];
  revoked: string;
  organizations: string[];
}

// They cover paying afterwards and prepaid credit, and keys with several items, rotated and revoked.
const createCustomers = async ({ done, createOrganization, asAdmin }: Control): Promise<Customers> => {
  const { token } = await asAdmin();
  const plain = await createOrganization('Pays afterwards');
  const prepaid = await createOrganization('Prepaid');
  const limits = { prepaid: true, month_budget: '500', requests_per_minute: 24_000, concurrency: 400 };
  await done('PUT', `/v1/organizations/${prepaid.id}/limits`, { token, body: limits });
  for (const amount of ['100', '-12.5']) {
    const headers = { 'idempotency-key': `grant${amount}` };
    await done('POST', `/v1/organizations/${prepaid.id}/credit-grants`, { token, headers, body: { amount, reason: 'rehearsal' } });
  }
  const newKey = (organization: string, fields: object = {}) =>
    done('POST', '/v1/api-keys', { token, body: { name: 'rehearsal', organization, ...fields } });
  const budgets = { day: '5', month: '50', total: '100' };
  const keys = [
    await newKey(plain.id),
    await newKey(plain.id, { limits: { concurrency: 24, tokens_per_minute: 10_000_000 }, budgets }),
    await newKey(prepaid.id, { budgets }),
    await newKey(prepaid.id, { limits: { concurrency: 24, tokens_per_minute: 10_000_000 }, models: ['sluice-tiny'] }),
  ];
  const rotated = await done('POST', `/v1/api-keys/${keys[2].id}/rotate`, { token, body: { overlap_seconds: OVERLAP_SECONDS } });
  const revoked = await newKey(plain.id);
  await done('DELETE', `/v1/api-keys/${revoked.id}`, { token });
  return {
    secrets: [...keys.map(({ secret }) => secret), rotated.secret],
    revoked: revoked.secret,
    organizations: [plain.id, prepaid.id],
  };
};

const copyWithLosses = async (run: TestRun, originals: Readonly<Record<string, string>>): Promise<{ lost: string[] }> => {
  const lost: string[] = [];
  for (const table of TABLES) {
    const items = await itemsOf(run.database, originals[table] as string);
    const limiters = items
      .filter(({ org, fl }) => table === 'Keys' && org !== undefined && fl !== undefined)
      .map(({ id }) => String(id))
      .sort();
    lost.push(...limiters.filter((_, i) => i % 2 === 0));
    const isLost = ({ id, usage_event }: Item): boolean =>
      (table === 'Keys' && lost.includes(String(id))) || (table === 'Usage' && !String(usage_event).startsWith('req_'));
    for (const Item of items) if (!isLost(Item)) await run.database.put({ TableName: restored(table), Item });
  }
  return { lost };
};

test('`rebuild` restores every balance to the nano-dollar in adopted tables that lack limiters and totals', async () => {
  await using folder = temporaryFolder();
  const synthesis = synthesizeWith(ADOPTING_SETTINGS, folder.path);
  const before = await startDurableRun(undefined, '--batch-window-ms', '100');
  const customers = await createCustomers(controlOf(before));
  const originals = before.tables;
  const startedMs = Date.now();
  for (const [i, secret] of customers.secrets.entries())
    for (let request = 0; request < REQUESTS_A_SECRET; request++) expect(await ask(before, secret, 3 * i + request + 1)).toBe(200);
  // The requests are of two days if midnight passes between them.
  const days = new Set([startedMs, Date.now()].map(dayOf));
  const counters = new Set<string>(['avail', ...[...days].flatMap((day) => Object.values(moneyCountersAt(Date.parse(day))))]);
  const balance = async (run: TestRun, organization: string) => {
    const { code, stdout, stderr } = await runAdmin({ url: run.dynamodb_endpoint, tables: run.tables }, ['balance', '--org', organization]);
    if (stdout === '') throw new Error(stderr);
    return { code, ...(JSON.parse(stdout) as { spent: string; available: string; drift: string }) };
  };
  const [, prepaid = ''] = customers.organizations;
  await eventually(async () => (await balance(before, prepaid)).drift === '0', 'the totals have all events');
  const known = await balance(before, prepaid);
  expect(Number(known.spent)).toBeGreaterThan(0);
  const money = moneyOf(await itemsOf(before.database, originals.Keys as string), counters);
  await before.stop();
  await synthesis;

  await using after = await startDurableRun(before.state, '--assembly', folder.path);
  expect(after.tables).toMatchObject(Object.fromEntries(TABLES.map((table) => [table, restored(table)])));
  const { lost } = await copyWithLosses(after, originals);
  expect(lost.filter((id) => ownerIdOf(id) === id).length).toBeGreaterThan(2);
  expect(lost.filter((id) => ownerIdOf(id) !== id).length).toBeGreaterThan(2);
  const rebuild = async (...flags: string[]) => {
    const { code, stdout, stderr } = await runAdmin({ url: after.dynamodb_endpoint, tables: after.tables }, ['rebuild', ...flags]);
    if (stdout === '') throw new Error(stderr);
    return { code, report: JSON.parse(stdout) };
  };
  const requests = customers.secrets.length * REQUESTS_A_SECRET;
  const first = await rebuild('--request-rows');
  expect(first.code).toBe(1);
  expect(first.report).toMatchObject({
    days: days.size,
    events: requests,
    limiters: { created: lost.length, to_rotate: [] },
    money: { busy: [] },
    request_rows: requests,
  });
  // Totals that lack only events of the last five minutes are not called wrong.
  expect(first.report.totals.rows + first.report.behind.rows).toBeGreaterThan(0);

  const rebuilt = moneyOf(await itemsOf(after.database, restored('Keys')), counters);
  expect([...money].map(([id]) => [id, rebuilt.get(id)])).toEqual([...money]);
  expect(await balance(after, prepaid)).toEqual({ ...known, code: 0 });
  const second = await rebuild();
  expect(second.report).toMatchObject({
    totals: { rows: 0 },
    limiters: { created: 0, configured: 0, to_rotate: [] },
    money: { wrong: 0, busy: [] },
  });
  expect(second.code).toBe(0);

  for (const secret of customers.secrets) expect(await ask(after, secret, 2)).toBe(200);
  expect(await ask(after, customers.revoked, 2)).toBe(401);
  expect(await rebuild()).toMatchObject({ report: { money: { wrong: 0 } } });
}, 300_000);
