import type { Browser } from 'playwright-core';

const SHARED = Symbol.for('sluice.browser');

// Each suite has its own copy of this module, but not of the global object.
const worker = globalThis as typeof globalThis & { [SHARED]?: Promise<Browser> };

/**
 * The browser that the suites of one Jest worker use one after the other. It is started for the first of them, and
 * ends with the worker or after all tests, so a suite closes only the pages that it opened. @throws as `start`
 */
export const shareBrowser = async (start: () => Promise<Browser>): Promise<Browser> => {
  const running = await worker[SHARED]?.catch(() => undefined);
  if (running?.isConnected()) return running;
  worker[SHARED] = start();
  return worker[SHARED];
};

/** Ends the shared browser of this process, if there is one. */
export const endSharedBrowser = async (): Promise<void> => (await worker[SHARED]?.catch(() => undefined))?.close();
