import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { exportEntries } from '../../../../functions/control/audit/export-entries.ts';
import { AuditQuery, searchEntries } from '../../../../functions/control/audit/search-entries.ts';
import type { AuditEntry } from '../../../../shared/audit/audit-entry.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { newTimedId } from '../../../../shared/ids/id.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

const NOW = 1_795_262_400;

let database: TestDatabase;
let owner: Actor;
let admin: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  admin = await storeUser(accountStores(database), { role: 'admin', organization: null });
});
afterAll(() => database.close());
beforeEach(async () => {
  owner = await storeUser(accountStores(database), { role: 'owner', organization: newId('organization') });
});

const append = async (seconds: number, fields: Partial<AuditEntry> = {}, by: Actor = owner): Promise<string> => {
  const at = seconds * 1_000;
  const entry: AuditEntry = {
    id: newTimedId('event', at),
    object: 'audit_entry',
    at,
    action: 'user.updated',
    actor: by.origin.actor,
    organization: owner.organization,
    target: { type: 'user', id: 'user_1' },
    reason: null,
    changes: {},
    request_id: null,
    ip_address: '192.0.2.1',
    ...fields,
  };
  await transact(database.database, [accountStores(database).audit.toAppend(entry)]);
  return entry.id;
};

const search = (actor: Actor, query: object = {}, bounds: { limit?: number; maxRead?: number } = {}) =>
  searchEntries(accountStores(database), actor, AuditQuery.parse(query), { limit: 20, ...bounds });
const idsOf = async (actor: Actor, query: object = {}): Promise<string[]> => (await search(actor, query)).data.map(({ id }) => id);

const eventOf = (query: Record<string, string>): ApiEvent =>
  ({
    multiValueQueryStringParameters: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]])),
  }) as unknown as ApiEvent;
const exported = (actor: Actor, query: Record<string, string> = {}) =>
  exportEntries(accountStores(database), actor, AuditQuery.parse({ ...query, format: 'csv' }), eventOf(query));

describe('searchEntries', () => {
  test('finds the entries of a range of time, whose end is exclusive', async () => {
    const [first, second, third] = [await append(NOW), await append(NOW + 1), await append(NOW + 2)];
    expect(await idsOf(owner)).toEqual([third, second, first]);
    expect(await idsOf(owner, { start_time: String(NOW + 1) })).toEqual([third, second]);
    expect(await idsOf(owner, { end_time: String(NOW + 1) })).toEqual([first]);
    expect(await idsOf(owner, { start_time: String(NOW + 1), end_time: String(NOW + 2) })).toEqual([second]);
    expect(await idsOf(owner, { start_time: '9999999999' })).toEqual([]);
    await expect(idsOf(owner, { start_time: '5', end_time: '5' })).rejects.toMatchObject({ status: 400, param: 'end_time' });
  });

  test('finds entries by action, beginning of the action, target and actor', async () => {
    const [created, rotated] = [
      await append(NOW, { action: 'api_key.created', target: { type: 'api_key', id: 'key_1' } }),
      await append(NOW + 1, { action: 'api_key.rotated', target: { type: 'api_key', id: 'key_1' } }, admin),
    ];
    const other = await append(NOW + 2, { action: 'api_keys.other' });
    expect(await idsOf(owner, { action: 'api_key.rotated' })).toEqual([rotated]);
    expect(await idsOf(owner, { action: 'api_key' })).toEqual([]);
    expect(await idsOf(owner, { action: 'api_key.' })).toEqual([rotated, created]);
    expect(await idsOf(owner, { target: 'key_1', actor: owner.userId })).toEqual([created]);
    expect(await idsOf(owner, { actor: owner.email.toUpperCase() })).toEqual([other, created]);
  });

  test('neither shows an owner the address of an admin, nor finds it', async () => {
    const id = await append(NOW, {}, admin);
    expect((await search(owner)).data).toMatchObject([{ id, actor: { id: admin.userId, email: null }, ip_address: null }]);
    expect(await idsOf(owner, { actor: admin.email })).toEqual([]);
    expect(await idsOf(admin, { organization: owner.organization, actor: admin.email })).toEqual([id]);
  });

  test('reads only the log of the organization', async () => {
    await append(NOW);
    const stranger = await storeUser(accountStores(database), { role: 'owner', organization: newId('organization') });
    expect(await idsOf(stranger)).toEqual([]);
    await expect(idsOf(stranger, { organization: owner.organization })).rejects.toMatchObject({ status: 404 });
  });

  test('reads a bounded number of entries, says how far it has come, and continues there', async () => {
    const wanted = await append(NOW, { action: 'a.b' });
    for (let i = 1; i <= 4; i++) await append(NOW + i);
    const first = await search(owner, { action: 'a.b' }, { maxRead: 3 });
    expect(first).toMatchObject({ data: [], has_more: true, searchedToMs: (NOW + 2) * 1_000 });
    const second = await search(owner, { action: 'a.b', after: first.next }, { maxRead: 3 });
    expect(second.data.map(({ id }) => id)).toEqual([wanted]);
    expect(second).toMatchObject({ has_more: false, next: null, searchedToMs: 0 });
  });

  test.each([1, 2, 3, 7])('returns each entry once, in pages of %d', async (limit) => {
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.unshift(await append(NOW + i, { action: i % 2 === 0 ? 'a.b' : 'c.d' }));
    for (const action of [undefined, 'a.b']) {
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await search(owner, { ...(action !== undefined && { action }), ...(after !== undefined && { after }) }, { limit });
        expect(page.data.length).toBeLessThanOrEqual(limit);
        found.push(...page.data.map(({ id }) => id));
        after = page.next ?? undefined;
      } while (after !== undefined);
      expect(found).toEqual(action === undefined ? ids : ids.filter((_, i) => i % 2 === 1));
    }
  });
});

describe('exportEntries', () => {
  test('writes a line for each entry that matches, as the actor may see it', async () => {
    await append(NOW, { reason: '=HYPERLINK("http://example.com")', changes: { name: { from: 'a', to: 'b' } } }, admin);
    await append(NOW + 1, { action: 'c.d' });
    const { text, contentType, headers } = await exported(owner, { action: 'user.updated' });
    const lines = text.trimEnd().split('\r\n');
    expect(contentType).toBe('text/csv; charset=utf-8');
    expect(headers).toEqual({ 'content-disposition': 'attachment; filename="audit-log.csv"' });
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^id,at,action,actor_type,actor_id,actor_email,/);
    expect(lines[1]).toContain(`,2026-11-21T12:00:00.000Z,user.updated,user,${admin.userId},,,${owner.organization},user,user_1,`);
    // A spreadsheet must not run it.
    expect(lines[1]).toContain(`"'=HYPERLINK(""http://example.com"")"`);
    expect(lines[1]).toContain('"{""name"":{""from"":""a"",""to"":""b""}}"');
    expect(text).not.toContain(admin.email);
    expect(text).not.toContain('192.0.2.1');
  });

  test('links to the next part if the text is too large, and loses no entry', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 18; i++) ids.unshift(await append(NOW + i, { reason: 'x'.repeat(350_000) }));
    const found: string[] = [];
    let query: Record<string, string> | undefined = { action: 'user.updated' };
    let parts = 0;
    for (; query !== undefined; parts++) {
      const { text, headers }: { text: string; headers: Readonly<Record<string, string>> } = await exported(owner, query);
      expect(text.length).toBeLessThan(6_000_000);
      found.push(
        ...text
          .trimEnd()
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(',', 1)[0] as string),
      );
      const next = /<\?(.*)>; rel="next"/.exec(headers.link ?? '')?.[1];
      query = next === undefined ? undefined : Object.fromEntries(new URLSearchParams(next));
      if (query) expect(query).toMatchObject({ action: 'user.updated' });
    }
    expect(found).toEqual(ids);
    expect(parts).toBe(2);
  });
});
