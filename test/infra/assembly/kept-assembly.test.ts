import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { keptAssembly, keptFolderOf } from '../../../infra/assembly/kept-assembly.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// Counts its runs in a file, and copies a source file and its context into the assembly.
const PROGRAM = `
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
appendFileSync('runs', '.');
if (readFileSync('shared/source.ts', 'utf8') === 'broken') { console.error('The tag is missing.'); process.exit(1); }
mkdirSync(process.env.CDK_OUTDIR, { recursive: true });
writeFileSync(process.env.CDK_OUTDIR + '/manifest.json', readFileSync('shared/source.ts', 'utf8') + process.env.CDK_CONTEXT_JSON);
writeFileSync(process.env.SLUICE_KEPT_BUNDLES + '/bundle', '');
`;

const openProject = () => {
  const folder = temporaryFolder();
  const inProject = (file: string): string => path.join(folder.path, file);
  mkdirSync(inProject('shared/inner'), { recursive: true });
  writeFileSync(inProject('cdk.json'), JSON.stringify({ app: 'node app.mjs' }));
  writeFileSync(inProject('app.mjs'), PROGRAM);
  const write = (text: string, file = 'shared/source.ts'): void => writeFileSync(inProject(file), text);
  write('first ');
  return {
    write,
    keep: (context?: Record<string, unknown>) => keptAssembly(folder.path, { keptIn: inProject('kept'), ...(context && { context }) }),
    runs: (): number => (existsSync(inProject('runs')) ? readFileSync(inProject('runs'), 'utf8').length : 0),
    kept: (): string[] => readdirSync(inProject('kept')),
    /** How many states of the sources have bundles. */
    bundles: (): number => readdirSync(inProject('.sluice/bundles')).length,
    /** Leaves the lock of a process that was killed. The highest process id of Linux is 4,194,304. */
    leaveLock: (): void => {
      mkdirSync(inProject('kept'));
      writeFileSync(`${keptFolderOf(folder.path, { keptIn: inProject('kept') })}.lock.4194305.killed`, '');
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
};

const manifestOf = (folder: string): string => readFileSync(path.join(folder, 'manifest.json'), 'utf8');

describe('an assembly', () => {
  test('is synthesized once for the same sources and context, also if several ask for it at the same time', async () => {
    await using project = openProject();
    const folders = await Promise.all([project.keep(), project.keep(), project.keep()]);
    expect(new Set(folders).size).toBe(1);
    expect(await project.keep()).toBe(folders[0]);
    expect(project.runs()).toBe(1);
    expect(project.kept()).toHaveLength(1);
  });

  test('is synthesized again when a source or the context changes, and the earlier one is kept', async () => {
    await using project = openProject();
    const first = await project.keep();
    project.write('second ');
    const second = await project.keep();
    project.write('', 'shared/inner/added.ts');
    const third = await project.keep();
    const fourth = await project.keep({ setting: 1 });
    expect(new Set([first, second, third, fourth]).size).toBe(4);
    expect([first, second, third, fourth].map(manifestOf)).toEqual(['first {}', 'second {}', 'second {}', 'second {"setting":1}']);
    expect(project.bundles()).toBe(3);
    project.write('first ');
    expect(manifestOf(await project.keep())).toBe('first {}');
    expect(project.runs()).toBe(5);
  });

  test.each(['console/screen.tsx', 'infra/tools/console/build.ts', 'functions/handler.ts', 'infra/stacks/stack.ts'])(
    'is another one when %s changes',
    async (file) => {
      await using folder = temporaryFolder();
      const before = keptFolderOf(folder.path);
      mkdirSync(path.dirname(path.join(folder.path, file)), { recursive: true });
      writeFileSync(path.join(folder.path, file), '');
      expect(keptFolderOf(folder.path)).not.toBe(before);
    },
  );

  test('is not kept if its synthesis fails, and the next one succeeds', async () => {
    await using project = openProject();
    project.write('broken');
    await expect(project.keep()).rejects.toThrow('The tag is missing.');
    expect(project.kept()).toEqual([]);
    project.write('first ');
    expect(manifestOf(await project.keep())).toBe('first {}');
  });

  test('does not wait for a process that was killed while it synthesized', async () => {
    await using project = openProject();
    project.leaveLock();
    expect(manifestOf(await project.keep())).toBe('first {}');
  });
});
