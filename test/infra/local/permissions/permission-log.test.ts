import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import type { Use } from '../../../../infra/local/permissions/check.ts';
import { createUseLog, forgetUses, readUses } from '../../../../infra/local/permissions/permission-log.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const used: Use = { kind: 'used', role: 'stack/Role', action: 'dynamodb:GetItem', resource: 'table' };
const denied: Use = { kind: 'denied', role: 'stack/Role', function: 'control', action: 'dynamodb:PutItem', resource: 'table', why: 'no' };

test('logs a used permission once, each denied call, and a permission again in a new log', async () => {
  await using folder = temporaryFolder();
  mkdirSync(path.join(folder.path, 'logs'));
  const log = createUseLog(folder.path);
  for (const use of [used, used, denied, denied, { ...used, action: 'dynamodb:Query' } as Use]) log(use);
  expect(readUses(folder.path)).toEqual([used, denied, denied, { ...used, action: 'dynamodb:Query' }]);
  forgetUses(folder.path);
  expect(readUses(folder.path)).toEqual([]);
  for (const use of [used, used]) log(use);
  expect(readUses(folder.path)).toEqual([used]);
});
