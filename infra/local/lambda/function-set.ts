import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LambdaFunction } from '../../assembly/local-app.ts';
import { collect } from '../http/collect.ts';
import { type Endpoints, functionVariables, type Hosts } from './environment-variables.ts';
import { createFunctionPool, type FunctionPool, type FunctionPoolOptions } from './function-pool.ts';
import type { Invocation } from './invocation.ts';
import type { ReleaseShares } from './other-release.ts';
import { writeRuntimeProgram } from './runtime-program.ts';

const MAX_RESULT_BYTES = 6_291_556;
// Follows the short name of a function of the second release.
const SECOND_RELEASE_SUFFIX = ':other';

interface FunctionSetOptions
  extends Pick<FunctionPoolOptions, 'logFolder' | 'environments' | 'clockOffsetMs' | 'timeoutsOf' | 'processes' | 'onChange' | 'log'> {
  functions: readonly LambdaFunction[];
  /** True if a function starts only at its first invocation. Default: none does. */
  startsLate?: ((fn: LambdaFunction) => boolean) | undefined;
  /** Another release of some of them, and which one gets an invocation. */
  secondRelease?: { functions: readonly LambdaFunction[]; picksOther: ReleaseShares['picksOther'] } | undefined;
  endpoints: Endpoints;
  /** URLs of the local hosts, for functions with HOST_SCOPE or CONTROL_URL. */
  hosts?: Hosts | undefined;
  /** The longest batching window of event sources. */
  batchWindowMs?: number | undefined;
}

export class FunctionNotFound extends Error {
  constructor(name: string) {
    super(`Function ${name} does not exist`);
    this.name = 'FunctionNotFound';
  }
}

/** All functions of the app. A function is identified by its short name, its name or its ARN. */
export interface FunctionSet {
  /** Resolves when each function that does not start late has a process that has loaded its bundle. */
  ready: Promise<void>;
  exists(name: string): boolean;
  /** Starts an invocation; see FunctionPool.start. Rejects with FunctionNotFound for an unknown name. */
  start(name: string, payload: Buffer, signal?: AbortSignal): Promise<Invocation>;
  /**
   * Invokes a function as `lambda:Invoke` does and returns its parsed result. Rejects with InvocationFailed if it
   * fails.
   */
  invoke(name: string, event: unknown): Promise<unknown>;
  /** Process ids by short name; `inference:other` are those of another release. */
  pids(): Record<string, number[]>;
  close(): Promise<void>;
}

/** Starts the processes of all functions. */
export const createFunctionSet = (options: FunctionSetOptions): FunctionSet => {
  const socketFolders: string[] = [];
  const { endpoints, hosts, batchWindowMs, secondRelease, startsLate = () => false } = options;
  const startPools = (functions: readonly LambdaFunction[]) => {
    // A socket path is limited to about 100 characters, so it cannot be in the state folder.
    const socketFolder = mkdtempSync(path.join(tmpdir(), 'sluice-'));
    socketFolders.push(socketFolder);
    const program = writeRuntimeProgram();
    return functions.map((fn): { fn: LambdaFunction; pool: FunctionPool } => ({
      fn,
      pool: createFunctionPool({
        ...options,
        fn,
        startsLate: startsLate(fn),
        program,
        socketFolder,
        variables: functionVariables(fn, endpoints, hosts, batchWindowMs),
      }),
    }));
  };
  const pools = startPools(options.functions);
  const others = secondRelease ? startPools(secondRelease.functions) : [];
  const all = [...pools, ...others];

  const find = (name: string) => pools.find(({ fn }) => fn.arn === name || fn.shortName === name || fn.name === name);

  const start = async (name: string, payload: Buffer, signal?: AbortSignal): Promise<Invocation> => {
    const found = find(name);
    if (!found) throw new FunctionNotFound(name);
    const { shortName } = found.fn;
    const other = others.find(({ fn }) => fn.shortName === shortName);
    return (other && secondRelease?.picksOther(shortName) ? other : found).pool.start(payload, signal);
  };

  return {
    ready: Promise.all(all.map(({ pool }) => pool.ready)).then(() => undefined),
    exists: (name) => find(name) !== undefined,
    start,
    async invoke(name, event) {
      const { body } = await start(name, Buffer.from(JSON.stringify(event)));
      const result = (await collect(body, MAX_RESULT_BYTES)).toString();
      return result === '' ? null : JSON.parse(result);
    },
    pids: () =>
      Object.fromEntries([
        ...pools.map(({ fn, pool }) => [fn.shortName, pool.pids()]),
        ...others.map(({ fn, pool }) => [`${fn.shortName}${SECOND_RELEASE_SUFFIX}`, pool.pids()]),
      ]),
    async close() {
      await Promise.all(all.map(({ pool }) => pool.close()));
      await Promise.all(socketFolders.map((folder) => rm(folder, { recursive: true, force: true })));
    },
  };
};
