export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '<rootDir>/test/support/strip-types.mjs' },
  globalSetup: '<rootDir>/test/support/synthesize.mjs',
  globalTeardown: '<rootDir>/test/support/clean-up.mjs',
  testTimeout: 60_000,
  modulePathIgnorePatterns: ['<rootDir>/cdk.out', '<rootDir>/.sluice'],
  collectCoverageFrom: ['functions/**/*.ts', 'shared/**/*.ts', 'infra/**/*.ts'],
  coverageProvider: 'v8',
};
