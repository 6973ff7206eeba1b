import os from 'node:os';
import { expect, jest, test } from '@jest/globals';
import { readCommand } from '../../../../infra/tools/admin/options.ts';

const actorOf = (...args: string[]) => readCommand(['balance', '--org', 'org_1', ...args], 0).actor;

test('an action is recorded under the name of the shell’s user, unless another is given', () => {
  expect(actorOf()).toBe(os.userInfo().username);
  expect(actorOf('--actor', 'finance')).toBe('finance');
});

test('an action of a user without a name, as containers have, is recorded under its number', () => {
  const spy = jest.spyOn(os, 'userInfo').mockImplementation(() => {
    throw new Error('uv_os_get_passwd returned ENOENT');
  });
  expect(actorOf()).toBe(`uid ${process.getuid?.()}`);
  expect(actorOf('--actor', 'finance')).toBe('finance');
  spy.mockRestore();
});
