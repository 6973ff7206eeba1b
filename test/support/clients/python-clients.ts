import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { isFull } from '../sized.ts';

const INSTALL_TIMEOUT_MS = 300_000;
const MINIMUM = '3.10';

const run = promisify(execFile);

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

const install = async (packages: readonly string[], folder: string): Promise<void> => {
  await run('python3', ['-c', `import sys; sys.exit(sys.version_info < (${MINIMUM.replace('.', ', ')}))`]);
  await mkdir(path.dirname(folder), { recursive: true });
  const temporary = await mkdtemp(`${folder}-`);
  try {
    await run('python3', ['-m', 'venv', temporary]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:', ...packages];
    await run(path.join(temporary, 'bin/python'), pip, { timeout: INSTALL_TIMEOUT_MS });
    // Another worker may have been faster.
    await rename(temporary, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
};

/**
 * The path of a Python that has these packages, or undefined where there is none: the suite then prints the reason and
 * skips its tests. It is installed once under `~/.cache/sluice-clients`, at the full sizes of tests only.
 * @param packages with their versions, such as `anthropic==2.13.0`
 */
export const pythonWith = async (...packages: string[]): Promise<string | undefined> => {
  if (!isFull) return undefined;
  const folder = path.join(homedir(), '.cache/sluice-clients', digestOf(packages.join(' ')));
  try {
    if (!existsSync(folder)) await install(packages, folder);
    return path.join(folder, 'bin/python');
  } catch (error) {
    process.stderr.write(
      `\nSkipped: the tests of ${packages.join(', ')}, which need Python ${MINIMUM} and its registry. ${String(error)}\n`,
    );
    return undefined;
  }
};
