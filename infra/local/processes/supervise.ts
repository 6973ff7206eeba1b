import type { ChildProcess } from 'node:child_process';
import { createBackoff } from './backoff.ts';
import type { ProcessList } from './process-list.ts';

interface SupervisedOptions<Facts> {
  name: string;
  /** Starts the process. `previous` has the facts of the process before it. */
  start(previous: Facts | undefined): ChildProcess;
  /** Resolves when the process can be used. */
  whenReady(child: ChildProcess): Promise<Facts>;
  /** Folder of its log. */
  logFolder: string;
  processes: ProcessList;
  onChange: () => void;
  log: (line: string) => void;
}

/** A process that is restarted when it exits. */
export interface Supervised<Facts> {
  /** Rejects if the first process exits before it is ready, or is not ready within two minutes. */
  ready: Promise<Facts>;
  pid(): number | undefined;
  close(): Promise<void>;
}

const READY_TIMEOUT_MS = 120_000;

/** Starts a process and keeps it running. */
export const supervise = <Facts>(options: SupervisedOptions<Facts>): Supervised<Facts> => {
  const backoff = createBackoff();
  let facts: Facts | undefined;
  let child: ChildProcess | undefined;
  let restart: NodeJS.Timeout | undefined;
  let exited: Promise<void> = Promise.resolve();
  let closed = false;

  const launch = async (): Promise<Facts> => {
    const started = options.start(facts);
    const { pid } = started;
    child = started;
    if (pid !== undefined) options.processes.started(pid);
    exited = new Promise((resolve) => {
      started.once('exit', () => {
        if (pid !== undefined) options.processes.ended(pid);
        child = undefined;
        resolve();
      });
      started.once('error', () => resolve());
    });
    options.onChange();
    let timer: NodeJS.Timeout | undefined;
    try {
      facts = await Promise.race([
        options.whenReady(started),
        exited.then(() => Promise.reject(new Error(`${options.name} exited before it was ready. See its log in ${options.logFolder}`))),
        new Promise<never>((_resolve, reject) => {
          timer = setTimeout(
            () => reject(new Error(`${options.name} was not ready within ${READY_TIMEOUT_MS} ms. See its log in ${options.logFolder}`)),
            READY_TIMEOUT_MS,
          );
        }),
      ]);
      backoff.reset();
      return facts;
    } catch (error) {
      started.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };

  const restartLater = (): void => {
    if (closed) return;
    const delayMs = backoff.nextDelayMs();
    options.log(`${options.name} exited; restarting in ${delayMs} ms`);
    options.onChange();
    restart = setTimeout(() => {
      launch().then(watch, restartLater);
    }, delayMs);
  };
  const watch = (): void => {
    void exited.then(restartLater);
  };

  const ready = launch();
  ready.then(watch, () => undefined);
  return {
    ready,
    pid: () => child?.pid,
    async close() {
      closed = true;
      clearTimeout(restart);
      child?.kill('SIGKILL');
      await exited;
    },
  };
};
