import { readFileSync } from 'node:fs';

const { version, devDependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
  devDependencies: { node: string };
};

/** The version in package.json. */
export { version };

/** The version of Node that `npm ci` installs. */
export const nodeVersion = devDependencies.node;
