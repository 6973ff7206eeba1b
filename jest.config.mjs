export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '<rootDir>/test/support/strip-types.mjs' },
  testTimeout: 60_000,
  modulePathIgnorePatterns: ['<rootDir>/cdk.out', '<rootDir>/.sluice'],
  collectCoverageFrom: ['functions/**/*.ts', 'shared/**/*.ts', 'infra/**/*.ts'],
  coverageProvider: 'v8',
};
