import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordTable, type RecordTable } from '../../../shared/database/record-table.ts';
import {
  createSessionStore,
  isSessionOf,
  MAX_SESSIONS,
  REFRESH_SECONDS,
  type SessionStore,
  type StoredSession,
  sessionOf,
} from '../../../shared/identity/session-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

const NOON = Date.UTC(2026, 10, 21, 12) / 1_000;
const HOUR = 3_600;

let database: TestDatabase;
let table: RecordTable;
let sessions: SessionStore;
beforeAll(async () => {
  database = await startTestDatabase();
  table = createRecordTable(database.database, database.tables.Accounts as string);
  sessions = createSessionStore(table);
});
afterAll(async () => {
  await database.close();
});

const id = (number: number): string => `ses_${String(number).padStart(18, '0')}`;
const login = (number: number, at = NOON, fields: Partial<Parameters<typeof sessionOf>[2]> = {}) =>
  sessionOf(
    id(number),
    { ipAddress: '192.0.2.1', userAgent: 'curl', receivedAtMs: at * 1_000 },
    {
      client: 'api',
      proof: 'password',
      hasSecondFactor: false,
      authenticatedAt: at,
      ...fields,
    },
  );
const idsOf = async (user: string, at: number) => (await sessions.list(user, at)).map((session) => session.id);
const rowsOf = async (user: string) => {
  let rows = 0;
  for await (const { record } of table.allOf(user)) if (String(record).startsWith('session#')) rows += 1;
  return rows;
};
const floorOf = async (user: string) => (await table.get({ account: user, record: 'sessions' }))?.floor;

describe('the sessions of a user', () => {
  test('are listed by their last use until each ends', async () => {
    await sessions.begin('user_a', login(1));
    await sessions.begin('user_a', login(2, NOON + 1));
    await sessions.begin('user_a', login(3, NOON + 2, { client: 'browser', seconds: 12 * HOUR, idleSeconds: 1_800 }));
    await sessions.use('user_a', id(1), { at: NOON + 60, ip_address: '192.0.2.9', user_agent: 'app' });
    expect(await idsOf('user_a', NOON + 100)).toEqual([id(1), id(3), id(2)]);
    expect(await sessions.get('user_a', id(1), NOON + 100)).toMatchObject({ last_use: { ip_address: '192.0.2.9' }, proof: 'password' });
    expect(await idsOf('user_a', NOON + 2 + 1_800)).toHaveLength(3);
    expect(await idsOf('user_a', NOON + 2 + 1_801)).toEqual([id(1), id(2)]);
    await sessions.end('user_a', id(1), NOON + 2_000);
    expect(await idsOf('user_a', NOON + 2_000)).toEqual([id(2)]);
    expect(await sessions.get('user_a', id(1), NOON + 2_000)).toBeUndefined();
    expect(await idsOf('user_a', NOON + 1 + REFRESH_SECONDS)).toEqual([]);
  });

  test('end all but one, and none that another release began is accepted after that', async () => {
    for (const number of [1, 2, 3]) await sessions.begin('user_b', login(number));
    await sessions.endOthers('user_b', login(2), NOON + 10);
    expect(await idsOf('user_b', NOON + 10)).toEqual([id(2)]);
    expect(await floorOf('user_b')).toBe(NOON + 11);
    expect(await sessions.adopt('user_b', login(4, NOON + 5))).toBe(false);
    expect(await idsOf('user_b', NOON + 10)).toEqual([id(2)]);
    expect(await sessions.adopt('user_b', login(5, NOON + 11))).toBe(true);
    expect(await idsOf('user_b', NOON + 11)).toEqual([id(5), id(2)]);
  });

  test('leave no rows after their tokens expire, nor when the user is deleted', async () => {
    await sessions.begin('user_c', login(1, NOON, { client: 'browser', seconds: HOUR }));
    await sessions.begin('user_c', login(2, NOON, { proof: 'sso:idp_1', seconds: HOUR }));
    await sessions.begin('user_c', login(3));
    await sessions.end('user_c', id(3), NOON + 1);
    // Without its row, the refresh token of an ended session would be accepted as one of another release.
    await sessions.begin('user_c', login(4, NOON + 2 * HOUR));
    expect(await rowsOf('user_c')).toBe(3);
    await sessions.begin('user_c', login(5, NOON + REFRESH_SECONDS + HOUR));
    expect(await rowsOf('user_c')).toBe(2);
    await sessions.endOthers('user_c', login(5), NOON);
    await sessions.forget('user_c');
    expect([await rowsOf('user_c'), await floorOf('user_c')]).toEqual([0, undefined]);
  });

  test('keep their facts under another id of their tokens, in two tabs at once', async () => {
    await sessions.begin('user_f', login(1, NOON, { client: 'browser', seconds: HOUR, idleSeconds: 1_800 }));
    await sessions.rename('user_f', { from: id(1), to: id(2), authenticatedAt: NOON }, NOON + 10);
    await sessions.rename('user_f', { from: id(1), to: id(3), authenticatedAt: NOON }, NOON + 20);
    expect(await sessions.get('user_f', id(2), NOON + 30)).toMatchObject({ ends_at: NOON + HOUR, idle_seconds: 1_800 });
    expect(await sessions.get('user_f', id(1), NOON + 900)).toBeDefined();
    expect(await sessions.get('user_f', id(1), NOON + 911)).toBeUndefined();
    await sessions.end('user_f', id(2), NOON + 40);
    await sessions.rename('user_f', { from: id(2), to: id(4), authenticatedAt: NOON }, NOON + 50);
    expect(await idsOf('user_f', NOON + 50)).toEqual([]);
  });

  test('are listed, kept and ended once if two tabs have given them two ids', async () => {
    const [first, other] = [login(1, NOON, { client: 'browser' }), login(5, NOON, { client: 'browser' })];
    for (const session of [first, other]) await sessions.begin('user_i', session);
    for (const to of [id(2), id(3)]) await sessions.rename('user_i', { from: id(1), to, authenticatedAt: NOON }, NOON + 10);
    await sessions.use('user_i', id(3), { ...first.last_use, at: NOON + 20 });
    expect(await idsOf('user_i', NOON + 30)).toEqual([id(3), id(5)]);
    const current = (await sessions.get('user_i', id(2), NOON + 30)) as StoredSession;
    const listed = await sessions.list('user_i', NOON + 30);
    expect(listed.map((session) => isSessionOf(session, current))).toEqual([true, false]);
    await sessions.endOthers('user_i', current, NOON + 40);
    expect(await idsOf('user_i', NOON + 40)).toEqual([id(3)]);
    await sessions.end('user_i', id(3), NOON + 50);
    for (const number of [1, 2, 3]) expect(await sessions.get('user_i', id(number), NOON + 50)).toBeUndefined();
  });

  test('end under all their ids, so that no access token of theirs outlives them', async () => {
    const browser = { client: 'browser', seconds: HOUR } as const;
    await sessions.begin('user_g', login(1, NOON, browser));
    await sessions.begin('user_g', login(5, NOON + 1, browser));
    await sessions.rename('user_g', { from: id(5), to: id(6), authenticatedAt: NOON + 1 }, NOON + 5);
    await sessions.rename('user_g', { from: id(1), to: id(2), authenticatedAt: NOON }, NOON + 10);
    await sessions.rename('user_g', { from: id(2), to: id(3), authenticatedAt: NOON }, NOON + 20);
    await sessions.end('user_g', id(3), NOON + 30);
    for (const number of [1, 2, 3]) expect(await sessions.get('user_g', id(number), NOON + 30)).toBeUndefined();
    for (const number of [5, 6]) expect(await sessions.get('user_g', id(number), NOON + 30)).toBeDefined();
  });

  test.each(['end', 'endOthers'] as const)('end also if they get another id at the same time (%s)', async (way) => {
    for (const step of ['put', 'set', 'get'] as const) {
      const user = `user_j_${way}_${step}`;
      await sessions.begin(user, login(1, NOON, { client: 'browser', seconds: HOUR }));
      const current = login(5, NOON + 1, { client: 'browser', seconds: HOUR });
      await sessions.begin(user, current);
      const endFirst = () => (way === 'end' ? sessions.end(user, id(1), NOON + 10) : sessions.endOthers(user, current, NOON + 10));
      let isEnded = false;
      // Ends the session just before this step of the change of its id.
      const before =
        <Rest extends unknown[], Result>(call: (...given: Rest) => Promise<Result>) =>
        async (...given: Rest): Promise<Result> => {
          if (!isEnded) {
            isEnded = true;
            await endFirst();
          }
          return call(...given);
        };
      const late = createSessionStore({ ...table, [step]: before(table[step] as (...given: unknown[]) => Promise<unknown>) });
      await late.rename(user, { from: id(1), to: id(2), authenticatedAt: NOON }, NOON + 10);
      expect([step, isEnded, (await idsOf(user, NOON + 11)).filter((each) => each !== id(5))]).toEqual([step, true, []]);
    }
  });

  test('end also if they get another id while they are listed', async () => {
    await sessions.begin('user_k', login(1, NOON, { client: 'browser', seconds: HOUR }));
    const current = login(5, NOON + 1, { client: 'browser', seconds: HOUR });
    await sessions.begin('user_k', current);
    let isRenamed = false;
    // The change of the id is complete before the first of the listed sessions is ended.
    const late = createSessionStore({
      ...table,
      set: async (...given) => {
        if (!isRenamed && given[1] === 'ended_at') {
          isRenamed = true;
          await sessions.rename('user_k', { from: id(1), to: id(2), authenticatedAt: NOON }, NOON + 10);
        }
        return table.set(...given);
      },
    });
    await late.endOthers('user_k', current, NOON + 10);
    expect(await idsOf('user_k', NOON + 11)).toEqual([id(5)]);
    expect(await sessions.get('user_k', id(2), NOON + 11)).toBeUndefined();
  });

  test('stay if all others are ended with an access token that has their earlier id', async () => {
    const first = login(1, NOON, { client: 'browser', seconds: HOUR });
    await sessions.begin('user_h', first);
    await sessions.begin('user_h', login(5, NOON + 1, { client: 'browser', seconds: HOUR }));
    await sessions.rename('user_h', { from: id(1), to: id(2), authenticatedAt: NOON }, NOON + 10);
    await sessions.endOthers('user_h', (await sessions.get('user_h', id(1), NOON + 20)) ?? first, NOON + 20);
    expect(await idsOf('user_h', NOON + 30)).toEqual([id(2)]);
  });

  test('are at most a thousand, and the least recently used go first', async () => {
    const fill = Array.from({ length: MAX_SESSIONS }, (_, number) => login(number, NOON + number));
    await Promise.all(fill.map((session) => table.put({ account: 'user_d', record: `session#${session.id}` }, session)));
    await sessions.use('user_d', id(0), { at: NOON + 5_000, ip_address: '192.0.2.1', user_agent: '' });
    await sessions.begin('user_d', login(MAX_SESSIONS, NOON + 6_000));
    const left = await idsOf('user_d', NOON + 6_000);
    expect(left.length).toBeLessThanOrEqual(MAX_SESSIONS);
    expect(left).toEqual(expect.arrayContaining([id(0), id(MAX_SESSIONS), id(MAX_SESSIONS - 1)]));
    expect(left).not.toContain(id(1));
    expect(await floorOf('user_d')).toBeUndefined();
  });

  test('are not adopted without a row if they are older than an ended one whose row had to go', async () => {
    const fill = Array.from({ length: MAX_SESSIONS }, (_, number) => ({ ...login(number, NOON + number), ended_at: NOON + 5_000 }));
    await Promise.all(fill.map((session) => table.put({ account: 'user_e', record: `session#${session.id}` }, session)));
    await sessions.begin('user_e', login(MAX_SESSIONS, NOON + 6_000));
    expect(await rowsOf('user_e')).toBeLessThanOrEqual(MAX_SESSIONS);
    expect(await floorOf('user_e')).toBeGreaterThan(NOON);
    expect(await sessions.adopt('user_e', login(0, NOON))).toBe(false);
  });
});
