import { createSuiteRun } from '../../support/clients/suite-run.ts';

/** With eight environments of each function, which freeze between invocations. */
export const environments = createSuiteRun('--environments', '8');
