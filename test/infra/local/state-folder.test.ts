import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { takeStateFolder } from '../../../infra/local/state-folder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
afterAll(async () => {
  await folder[Symbol.asyncDispose]();
});

describe('a state folder', () => {
  test('is created, and locked by one run at a time', async () => {
    const state = path.join(folder.path, 'a', 'b');
    const release = await takeStateFolder(state);
    await expect(takeStateFolder(state)).rejects.toThrow(`Another run (process ${process.pid}) uses the state folder ${state}.`);
    release();
    (await takeStateFolder(state))();
  });

  test('is no longer locked after its run was killed', async () => {
    const state = path.join(folder.path, 'killed');
    const program = `
import { takeStateFolder } from ${JSON.stringify(import.meta.resolve('../../../infra/local/state-folder.ts'))};
await takeStateFolder(process.argv[1]);
console.log('taken');
setInterval(() => {}, 1_000);`;
    const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', program, state]);
    await once(child.stdout, 'data');
    await expect(takeStateFolder(state)).rejects.toThrow(`Another run (process ${child.pid}) uses the state folder ${state}.`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    (await takeStateFolder(state))();
  });

  test('causes an error that says what to do if it is a file', async () => {
    const file = path.join(folder.path, 'file');
    await writeFile(file, '');
    await expect(takeStateFolder(file)).rejects.toThrow(
      /^The state folder .* cannot be written \((EEXIST|ENOTDIR)\)\. Choose another with --state\.$/,
    );
  });
});
