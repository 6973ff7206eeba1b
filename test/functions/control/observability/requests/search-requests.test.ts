import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import type { Actor } from '../../../../../functions/control/access/actor.ts';
import { inParallel, throwFailures } from '../../../../../shared/database/in-parallel.ts';
import type { RequestRow } from '../../../../../shared/observability/request-row.ts';
import { DAY_MS } from '../../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { newId } from '../../../../support/fixtures/new-id.ts';
import { requestRow } from '../../../../support/fixtures/request-rows.ts';
import { NOW, requestSearches } from './request-searches.ts';

const secondsOf = (ms: number): number => Math.floor(ms / 1_000);

let database: TestDatabase;
let searches: ReturnType<typeof requestSearches>;
let admin: Actor;
let organization: string;
let owner: Actor;
let rows: RequestRow[];
beforeAll(async () => {
  database = await startTestDatabase();
  searches = requestSearches(database);
  admin = await searches.actor('admin', null);
  organization = await searches.newOrganization(admin);
  owner = await searches.actor('owner', organization);
  rows = [
    requestRow({ organization, atMs: NOW - 1_000, user: 'ann', metadata: { team: 'search', env: 'prod' } }),
    requestRow({ organization, atMs: NOW - 2_000, project_id: 'prj_1', user_id: 'ann', deployment: 'dep_1', metadata: { team: 'search' } }),
    requestRow({ organization, atMs: NOW - 3_000, outcome: 'upstream_failed', status: 503, error_code: 'upstream_timeout' }),
    requestRow({ organization, atMs: NOW - 4_000, outcome: 'client_closed', status: 499, error_code: 'client_closed' }),
    requestRow({ organization, atMs: NOW - DAY_MS, model: 'large', duration_ms: 60_000 }),
    requestRow({ organization, atMs: NOW - 29 * DAY_MS, key_id: 'key_other' }),
  ];
  for (const row of rows) await searches.requestRows.put(row);
});
afterAll(async () => {
  await database.close();
});

const idsOf = (...numbers: number[]): (string | undefined)[] => numbers.map((number) => rows[number]?.request_id);

describe('a search for requests', () => {
  test('returns a record of each request, newest first', async () => {
    const { data, ...page } = await searches.list(owner);
    expect(data.map(({ id }) => id)).toEqual(idsOf(0, 1, 2, 3, 4, 5));
    expect(page).toEqual({ object: 'list', has_more: false, next: null, searched_until: secondsOf(NOW - 30 * DAY_MS) });
    expect(data[0]).toEqual({
      object: 'request',
      id: rows[0]?.request_id,
      created_at: secondsOf(NOW - 1_000),
      api_key_id: rows[0]?.key_id,
      project_id: null,
      model: 'small',
      route: '/v1/chat/completions',
      deployment: null,
      outcome: 'completed',
      status: 200,
      error_code: null,
      input_tokens: 10,
      cached_tokens: 3,
      output_tokens: 20,
      cost: '0.000007',
      time_to_first_token_ms: 150,
      duration_ms: 1_200,
      user: 'ann',
      user_id: null,
      metadata: { team: 'search', env: 'prod' },
    });
  });

  test.each([
    ['status=503', [2]],
    ['status=4xx', [3]],
    ['status=2xx', [0, 1, 4, 5]],
    ['error_code=upstream_timeout', [2]],
    ['outcome=client_closed', [3]],
    ['outcome=completed', [0, 1, 4, 5]],
    ['model=large', [4]],
    ['api_key_id=key_other', [5]],
    ['project_id=prj_1', [1]],
    ['project_id=prj_1&status=503', []],
    ['project_id=prj_other', []],
    ['user=ann', [0, 1]],
    ['user_id=ann', [1]],
    ['deployment=dep_1', [1]],
    ['metadata[team]=search', [0, 1]],
    ['metadata[team]=search&metadata[env]=prod', [0]],
    ['metadata[constructor]=x', []],
    ['min_duration_ms=60000', [4]],
    ['user=ann&status=200&metadata[env]=prod', [0]],
    ['user=ann&status=503', []],
    [`start_time=${secondsOf(NOW) - 86_401}`, [0, 1, 2, 3, 4]],
    [`start_time=${secondsOf(NOW) - 3}&end_time=${secondsOf(NOW) - 1}`, [1, 2]],
  ] as const)('finds the matching requests by %s', async (query, expected) => {
    expect(await searches.listAll(owner, query)).toEqual(idsOf(...expected));
    expect(await searches.listAll(owner, `${query}&limit=1`)).toEqual(idsOf(...expected));
  });

  test('finds one request by its id, without a search, if it passes the other filters', async () => {
    searches.read.items = 0;
    const id = rows[2]?.request_id;
    expect(await searches.listAll(owner, `id=${id}`)).toEqual([id]);
    expect(await searches.listAll(owner, `id=${id}&status=200`)).toEqual([]);
    expect(await searches.listAll(owner, `id=${id}&end_time=${secondsOf(NOW) - 60}`)).toEqual([]);
    expect(await searches.listAll(owner, 'id=req_none')).toEqual([]);
    expect(searches.read.items).toBe(0);
  });

  test('shows members the requests with the keys that they created, and no others', async () => {
    const member = await searches.actor('member', organization);
    const own = requestRow({ organization, atMs: NOW - 9_000, key_id: await searches.newKey(member) });
    const foreign = requestRow({ organization: await searches.newOrganization(admin), atMs: NOW, key_id: own.key_id });
    for (const row of [own, foreign]) await searches.requestRows.put(row);
    expect(await searches.listAll(member)).toEqual([own.request_id]);
    expect(await searches.listAll(member, `id=${own.request_id}`)).toEqual([own.request_id]);
    for (const hidden of [`id=${rows[0]?.request_id}`, `api_key_id=${rows[0]?.key_id}`, 'status=503'])
      expect(await searches.listAll(member, hidden)).toEqual([]);
  });

  test('returns 404 for another organization, and 400 for an admin who names none', async () => {
    await expect(searches.list(owner, `organization=${newId('organization')}`)).rejects.toMatchObject({ status: 404 });
    await expect(searches.list(admin)).rejects.toMatchObject({ status: 400, param: 'organization' });
    await expect(searches.list(admin, `organization=${newId('organization')}`)).rejects.toMatchObject({ status: 404 });
    expect(await searches.listAll(admin, `organization=${organization}&status=503`)).toEqual(idsOf(2));
  });

  test.each([
    ['status=99', 'status'],
    ['status=6xx', 'status'],
    ['outcome=refused', 'outcome'],
    ['min_duration_ms=1.5', 'min_duration_ms'],
    ['limit=101', 'limit'],
    ['start_time=10&end_time=10', 'end_time'],
    ['after=page_x', 'after'],
    [`metadata[${'k'.repeat(65)}]=x`, `metadata.${'k'.repeat(65)}`],
    ['metadata=x', 'metadata'],
  ])('rejects %s with a 400 that names the parameter', async (query, param) => {
    await expect(searches.list(owner, query)).rejects.toMatchObject({ status: 400, param });
  });

  test('accepts the cursor of a page only with the same filters, from the same user', async () => {
    const { next } = await searches.list(owner, 'limit=1');
    expect((await searches.list(owner, `limit=2&after=${next}`)).data.map(({ id }) => id)).toEqual(idsOf(1, 2));
    const other = await searches.actor('owner', organization);
    for (const [actor, query] of [
      [owner, `status=200&after=${next}`],
      [other, `after=${next}`],
    ] as const)
      await expect(searches.list(actor, query)).rejects.toMatchObject({ status: 400, param: 'after' });
  });
});

describe('an export of requests', () => {
  test('has the same requests as the search, as CSV that no spreadsheet takes for formulas', async () => {
    const { statusCode, headers, body } = await searches.exportPart(owner, 'user=ann');
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="requests.csv"',
    });
    expect(headers).not.toHaveProperty('link');
    const lines = parse(body, { columns: true }) as Record<string, string>[];
    expect(lines.map(({ id }) => id)).toEqual(idsOf(0, 1));
    expect(lines[0]).toMatchObject({ status: '200', cost: '0.000007', error_code: '' });
    expect(JSON.parse(lines[0]?.metadata ?? '')).toEqual({ team: 'search', env: 'prod' });
    const formula = requestRow({ organization, atMs: NOW - 20_000, user: '=HYPERLINK("x")' });
    await searches.requestRows.put(formula);
    const [line] = parse((await searches.exportPart(owner, `id=${formula.request_id}`)).body, { columns: true }) as Record<
      string,
      string
    >[];
    expect(line?.user).toBe(`'=HYPERLINK("x")`);
  });

  test('has the records of the search as JSON Lines', async () => {
    const { headers, body } = await searches.exportPart(owner, 'format=jsonl&status=5xx');
    expect(headers['content-type']).toBe('application/jsonl');
    const records = body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records).toEqual((await searches.list(owner, 'status=5xx')).data);
  });

  test('links from each part to the next one, and has each request once', async () => {
    const busy = await searches.newOrganization(admin);
    const actor = await searches.actor('owner', busy);
    const COUNT = 2_500;
    const metadata = Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`key${i}`, '"'.repeat(500)]));
    const writer = searches.requestRows.writer();
    const many = Array.from({ length: COUNT }, (_, i) => requestRow({ organization: busy, atMs: NOW - i, metadata }));
    throwFailures(await inParallel(many, 32, writer.put));
    const ids: string[] = [];
    let parts = 0;
    for (let query: string | undefined = 'format=jsonl&min_duration_ms=5'; query !== undefined && parts < 10; parts++) {
      const { headers, body } = await searches.exportPart(actor, query);
      expect(JSON.stringify({ headers, body }).length).toBeLessThan(6 * 1024 * 1024);
      for (const line of body.split('\n')) if (line) ids.push(JSON.parse(line).id);
      query = /^<\?(.*)>; rel="next"$/.exec(headers.link ?? '')?.[1];
    }
    expect(parts).toBeGreaterThan(1);
    expect(ids).toHaveLength(COUNT);
    expect(new Set(ids).size).toBe(COUNT);
    expect([...ids].sort().reverse()).toEqual(ids);
  });
});
