import path from 'node:path';
import { compileCache } from '../../../infra/local/processes/compile-cache.ts';

/** An environment without credentials, whose programs end when they open a connection. @param home an empty folder */
export const isolatedEnvironment = (home: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: home,
  NODE_OPTIONS: `--import=${path.join(import.meta.dirname, 'deny-network.mjs')}`,
  ...compileCache,
});
