import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { missingNextNode, nextNode } from '../../support/assembly/next-node.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const TIMEOUT_MS = 300_000;

const missing = missingNextNode();
if (missing) console.warn(`Skipped: the connections on the next Node. ${missing}`);

(missing ? test.skip : test)(
  'the connections work on the next major version of Node as on this one',
  async () => {
    const { default: config } = await import(path.join(ROOT, 'jest.config.mjs'));
    const { testMatch, testEnvironment, testRunner, injectGlobals, transform, testTimeout } = config;
    const program = nextNode();
    expect(Number.parseInt(spawnSync(program, ['--version']).stdout.toString().slice(1), 10)).toBeGreaterThan(24);
    const own = JSON.stringify({ rootDir: ROOT, testMatch, testEnvironment, testRunner, injectGlobals, transform, testTimeout });
    const jest = path.join(ROOT, 'node_modules/jest/bin/jest.js');
    const flags = [jest, '--config', own, '--json', '--runInBand'];
    const { status, stdout, stderr } = spawnSync(program, [...flags, 'test/shared/aws/connections.test.ts'], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
    });
    expect({ status, errors: status === 0 ? '' : stderr.toString() }).toEqual({ status: 0, errors: '' });
    expect(JSON.parse(stdout.toString())).toMatchObject({ success: true, numFailedTests: 0, numPassedTests: expect.any(Number) });
  },
  TIMEOUT_MS,
);
