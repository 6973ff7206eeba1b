import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { synthesize } from '../../../../infra/local/assembly/synthesize.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** Writes a project whose CDK app is this program. */
const writeProject = (folder: string, program: string): void => {
  writeFileSync(path.join(folder, 'cdk.json'), JSON.stringify({ app: 'node app.mjs' }));
  writeFileSync(path.join(folder, 'app.mjs'), program);
};

describe('the synthesis', () => {
  test('says that it timed out if the app does not finish, and what to do', async () => {
    await using folder = temporaryFolder();
    writeProject(folder.path, 'setInterval(() => {}, 1_000);');
    await expect(synthesize(folder.path, path.join(folder.path, 'out'), { timeoutMs: 100 })).rejects.toThrow(
      /^The CDK app timed out after 0\.1 s\. Try again when the machine is less busy\./,
    );
  });

  test("shows the app's own error if it fails", async () => {
    await using folder = temporaryFolder();
    writeProject(folder.path, 'console.error("The tag is missing."); process.exitCode = 1;');
    await expect(synthesize(folder.path, path.join(folder.path, 'out'))).rejects.toThrow(
      'The CDK app failed to synthesize:\nThe tag is missing.',
    );
  });
});
