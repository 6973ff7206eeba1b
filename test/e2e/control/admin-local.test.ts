import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { bundledProgram } from '../../../infra/local/processes/bundled-program.ts';
import { compileCache } from '../../../infra/local/processes/compile-cache.ts';
import { admin } from '../../../infra/tools/admin/main.ts';
import { shareWalk, type Walk } from '../../support/clients/walk-through.ts';
import { runProgram } from '../../support/run-program.ts';

const MAIN = path.join(import.meta.dirname, '../../../infra/tools/admin/main.ts');

let walk: Walk;
beforeAll(async () => {
  walk = await shareWalk();
});
afterAll(() => walk.close());

// Without any environment variable of AWS or of a table.
const adminIn = async (cwd: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> => {
  try {
    return await promisify(execFile)(process.execPath, [await bundledProgram(MAIN), ...args], {
      cwd,
      env: { ...compileCache, PATH: process.env.PATH },
    });
  } catch (error) {
    return error as { stdout: string; stderr: string };
  }
};

describe('npm run admin -- --local', () => {
  test('creates an organization with a key that the local run accepts, and grants it credit', async () => {
    const created = await adminIn(walk.folder, 'create-key', '--org', 'org_local', '--local');
    expect(created).toMatchObject({ stdout: expect.stringMatching(/^Created key_/), stderr: '' });
    const secret = created.stdout.trim().split('\n').at(-1);
    const reply = await fetch(`${walk.run.base_url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    expect(reply.status).toBe(200);
    await adminIn(walk.folder, 'limit-organization', '--org', 'org_local', '--prepaid', '--local');
    await adminIn(walk.folder, 'grant-credit', '--org', 'org_local', '--dollars', '5', '--reason', 'Order 1', '--local');
    expect(JSON.parse((await adminIn(walk.folder, 'balance', '--org', 'org_local', '--local')).stdout)).toMatchObject({ available: '5' });
  });

  test('lists tickets, creates admins and reads logs without a variable of the environment', async () => {
    expect(await adminIn(walk.folder, 'tickets', '--local')).toMatchObject({ stdout: expect.any(String), stderr: '' });
    const created = await adminIn(walk.folder, 'bootstrap', '--email', 'second@example.com', '--local');
    expect(created).toMatchObject({ stdout: expect.stringContaining('Created the admin second@example.com.'), stderr: '' });
    const why = await adminIn(walk.folder, 'why', 'SweepStalled', '--local');
    expect(why).toMatchObject({ stdout: expect.stringContaining('SweepStalled'), stderr: '' });
  });

  test('says how to start a local run if there is none', async () => {
    const { stderr } = await adminIn(path.join(walk.folder, 'docs'), 'tickets', '--local');
    expect(stderr).toMatch(/^No local run has written \.sluice\/local\.json\. Start one with 'npm start'/);
  });
});

describe('npm run admin', () => {
  test('shows the error and only the usage of the command that it is about', async () => {
    const { stderr } = await runProgram(admin, ['balance'], {});
    expect(stderr).toMatch(/^--org is missing\.\n\nUsage: npm run admin -- COMMAND \[options\]\n\n {2}balance --org ID /);
    expect(stderr).not.toContain('bootstrap');
  });

  test('lists the names of commands if there is no such command', async () => {
    const { stderr } = await runProgram(admin, ['balanse'], {});
    expect(stderr).toContain("There is no command 'balanse'.");
    expect(stderr).toContain('Commands: bootstrap, publish-model,');
    expect(stderr).not.toContain('--org');
  });

  test('describes all commands, or one, with --help', async () => {
    const all = await runProgram(admin, ['--help'], {});
    expect(all.stdout).toContain('  bootstrap --email');
    expect(all.stdout).toContain('  --local ');
    const one = await runProgram(admin, ['why', '--help'], {});
    expect(one.stdout).toContain('  why ALARM');
    expect(one.stdout).not.toContain('bootstrap');
  });
});
