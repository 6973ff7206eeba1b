import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createIdentityLinks } from '../../../shared/single-sign-on/identity-links.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const links = () => createIdentityLinks(createRecordTable(database.database, database.tables.Accounts as string));
const link = (user: string, provider: string, subject: string): Promise<void> =>
  transact(database.database, links().toLink(user, provider, subject));

describe('an identity', () => {
  test('belongs to one user, and a user has one of each connection', async () => {
    await link('user_1', 'idp_1', 'sub');
    await expect(link('user_2', 'idp_1', 'sub')).rejects.toMatchObject({ status: 409 });
    await expect(link('user_1', 'idp_1', 'another sub')).rejects.toMatchObject({ status: 409 });
    // The same subject at another connection is somebody else.
    await link('user_2', 'idp_2', 'sub');
    expect([await links().userOf('idp_1', 'sub'), await links().userOf('idp_2', 'sub')]).toEqual(['user_1', 'user_2']);
    expect(await links().userOf('idp_1', 'another sub')).toBeUndefined();
    expect([await links().isLinked('user_1', 'idp_1'), await links().isLinked('user_1', 'idp_2')]).toEqual([true, false]);
  });

  test('is free again when it was unlinked', async () => {
    await link('user_3', 'idp_3', 'sub');
    await transact(database.database, links().toUnlink('user_3', 'idp_3', 'sub'));
    await link('user_4', 'idp_3', 'sub');
    expect(await links().userOf('idp_3', 'sub')).toBe('user_4');
    expect(await links().isLinked('user_3', 'idp_3')).toBe(false);
  });

  test('is deleted with its connection, a bounded number at a time', async () => {
    for (const number of [1, 2, 3]) await link(`user_5${number}`, 'idp_5', `sub ${number}`);
    const round = async (): Promise<number> => {
      const writes = await links().toUnlinkProvider('idp_5', 2);
      if (writes.length > 0) await transact(database.database, writes);
      return writes.length;
    };
    expect([await round(), await round(), await round()]).toEqual([4, 2, 0]);
    expect(await links().isLinked('user_51', 'idp_5')).toBe(false);
  });
});
