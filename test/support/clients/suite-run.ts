import { startTestRun } from './local-run.ts';

/** A local run with these flags for all parts of one suite, started for the first of them. The suite closes it. */
export const createSuiteRun = (...flags: string[]) => {
  let starting: ReturnType<typeof startTestRun> | undefined;
  return {
    start: () => (starting ??= startTestRun(...flags)),
    close: async (): Promise<void> => void (await (await starting)?.close()),
  };
};
