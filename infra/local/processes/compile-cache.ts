import path from 'node:path';

/** The folder of what the local run can make again. */
export const cacheFolder = path.join(import.meta.dirname, '../../../node_modules/.cache/sluice');

/**
 * The variable by which a Node process uses the compile cache of the local run. Its program must call
 * `flushCompileCache` when it has loaded or has served its first requests, because the local run ends its processes
 * with SIGKILL.
 */
export const compileCache = { NODE_COMPILE_CACHE: cacheFolder } as const;
