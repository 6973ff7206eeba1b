import path from 'node:path';
import { explain } from './explain.ts';
import { readFlags, USAGE } from './options.ts';
import type { Progress } from './progress.ts';
import { serve } from './serve.ts';
import { takeStateFolder } from './state-folder.ts';

// On Ctrl-C both the terminal and npm send SIGINT. Two signals within this time count as one.
const SAME_KEY_PRESS_MS = 500;

/**
 * Runs `npm start` until it is stopped. An error is printed in one line that says what to do.
 * @param parameters the command line
 * @returns the exit code
 */
export const main = async (parameters: readonly string[], progress: Progress): Promise<number> => {
  try {
    await run(parameters, progress);
    return 0;
  } catch (error) {
    progress.close();
    console.error(explain(error));
    return 1;
  }
};

const run = async (parameters: readonly string[], progress: Progress): Promise<void> => {
  const flags = readFlags(parameters);
  if (flags.help) {
    console.log(USAGE);
    return;
  }
  const stopping = stopSignal();
  const stateDir = path.resolve(flags.state);
  const releaseFolder = await takeStateFolder(stateDir);
  let isStopping = false;
  void stopping.then(() => {
    isStopping = true;
  });
  try {
    await serve({ flags, stateDir, stopping, progress });
  } catch (error) {
    // Ctrl-C during startup makes it fail, which is not an error.
    if (!isStopping) throw error;
  } finally {
    releaseFolder();
  }
};

// Resolves on SIGINT, SIGTERM or the parent's exit. A second signal exits at once; the watchdog then kills the other
// processes.
const stopSignal = (): Promise<void> =>
  new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (): void => {
      if (firstAt !== undefined && performance.now() - firstAt > SAME_KEY_PRESS_MS) process.exit(130);
      firstAt ??= performance.now();
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
    process.once('disconnect', resolve);
  });
