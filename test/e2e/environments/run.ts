import { createSuiteRun } from '../../support/clients/suite-run.ts';

/** Environments of each function, unless fewer are reserved for it. */
export const ENVIRONMENTS = 8;

/** With several environments of each function, which freeze between invocations. */
export const environments = createSuiteRun('--environments', String(ENVIRONMENTS));
