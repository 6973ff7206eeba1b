import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { compileCache } from '../../../infra/local/processes/compile-cache.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
// The check of the architecture is a part of lint.
const PROGRAMS = Object.entries(scripts).flatMap(([name, command]) => {
  const program = /^node (\S+\.ts)$/.exec(command)?.[1];
  return program === undefined ? [] : [[name, program] as const];
});

const run = async (program: string, ...flags: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
  const env = { ...compileCache, PATH: process.env.PATH };
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [program, ...flags], { cwd: ROOT, env })) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
};

describe('npm scripts', () => {
  test.each(PROGRAMS)('describes %s with --help, and does nothing else', async (name, program) => {
    const { code, stdout, stderr } = await run(program, '--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^(?:Usage: )?npm (?:run )?${name}\\b`));
    expect(stdout).toContain('  --help');
  });

  test.each(['infra/tools/doctor/main.ts', 'infra/tools/cost/main.ts', 'infra/local/start.ts', 'infra/tools/admin/main.ts'])(
    'names a flag that %s does not know, without a stack trace',
    async (program) => {
      const { code, stderr } = await run(program, '--nonsense');
      expect(code).toBe(1);
      expect(stderr.split('\n')[0]).toContain("'--nonsense'");
      expect(stderr).not.toMatch(/^ +at /m);
    },
  );
});
