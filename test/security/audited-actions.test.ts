import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { ACTIONS_WITH_TEXTS, ACTIONS_WITHOUT_TEXTS } from './canaries/customer-texts.ts';

// Literals in the form of an action. Events of streams and attributes of SCIM have it, too.
const ACTION = /'((?!response\.|name\.)[a-z_]+\.(?:[a-z_]+ed|[a-z]+_reset|read|paid|invited_again))'/g;

test('knows of every action of the audit log if it has texts of customers, which are tried with canaries', async () => {
  const found = new Set<string>();
  for (const folder of ['functions', 'infra/tools/admin', 'shared'])
    for (const file of await readdir(folder, { recursive: true }))
      if (file.endsWith('.ts'))
        for (const [, action] of (await readFile(path.join(folder, file), 'utf8')).matchAll(ACTION)) found.add(action as string);
  expect([...found].sort()).toEqual([...ACTIONS_WITH_TEXTS, ...ACTIONS_WITHOUT_TEXTS].sort());
});
