import { createSuiteRun } from '../../support/clients/suite-run.ts';

/** Its streams and queues deliver soon. */
export const background = createSuiteRun('--batch-window-ms', '100', '--queue-delay-ms', '100');
