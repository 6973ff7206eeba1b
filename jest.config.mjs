import { availableParallelism } from 'node:os';

export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Node loads and strips all modules itself: docs/decisions/0068-jest-suites-run-in-their-workers-process.md.
  testEnvironment: '<rootDir>/test/support/jest/environment.ts',
  testRunner: '<rootDir>/test/support/jest/runner.ts',
  injectGlobals: false,
  transform: {},
  testSequencer: '<rootDir>/test/support/jest/slow-tests-first.mjs',
  globalSetup: '<rootDir>/test/support/jest/set-up.mjs',
  globalTeardown: '<rootDir>/test/support/jest/clean-up.mjs',
  reporters: ['default', '<rootDir>/test/support/jest/report-not-run.ts', '<rootDir>/test/security/permissions/report-unused.ts'],
  // A bound against hanging, not a measurement: a busy machine may take several times as long as a quiet one.
  testTimeout: 300_000,
  // Many tests wait for processes of their own, so twice as many workers as cores keep the cores busy.
  maxWorkers: availableParallelism() * 2,
  // A bound as well: on a busy machine, a worker needs more than Jest's half a second to close what it has opened.
  workerGracefulExitTimeout: 30_000,
  // A worker keeps the packages that its suites have loaded, and spends more time on collecting garbage with them.
  workerIdleMemoryLimit: '1GB',
  modulePathIgnorePatterns: ['<rootDir>/cdk.out', '<rootDir>/.sluice'],
};
