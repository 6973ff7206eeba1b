import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { synthesize } from '../../../infra/assembly/synthesize.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const writeProject = (folder: string, program: string): void => {
  writeFileSync(path.join(folder, 'cdk.json'), JSON.stringify({ app: 'node app.mjs' }));
  writeFileSync(path.join(folder, 'app.mjs'), program);
};

describe('the synthesis', () => {
  test('stops an app that writes nothing any more, and says so', async () => {
    await using folder = temporaryFolder();
    writeProject(folder.path, 'setInterval(() => {}, 1_000);');
    await expect(synthesize(folder.path, path.join(folder.path, 'out'), { stallMs: 100 })).rejects.toThrow(
      /^The CDK app wrote nothing for 0\.1 s and was stopped\. Run 'npm run synth' to see where it hangs\./,
    );
  });

  test.each([
    ['output', 'console.error("Bundling")'],
    ['files', 'writeFileSync(process.env.CDK_OUTDIR + "/" + Date.now(), "")'],
  ])('lets an app that writes %s take as long as it needs', async (_what, sign) => {
    await using folder = temporaryFolder();
    const program = `import { writeFileSync } from 'node:fs'; setInterval(() => { ${sign}; if (process.uptime() > 4) process.exit(0); }, 50);`;
    writeProject(folder.path, program);
    await synthesize(folder.path, path.join(folder.path, 'out'), { stallMs: 3_000 });
  });

  test("shows the app's own error if it fails", async () => {
    await using folder = temporaryFolder();
    writeProject(folder.path, 'console.error("The tag is missing."); process.exitCode = 1;');
    await expect(synthesize(folder.path, path.join(folder.path, 'out'))).rejects.toThrow(
      'The CDK app failed to synthesize:\nThe tag is missing.',
    );
  });
});
