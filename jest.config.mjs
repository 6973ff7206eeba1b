export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '<rootDir>/test/support/strip-types.mjs' },
  testSequencer: '<rootDir>/test/support/slow-tests-first.mjs',
  globalSetup: '<rootDir>/test/support/synthesize.mjs',
  globalTeardown: '<rootDir>/test/support/clean-up.mjs',
  reporters: ['default', '<rootDir>/test/security/permissions/report-unused.ts'],
  testTimeout: 60_000,
  // Most tests wait for processes of their own, so a core that Jest keeps for itself by default is better used for tests.
  maxWorkers: '100%',
  modulePathIgnorePatterns: ['<rootDir>/cdk.out', '<rootDir>/.sluice'],
  collectCoverageFrom: ['functions/**/*.ts', 'shared/**/*.ts', 'infra/**/*.ts'],
  coverageProvider: 'v8',
};
