import { startTestRun } from './local-run.ts';

/**
 * Shares something between all parts of one suite, started for the first of them. The suite closes it.
 * @param end ends it, if a part has started it
 */
export const shareInSuite = <Shared>(start: () => Promise<Shared>, end: (shared: Shared) => Promise<unknown>) => {
  let starting: Promise<Shared> | undefined;
  return {
    start: () => (starting ??= start()),
    close: async (): Promise<void> => {
      if (starting) await end(await starting);
    },
  };
};

/** The same for a local run with these flags. */
export const createSuiteRun = (...flags: string[]) =>
  shareInSuite(
    () => startTestRun(...flags),
    (run) => run.close(),
  );
