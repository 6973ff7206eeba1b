/**
 * The suites to start first: they wait, repeat something hundreds of times, or consist of parts in other files. At the
 * beginning, those that compute without the assembly run beside its synthesis and beside those that wait.
 */
export const SLOW_SUITES = [
  'test/e2e/deployments/deployments.test.ts',
  'test/functions/deployments/rollout-convergence.test.ts',
  'test/e2e/deployments/walk-through.test.ts',
  'test/functions/deployments/convergence.test.ts',
  'test/e2e/walk-throughs.test.ts',
  'test/e2e/billing-quarter/quarter.test.ts',
  'test/e2e/failures/crashes.test.ts',
  'test/e2e/failures/fault-table.test.ts',
  'test/upgrade/upgrade.test.ts',
  'test/e2e/environments/environments.test.ts',
  'test/e2e/background/background.test.ts',
  'test/e2e/fairness/fairness.test.ts',
  'test/e2e/scripted/scripted.test.ts',
  'test/e2e/published-models/published-models.test.ts',
  'test/security/content-canaries.test.ts',
  'test/e2e/single-sign-on/single-sign-on.test.ts',
];
