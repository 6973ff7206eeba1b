import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { countRefusals } from '../../../functions/refusals/count-refusals.ts';
import { readLogBatch } from '../../../functions/refusals/log-batch.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { InvalidRequest } from '../../../shared/http/errors.ts';
import { toErrorReply } from '../../../shared/middleware/error-replies.ts';
import { createRefusalStore, type RefusalCount, type RefusalStore } from '../../../shared/observability/refusal-store.ts';
import { eventOf } from '../../support/emulators/api-event.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';

let database: TestDatabase;
let store: RefusalStore;
beforeAll(async () => {
  database = await startTestDatabase();
  store = createRefusalStore(database.database, database.tables.Observability as string);
});
afterAll(async () => {
  await database.close();
});

const AT = '2026-03-05T16:43:21.123Z';
let events = 0;
afterEach(() => {
  jest.restoreAllMocks();
});
const logged = (): (() => string[]) => {
  const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  return () => write.mock.calls.map(([text]) => String(text));
};
const lineOf = (facts: object) => ({
  id: String(events++),
  timestamp: Date.parse(AT),
  message: JSON.stringify({ timestamp: AT, level: 'INFO', message: 'refused', request_id: 'req_1', status: 429, ...facts }),
});
// As CloudWatch Logs delivers it.
const dataOf = (logEvents: readonly object[], messageType = 'DATA_MESSAGE'): string =>
  gzipSync(
    JSON.stringify({
      messageType,
      owner: '123456789012',
      logGroup: '/aws/lambda/inference',
      logStream: newId('key'),
      subscriptionFilters: ['Refusals'],
      logEvents,
    }),
  ).toString('base64');
const deliver = (data: string): Promise<void> => countRefusals(store, readLogBatch(data));
const list = (organization: string | null): Promise<RefusalCount[]> =>
  Array.fromAsync(store.list({ organization, fromMs: Date.parse('2026-03-05'), toMs: Date.parse('2026-03-06') }));

describe('a batch of log lines', () => {
  test('is counted by organization, key and code, in the minute in which each request was refused', async () => {
    const organization = newId('organization');
    const [one, other] = [newId('key'), newId('key')].sort() as [string, string];
    const by = (key_id: string, code: string, facts: object = {}) => lineOf({ org_id: organization, key_id, code, ...facts });
    const data = dataOf([
      by(one, 'rate_limit_exceeded'),
      by(one, 'rate_limit_exceeded', { timestamp: '2026-03-05T16:43:59.999Z' }),
      by(one, 'rate_limit_exceeded', { timestamp: '2026-03-05T16:44:00.000Z' }),
      by(other, 'model_not_found', { status: 404 }),
    ]);
    await deliver(data);
    const at = (time: string) => Date.parse(`2026-03-05T${time}Z`);
    const expected = [
      { startMs: at('16:43'), keyId: one, code: 'rate_limit_exceeded', count: 2 },
      { startMs: at('16:44'), keyId: one, code: 'rate_limit_exceeded', count: 1 },
      { startMs: at('16:43'), keyId: other, code: 'model_not_found', count: 1 },
    ];
    expect(await list(organization)).toEqual(expected);
    await deliver(data);
    expect(await list(organization)).toEqual(expected);
  });

  test('is counted for the platform without an authenticated key, whatever key was presented', async () => {
    await deliver(
      dataOf([
        lineOf({ status: 401, code: 'invalid_api_key', org_id: null }),
        lineOf({ status: 401, code: 'invalid_api_key', key_id: 'key_guessed' }),
      ]),
    );
    expect(await list(null)).toEqual([{ startMs: Date.parse('2026-03-05T16:43Z'), keyId: null, code: 'invalid_api_key', count: 2 }]);
  });

  test('has the status instead of a code that is missing, and no more codes than there are', async () => {
    const [organization, key] = [newId('organization'), newId('key')];
    const by = (code: unknown) => lineOf({ org_id: organization, key_id: key, status: 400, code });
    await deliver(dataOf([by(null), by(undefined), by('Not one of ours: 1'), by('Not one of ours: 2'), by('x'.repeat(65))]));
    expect((await list(organization)).map(({ code, count }) => [code, count])).toEqual([
      ['(other)', 3],
      ['http_400', 2],
    ]);
  });

  test('is read as error replies log it', async () => {
    const lines = logged();
    const requestContext = { requestId: 'gateway' };
    await toErrorReply(new InvalidRequest({ message: 'The message is not logged.' }), {
      ...eventOf('/v1/models'),
      requestContext,
    } as unknown as ApiEvent);
    const [line = ''] = lines();
    await deliver(dataOf([{ id: 'logged', timestamp: 0, message: line.trimEnd() }]));
    const { timestamp } = JSON.parse(line);
    const fromMs = Date.parse(`${timestamp.slice(0, 16)}Z`);
    const counts = await Array.fromAsync(store.list({ organization: null, fromMs, toMs: fromMs + 60_000 }));
    expect(counts).toEqual([{ startMs: fromMs, keyId: null, code: 'http_400', count: 1 }]);
  });

  test('leaves out unreadable lines, and logs their number but never their content', async () => {
    const [organization, key] = [newId('organization'), newId('key')];
    const lines = logged();
    const good = lineOf({ org_id: organization, key_id: key, code: 'model_not_found' });
    await deliver(
      dataOf([{ ...lineOf({}), message: '{"secret' }, lineOf({ status: 200, code: 'secret' }), lineOf({ key_id: 'secret' }), good]),
    );
    expect((await list(organization)).map(({ count }) => count)).toEqual([1]);
    expect(lines().join('')).not.toContain('secret');
    expect(lines().map((line) => JSON.parse(line))).toMatchObject([
      { level: 'ERROR', message: 'refusals_not_counted', lines: 3 },
      { level: 'INFO', message: 'refusals', lines: 4, counted: 1 },
    ]);
  });

  test('counts nothing if CloudWatch only tests the subscription', async () => {
    const organization = newId('organization');
    await deliver(dataOf([lineOf({ org_id: organization, key_id: newId('key'), code: 'model_not_found' })], 'CONTROL_MESSAGE'));
    expect(await list(organization)).toEqual([]);
  });

  test('fails if it is not a delivery of CloudWatch', async () => {
    const of = (text: string) => gzipSync(text).toString('base64');
    for (const data of ['', Buffer.from('{}').toString('base64'), of('{}'), of('no json')]) expect(() => readLogBatch(data)).toThrow();
    expect(() => readLogBatch(of(`"${'x'.repeat(65 * 1024 * 1024)}"`))).toThrow('larger than');
  });

  test('fails when the database is unavailable, so that it is delivered again', async () => {
    const away = { count: () => Promise.reject(new Error('away')) };
    await expect(countRefusals(away, readLogBatch(dataOf([lineOf({ code: 'model_not_found' })])))).rejects.toThrow('away');
  });
});
