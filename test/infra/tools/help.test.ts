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

const run = (program: string, ...flags: string[]) => runWith({}, program, ...flags);

const runWith = async (
  variables: Record<string, string>,
  program: string,
  ...flags: string[]
): Promise<{ code: number; stdout: string; stderr: string }> => {
  const env = { ...compileCache, PATH: process.env.PATH, ...variables };
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

  const READ_STRICTLY = [
    'infra/tools/doctor/main.ts',
    'infra/tools/teardown/main.ts',
    'infra/tools/cost/main.ts',
    'infra/local/start.ts',
    'infra/tools/admin/main.ts',
    'test/load/main.ts',
    'test/bench/main.ts',
  ];
  test.each(READ_STRICTLY)('names a flag that %s does not know, without a stack trace', async (program) => {
    const { code, stderr } = await run(program, '--nonsense');
    expect(code).toBe(1);
    expect(stderr.split('\n')[0]).toContain("'--nonsense'");
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test.each([
    ['test/load/main.ts', '--callers=3', '--callers: expected at least 20.\n'],
    ['test/bench/main.ts', '--rate=0', '--rate: expected at least 1.\n'],
  ])('says of %s what is wrong with %s, without a stack trace', async (program, flag, message) => {
    expect(await run(program, flag)).toMatchObject({ code: 1, stderr: message });
  });

  test.each([
    ['infra/tools/deploy/main.ts', { npm_config_call: 'sluice={}' }, '-c'],
    ['infra/tools/teardown/main.ts', { npm_config_check: 'true' }, '--check'],
    ['infra/tools/doctor/main.ts', { npm_config_profile: 'production' }, '--profile'],
    ['infra/tools/cost/main.ts', { npm_config_requests: '5' }, '--requests'],
    ['infra/local/start.ts', { npm_config_port: '5000' }, '--port'],
    ['infra/tools/admin/main.ts', { npm_config_month_budget: '5' }, '--month-budget'],
    ['test/load/main.ts', { npm_config_callers: '20' }, '--callers'],
  ])('lets %s do nothing if npm has kept one of its options', async (program, kept, flag) => {
    const { code, stdout, stderr } = await runWith({ npm_lifecycle_event: 'command', ...kept }, program);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `npm has kept ${flag} for itself. Put -- before the options: npm run command -- ${flag} …\n`,
    });
    expect(stdout.replaceAll(/^.*Loading Sluice.*\n?/gm, '')).toBe('');
  });
});
