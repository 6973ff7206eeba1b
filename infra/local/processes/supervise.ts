import type { ChildProcess } from 'node:child_process';
import { createBackoff } from './backoff.ts';
import type { ProcessList } from './process-list.ts';

interface SupervisedOptions<Facts> {
  readonly name: string;
  /** Starts the process; `previous` is what the one before it told. */
  start(previous: Facts | undefined): ChildProcess;
  /** Resolves when the process can be used. */
  whenReady(child: ChildProcess): Promise<Facts>;
  /** Where its output is. */
  readonly logFolder: string;
  readonly processes: ProcessList;
  readonly onChange: () => void;
  readonly log: (line: string) => void;
}

/** A process that is started again when it dies. */
export interface Supervised<Facts> {
  /** Rejects when the first process ends before it can be used, or is not ready in ten seconds. */
  readonly ready: Promise<Facts>;
  pid(): number | undefined;
  close(): Promise<void>;
}

const READY_TIMEOUT_MS = 10_000;

/** Starts a process and keeps it running. */
export const supervise = <Facts>(options: SupervisedOptions<Facts>): Supervised<Facts> => {
  const backoff = createBackoff();
  let facts: Facts | undefined;
  let child: ChildProcess | undefined;
  let restart: NodeJS.Timeout | undefined;
  let ended: Promise<void> = Promise.resolve();
  let closed = false;

  const launch = async (): Promise<Facts> => {
    const started = options.start(facts);
    const { pid } = started;
    child = started;
    if (pid !== undefined) options.processes.started(pid);
    ended = new Promise((resolve) => {
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
        ended.then(() => Promise.reject(new Error(`${options.name} ended before it was ready; see its log in ${options.logFolder}`))),
        new Promise<never>((_resolve, reject) => {
          timer = setTimeout(
            () => reject(new Error(`${options.name} was not ready in ${READY_TIMEOUT_MS} ms; see its log in ${options.logFolder}`)),
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

  const again = (): void => {
    if (closed) return;
    const delayMs = backoff.nextDelayMs();
    options.log(`${options.name} ended; it starts again in ${delayMs} ms`);
    options.onChange();
    restart = setTimeout(() => {
      launch().then(watch, again);
    }, delayMs);
  };
  const watch = (): void => {
    void ended.then(again);
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
      await ended;
    },
  };
};
