import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LambdaFunction } from '../assembly/local-app.ts';
import type { ProcessList } from '../processes/process-list.ts';
import { collect } from './collect.ts';
import { type Invocation, InvocationFailed, type InvocationFailure } from './invocation.ts';
import { REQUEST_ID_HEADER, type RuntimeMessage, type RuntimeOptions } from './runtime-options.ts';

const RUNTIME = path.join(import.meta.dirname, 'runtime.ts');
const MAX_ERROR_BYTES = 262_144;
const EXIT_GRACE_MS = 100;

interface EnvironmentOptions {
  readonly fn: LambdaFunction;
  readonly variables: Readonly<Record<string, string>>;
  readonly socketPath: string;
  /** A file descriptor for stdout and stderr. */
  readonly logFile: number;
  /** Freezes the process between invocations; it then takes one at a time. */
  readonly freezes: boolean;
  readonly processes: ProcessList;
}

/** One process of a function: an execution environment of Lambda. */
export interface ExecutionEnvironment {
  readonly pid: number;
  /** Rejects when the process ends before it has loaded the bundle. */
  readonly ready: Promise<void>;
  readonly exited: Promise<void>;
  /** False from the first sign that the process ends, which may come before its exit. */
  alive(): boolean;
  /**
   * Starts an invocation; `over` is called once, when it is over in the function too, or the process has died.
   * @throws InvocationFailed when the function fails or dies before its first byte
   */
  start(payload: Buffer, signal: AbortSignal | undefined, over: () => void): Promise<Invocation>;
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
    child.once('exit', () => {
      agent.destroy();
      for (const end of inFlight) end();
      options.processes.ended(pid);
      resolve();
    });
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message: RuntimeMessage) => {
      if (message.type === 'ready') resolve();
      else settled();
    });
    child.once('error', reject);
    void exited.then(() => reject(new InvocationFailed(fn.shortName, 'died', 'the process ended before the bundle was loaded')));
  });
  ready.catch(() => undefined);
  // A reset connection is the first sign of a process that ends: who hears of it should find the next process on its way.
  const exitedSoon = (): Promise<boolean> => Promise.race([exited.then(() => true), delay(EXIT_GRACE_MS, false)]);

  // While it is not known whether the process ends, it gets no other invocation.
  let doubts = 0;
  const inDoubt = async (exit: Promise<boolean>): Promise<void> => {
    doubts += 1;
    await exit;
    doubts -= 1;
  };

  const start = (payload: Buffer, signal: AbortSignal | undefined, over: () => void): Promise<Invocation> => {
    if (options.freezes) child.kill('SIGCONT');
    const requestId = randomUUID();
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      alive = false;
      child.kill('SIGKILL');
    }, fn.timeoutMs);
    // Two things must end before a process may be frozen: the answer, and the handler.
    let pending = options.freezes ? 2 : 1;
    const part = (): void => {
      pending -= 1;
      if (pending === 0) end();
    };
    const end = (): void => {
      if (!inFlight.delete(end)) return;
      clearTimeout(timer);
      over();
    };
    inFlight.add(end);
    if (options.freezes) settled = part;
    const request = httpRequest({
      socketPath,
      agent,
      method: 'POST',
      headers: { [REQUEST_ID_HEADER]: requestId, 'content-length': payload.length },
      ...(signal && { signal }),
    });
    let isWhole = (): boolean => false;
    request.once('close', () => {
      if (isWhole()) part();
      else void inDoubt(exitedSoon()).then(part);
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
        if (signal?.aborted) fail('aborted', 'the caller went away');
        else if (timedOut) fail('timed_out', `timed out after ${fn.timeoutMs} ms`);
        else if (error.code === 'ECONNREFUSED') void exitedSoon().then(() => fail('not_reached', 'the process had ended'));
        else
          void exitedSoon().then((died) =>
            died ? fail('died', 'the process ended in the middle of an invocation') : fail('function_error', 'it closed its response'),
          );
      });
    });
  };
  return {
    pid,
    ready,
    exited,
    alive: () => alive && doubts === 0,
    start,
    freeze: () => void child.kill('SIGSTOP'),
    kill: () => void child.kill('SIGKILL'),
  };
};

const startProcess = ({ fn, variables, socketPath, logFile, freezes, processes }: EnvironmentOptions): ChildProcess => {
  const runtimeOptions: RuntimeOptions = {
    socketPath,
    folder: fn.folder,
    handler: fn.handler,
    functionName: fn.name,
    functionArn: fn.arn,
    timeoutMs: fn.timeoutMs,
    memoryMiB: fn.memoryMiB,
    reportsSettled: freezes,
  };
  // Detached: a Ctrl-C in the terminal is for the runner alone, which then ends everything in order.
  const child = fork(RUNTIME, [JSON.stringify(runtimeOptions)], {
    cwd: fn.folder,
    env: { ...variables },
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
