import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { LambdaFunction } from '../../assembly/local-app.ts';
import { nodeOptionsOf } from '../../constructs/functions/node-options.ts';
import { collect } from '../http/collect.ts';
import { compileCache } from '../processes/compile-cache.ts';
import type { ProcessList } from '../processes/process-list.ts';
import type { Timeouts } from './function-timeouts.ts';
import { type Invocation, InvocationFailed, type InvocationFailure } from './invocation.ts';
import { CLOCK_OFFSET_HEADER, REMAINING_HEADER, REQUEST_ID_HEADER, type RuntimeMessage, type RuntimeOptions } from './runtime-options.ts';

const MAX_ERROR_BYTES = 262_144;
const EXIT_GRACE_MS = 100;

interface EnvironmentOptions {
  fn: LambdaFunction;
  variables: Readonly<Record<string, string>>;
  program: string;
  socketPath: string;
  /** A file descriptor for stdout and stderr. */
  logFile: number;
  /** Freezes the process between invocations, which then run one at a time. */
  freezes: boolean;
  /** How far the function's clock is from the machine's. */
  clockOffsetMs: () => number;
  timeoutsOf: (fn: LambdaFunction) => Timeouts;
  processes: ProcessList;
}

/** A process of a function: one of Lambda's execution environments. */
export interface ExecutionEnvironment {
  /** 0 if it could not be started. */
  pid: number;
  /** Rejects if the process exits before it has loaded the bundle. */
  ready: Promise<void>;
  exited: Promise<void>;
  /** False as soon as the process seems to be exiting, which can be before its exit event. */
  alive(): boolean;
  /**
   * Starts an invocation. `onEnd` is called once, when the function has finished too or the process has exited.
   * @throws InvocationFailed if the function fails or its process exits before the first byte
   */
  start(payload: Buffer, signal: AbortSignal | undefined, onEnd: () => void): Promise<Invocation>;
  freeze(): void;
  kill(): void;
}

/** Starts a process for a function. */
export const createEnvironment = (options: EnvironmentOptions): ExecutionEnvironment => {
  const { fn, socketPath } = options;
  const child = startProcess(options);
  const pid = child.pid ?? 0;
  const agent = new Agent({ keepAlive: true });
  const inFlight = new Set<() => void>();
  let settled = (): void => undefined;
  let alive = true;
  child.once('disconnect', () => {
    alive = false;
  });
  const exited = new Promise<void>((resolve) => {
    const end = (): void => {
      alive = false;
      agent.destroy();
      for (const endOne of inFlight) endOne();
      if (pid !== 0) options.processes.ended(pid);
      resolve();
    };
    child.once('exit', end);
    // A process that could not be started never exits.
    child.once('error', () => {
      if (pid === 0) end();
    });
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message: RuntimeMessage) => {
      if (message.type === 'ready') resolve();
      else settled();
    });
    child.once('error', reject);
    void exited.then(() => reject(new InvocationFailed(fn.shortName, 'died', 'the process exited before the bundle was loaded')));
  });
  ready.catch(() => undefined);
  // A connection can reset before the exit event. Callers wait for that event, so that the pool has started the next
  // process. If this process was held up, the timer is overdue before the event of an earlier exit is emitted.
  const waitForExit = (): Promise<boolean> => Promise.race([exited.then(() => true), delay(EXIT_GRACE_MS).then(() => nextTurn(false))]);

  // While it is unclear whether the process is exiting, it gets no more invocations.
  let exitChecks = 0;
  const checkExit = async (exit: Promise<boolean>): Promise<void> => {
    exitChecks += 1;
    await exit;
    exitChecks -= 1;
  };

  const start = (payload: Buffer, signal: AbortSignal | undefined, onEnd: () => void): Promise<Invocation> => {
    if (options.freezes) child.kill('SIGCONT');
    const requestId = randomUUID();
    const { timeoutMs, remainingMs } = options.timeoutsOf(fn);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      alive = false;
      child.kill('SIGKILL');
    }, timeoutMs);
    // A process can be frozen only after both the response and the handler have ended.
    let pending = options.freezes ? 2 : 1;
    const endPart = (): void => {
      pending -= 1;
      if (pending === 0) end();
    };
    const end = (): void => {
      if (!inFlight.delete(end)) return;
      clearTimeout(timer);
      onEnd();
    };
    inFlight.add(end);
    if (options.freezes) settled = endPart;
    const request = httpRequest({
      socketPath,
      agent,
      method: 'POST',
      headers: {
        [REQUEST_ID_HEADER]: requestId,
        [CLOCK_OFFSET_HEADER]: options.clockOffsetMs(),
        [REMAINING_HEADER]: remainingMs,
        'content-length': payload.length,
      },
      ...(signal && { signal }),
    });
    let isWhole = (): boolean => false;
    request.once('close', () => {
      if (isWhole()) endPart();
      else void checkExit(waitForExit()).then(endPart);
    });
    request.end(payload);
    return new Promise((resolve, reject) => {
      request.once('response', (response: IncomingMessage) => {
        isWhole = () => response.complete;
        if (response.statusCode === 200) resolve({ requestId, body: response });
        else functionError(fn, response).then(reject, reject);
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        const fail = (reason: InvocationFailure, detail: string): void => reject(new InvocationFailed(fn.shortName, reason, detail));
        if (signal?.aborted) fail('aborted', 'the caller disconnected');
        else if (timedOut) fail('timed_out', `timed out after ${timeoutMs} ms`);
        else if (error.code === 'ECONNREFUSED') void waitForExit().then(() => fail('not_reached', 'the process had exited'));
        else
          void waitForExit().then((died) =>
            died ? fail('died', 'the process exited during the invocation') : fail('function_error', 'the function closed its response'),
          );
      });
    });
  };
  return {
    pid,
    ready,
    exited,
    alive: () => alive && exitChecks === 0,
    start,
    freeze: () => void child.kill('SIGSTOP'),
    kill: () => void child.kill('SIGKILL'),
  };
};

// A process with concurrent invocations stands for many environments of Lambda, which have more memory together.
const MIN_SHARED_MIB = 256;
const manyAtOnce = ({ memoryMiB }: LambdaFunction): { NODE_OPTIONS: string } => ({
  NODE_OPTIONS: nodeOptionsOf(Math.max(MIN_SHARED_MIB, memoryMiB)),
});

const startProcess = ({ fn, variables, program, socketPath, logFile, freezes, processes }: EnvironmentOptions): ChildProcess => {
  const runtimeOptions: RuntimeOptions = {
    socketPath,
    folder: fn.folder,
    handler: fn.handler,
    functionName: fn.name,
    functionArn: fn.arn,
    memoryMiB: fn.memoryMiB,
    reportsSettled: freezes,
  };
  // Detached, so that Ctrl-C reaches only the runner, which then stops everything in order.
  const child = fork(program, [JSON.stringify(runtimeOptions)], {
    cwd: fn.folder,
    env: { ...variables, ...compileCache, ...(!freezes && manyAtOnce(fn)) },
    execArgv: [],
    detached: true,
    stdio: ['ignore', logFile, logFile, 'ipc'],
  });
  if (child.pid !== undefined) processes.started(child.pid);
  return child;
};

const functionError = async (fn: LambdaFunction, response: IncomingMessage): Promise<InvocationFailed> => {
  const { errorType, errorMessage } = JSON.parse((await collect(response, MAX_ERROR_BYTES)).toString());
  return new InvocationFailed(fn.shortName, 'function_error', `${errorType}: ${errorMessage}`, { errorType, errorMessage });
};
