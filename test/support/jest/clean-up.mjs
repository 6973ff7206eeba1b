import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '../../../infra/bundling/is-alive.ts';
import { readFacts } from '../../../infra/local/local-facts.ts';
import { endSharedBrowser } from '../browser/shared-browser.ts';

const POLL_MS = 50;
const MAX_POLLS = 400;

/**
 * Runs after all tests: ends the browser of this process and the local runs that suites shared, and removes the
 * recorded permissions, unless the caller named a folder for them.
 */
export default async () => {
  const { SLUICE_TEST_SHARED, SLUICE_TEST_PERMISSIONS, RECORD_PERMISSIONS } = process.env;
  await endSharedBrowser();
  await Promise.all((await readdir(SLUICE_TEST_SHARED)).map((name) => end(path.join(SLUICE_TEST_SHARED, name))));
  const temporary = RECORD_PERMISSIONS === undefined ? [SLUICE_TEST_SHARED, SLUICE_TEST_PERMISSIONS] : [SLUICE_TEST_SHARED];
  for (const folder of temporary) await rm(folder, { recursive: true, force: true });
};

const end = async (state) => {
  const pid = (await readFacts(state))?.pids.runner;
  if (pid === undefined || !isAlive(pid)) return;
  process.kill(pid, 'SIGTERM');
  for (let poll = 0; poll < MAX_POLLS && isAlive(pid); poll++) await delay(POLL_MS);
};
