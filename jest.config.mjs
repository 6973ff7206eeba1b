import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

// Tests are ES modules, which Jest can load only with this flag of Node. Started without it, as by `npx jest`, Jest runs again with it.
const FLAGS = '--experimental-vm-modules --no-warnings';
if (!process.env.NODE_OPTIONS?.includes('--experimental-vm-modules')) {
  const env = { ...process.env, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${FLAGS}` };
  const { status, signal } = spawnSync(process.execPath, process.argv.slice(1), { stdio: 'inherit', env });
  if (signal) process.kill(process.pid, signal);
  process.exit(status ?? 1);
}

export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '<rootDir>/test/support/strip-types.mjs' },
  testSequencer: '<rootDir>/test/support/slow-tests-first.mjs',
  globalSetup: '<rootDir>/test/support/set-up.mjs',
  globalTeardown: '<rootDir>/test/support/clean-up.mjs',
  reporters: ['default', '<rootDir>/test/support/report-not-run.ts', '<rootDir>/test/security/permissions/report-unused.ts'],
  // A bound against hanging, not a measurement: a busy machine may take several times as long as a quiet one.
  testTimeout: 300_000,
  // Many tests wait for processes of their own, so half as many workers again as cores keep the cores busy. Jest takes '150%' for 150 workers.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  // A worker keeps the modules of every suite that it has run, and spends more and more time on collecting garbage.
  workerIdleMemoryLimit: '1GB',
  modulePathIgnorePatterns: ['<rootDir>/cdk.out', '<rootDir>/.sluice'],
  collectCoverageFrom: ['functions/**/*.ts', 'shared/**/*.ts', 'infra/**/*.ts'],
  coverageProvider: 'v8',
};
