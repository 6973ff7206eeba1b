import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startWalk, type Walk } from '../../support/clients/walk-through.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/control-plane.md');

let walk: Walk;
beforeAll(async () => {
  walk = await startWalk();
});
afterAll(() => walk.close());

test('the commands in docs/control-plane.md print the output that it shows', async () => {
  expect(await walk.follow(DOCUMENT)).toBeGreaterThan(9);
});

test.each([undefined, '0'])('the commands run without the startup files of the shell, also if SHLVL is %s', async (SHLVL) => {
  const startup = path.join(walk.folder, '.bashrc');
  writeFileSync(startup, 'echo "read the startup file, prompt $PS1"\n');
  expect(await walk.shell('echo done', { SHLVL, PS1: undefined, HOME: walk.folder, BASH_ENV: startup })).toBe('done\n');
});
