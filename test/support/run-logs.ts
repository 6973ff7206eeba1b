import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

// A suite has its own copies of test modules, but the environment that prints the logs has not.
const FOLDERS = Symbol.for('sluice.folders-of-logs');
const MAX_LINES = 10;
const MAX_CHARACTERS = 2_000;
// An error, an answer of a model that failed, or what Lambda's runtime writes when a handler throws.
const FAILURE = /"level":"ERROR"|"failure":|^Invoke Error/;

/** The folders with the logs of the local runs of this worker. */
export const logFolders = (): Set<string> => {
  const place = globalThis as { [FOLDERS]?: Set<string> };
  place[FOLDERS] ??= new Set();
  return place[FOLDERS];
};

/** The last lines about failures in each log of these folders, after the name of the log. */
export const lastFailures = (folders: Iterable<string>): string[] =>
  [...folders].flatMap((folder) =>
    globSync('*.log', { cwd: folder })
      .sort()
      .flatMap((file) => {
        const lines = readFileSync(path.join(folder, file), 'utf8').split('\n');
        const failures = lines.filter((line) => FAILURE.test(line)).slice(-MAX_LINES);
        return failures.map((line) => `${file}: ${line.slice(0, MAX_CHARACTERS)}`);
      }),
  );
