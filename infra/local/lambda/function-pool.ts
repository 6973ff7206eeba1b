import path from 'node:path';
import type { LambdaFunction } from '../../assembly/local-app.ts';
import { createBackoff } from '../processes/backoff.ts';
import { withLogFile } from '../processes/log-file.ts';
import type { ProcessList } from '../processes/process-list.ts';
import { createEnvironment, type ExecutionEnvironment } from './execution-environment.ts';
import type { Timeouts } from './function-timeouts.ts';
import { type Invocation, InvocationFailed } from './invocation.ts';

const MAX_WAITING = 1_000;
// Lambda would throttle at once, but has more environments. API Gateway waits for longer.
const MAX_WAIT_MS = 25_000;
const MAX_START_MS = 120_000;
const MAX_START_ATTEMPTS = 3;

export interface FunctionPoolOptions {
  fn: LambdaFunction;
  /** Starts the first process at the first invocation, which waits for it. */
  startsLate?: boolean | undefined;
  variables: Readonly<Record<string, string>>;
  /** The program of its processes, from `writeRuntimeProgram`. */
  program: string;
  /** Folder for sockets; its path must be short. */
  socketFolder: string;
  logFolder: string;
  /**
   * undefined: one process with concurrent invocations. n: up to n processes with one invocation each, frozen in
   * between, and no more than the function reserves.
   */
  environments: number | undefined;
  /** How long an invocation waits for a process while all of them are busy. Default: 25 seconds. */
  maxWaitMs?: number;
  clockOffsetMs: () => number;
  timeoutsOf: (fn: LambdaFunction) => Timeouts;
  processes: ProcessList;
  /** Called when a process has started or exited. */
  onChange: () => void;
  log: (line: string) => void;
}

/** The processes of one function. */
export interface FunctionPool {
  /** Resolves when the first process has loaded the bundle; at once if it starts late. */
  ready: Promise<void>;
  /**
   * Starts an invocation. It waits at most 25 seconds for a free process, and two minutes for one that is starting; at
   * most 1,000 invocations can wait.
   * @param payload the event as JSON
   * @param signal aborting it closes the function's response stream
   * @throws InvocationFailed if the function fails before its first byte
   */
  start(payload: Buffer, signal?: AbortSignal): Promise<Invocation>;
  pids(): number[];
  close(): Promise<void>;
}

interface Member {
  environment: ExecutionEnvironment;
  ready: boolean;
  inFlight: number;
}

interface Waiter {
  assign(member: Member): void;
  fail(error: Error): void;
}

/**
 * Manages the processes of a function. A process that exits is restarted, with a growing delay while it fails to
 * start.
 */
export const createFunctionPool = (options: FunctionPoolOptions): FunctionPool => {
  const { fn, log, maxWaitMs = MAX_WAIT_MS } = options;
  const capacity = options.environments === undefined ? Number.POSITIVE_INFINITY : 1;
  const maxMembers =
    options.environments === undefined ? 1 : Math.min(options.environments, fn.reservedConcurrency ?? options.environments);
  const members = new Set<Member>();
  const waiters: Waiter[] = [];
  const backoff = createBackoff();
  // Readers of its log need not know whether it has started.
  withLogFile(options.logFolder, fn.shortName, () => undefined);
  let starts = 0;
  let restart: NodeJS.Timeout | undefined;
  let closed = false;

  const spawn = (): Member => {
    starts += 1;
    const socketPath = path.join(options.socketFolder, `${fn.shortName.slice(0, 24)}.${starts}`);
    const environment = withLogFile(options.logFolder, fn.shortName, (logFile) =>
      createEnvironment({ ...options, socketPath, logFile, freezes: options.environments !== undefined }),
    );
    const member: Member = { environment, ready: false, inFlight: 0 };
    members.add(member);
    environment.ready.then(
      () => {
        member.ready = true;
        backoff.reset();
        serve(member);
      },
      (error: Error) => {
        for (const waiter of waiters.splice(0)) waiter.fail(error);
      },
    );
    void environment.exited.then(() => exited(member));
    options.onChange();
    return member;
  };

  const exited = (member: Member): void => {
    members.delete(member);
    if (closed) return;
    const delayMs = backoff.nextDelayMs();
    const { pid } = member.environment;
    const what =
      pid === 0
        ? `can't be started: ${process.execPath} is missing. Is npm ci running?`
        : `(process ${pid}) exited${member.ready ? '' : ' before it was ready'};`;
    log(`function ${fn.shortName} ${what} restarting in ${delayMs} ms`);
    options.onChange();
    restart ??= setTimeout(() => {
      restart = undefined;
      if (members.size === 0 || waiters.length > 0) grow();
    }, delayMs);
  };

  const grow = (): void => {
    if (members.size < maxMembers) spawn();
  };

  const serve = (member: Member): void => {
    while (waiters.length > 0 && member.inFlight < capacity) waiters.shift()?.assign(member);
    if (options.environments !== undefined && member.inFlight === 0) member.environment.freeze();
  };

  const wait = (): Promise<Member> =>
    new Promise((resolve, reject) => {
      if (waiters.length >= MAX_WAITING) {
        reject(new InvocationFailed(fn.shortName, 'throttled', 'Rate Exceeded: too many invocations are waiting'));
        return;
      }
      const giveUpAt = performance.now() + MAX_START_MS;
      const waiter: Waiter = {
        assign(member) {
          clearTimeout(timer);
          member.inFlight += 1;
          resolve(member);
        },
        fail(error) {
          clearTimeout(timer);
          reject(error);
        },
      };
      const expire = (): void => {
        // Lambda rejects nothing because an environment starts slowly, as a process does on a busy machine.
        if ([...members].some(({ ready }) => !ready) && performance.now() < giveUpAt) {
          timer = setTimeout(expire, maxWaitMs);
          return;
        }
        waiters.splice(waiters.indexOf(waiter), 1);
        reject(new InvocationFailed(fn.shortName, 'throttled', `Rate Exceeded: no process was free for ${maxWaitMs} ms`));
      };
      let timer = setTimeout(expire, maxWaitMs);
      waiters.push(waiter);
      if (restart === undefined) grow();
    });

  const acquire = (): Member | Promise<Member> => {
    for (const member of members) {
      if (!member.ready || !member.environment.alive() || member.inFlight >= capacity) continue;
      member.inFlight += 1;
      return member;
    }
    return wait();
  };

  const start = async (payload: Buffer, signal?: AbortSignal, attempt = 1): Promise<Invocation> => {
    if (closed) throw new InvocationFailed(fn.shortName, 'died', 'the local run is stopping');
    const member = await acquire();
    try {
      return await member.environment.start(payload, signal, () => {
        member.inFlight -= 1;
        if (members.has(member) && member.environment.alive()) serve(member);
      });
    } catch (error) {
      const reached = !(error instanceof InvocationFailed) || error.reason !== 'not_reached';
      if (reached || attempt === MAX_START_ATTEMPTS) throw error;
      return start(payload, signal, attempt + 1);
    }
  };

  return {
    ready: options.startsLate ? Promise.resolve() : spawn().environment.ready,
    start: (payload, signal) => start(payload, signal),
    pids: () => [...members].map(({ environment }) => environment.pid),
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(restart);
      for (const waiter of waiters.splice(0)) waiter.fail(new InvocationFailed(fn.shortName, 'died', 'the local run is stopping'));
      const ending = [...members].map(({ environment }) => environment);
      for (const environment of ending) environment.kill();
      await Promise.all(ending.map(({ exited: ended }) => ended));
    },
  };
};
