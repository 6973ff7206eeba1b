import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { compileCache } from '../../../infra/local/processes/compile-cache.ts';
import { lastFailures, logFolders } from '../run-logs.ts';

interface Settings {
  projectConfig: ConstructorParameters<typeof ModernFakeTimers>[0]['config'];
}

interface TestEvent {
  name: string;
  testName?: string;
  fn?: unknown;
  test?: { errors: readonly unknown[] };
}

// The first element of Jest's message to a worker that nothing is left to do.
const END = 2;

/**
 * A worker ends when it is told to. Otherwise it would wait until nothing is open, and Jest kills it with a warning
 * if that takes half a second, as on a busy machine.
 */
if (process.send) process.on('message', (message) => Array.isArray(message) && message[0] === END && setImmediate(() => process.exit()));

/**
 * Where a suite runs: in the process of its Jest worker. Jest's own environments are VM contexts, in which each suite
 * would evaluate all packages again, and code runs slower. What a suite changes of the process is restored after it.
 */
export default class ProcessEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  /** Timers of an old kind, which no test uses. */
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  readonly #before = { env: { ...process.env }, console: globalThis.console, exit: process.exit };

  constructor({ projectConfig }: Settings) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  getVmContext(): null {
    return null;
  }

  /**
   * Prints the failures in the logs of local runs after a test that failed: they say why, and are deleted with the run.
   *
   * Jest passes a function that has more parameters than its row of `test.each` has values a callback, and waits for it
   * to be called.
   * @throws Error for such a test or hook, as soon as it is defined
   */
  handleTestEvent({ name, testName, fn, test }: TestEvent): void {
    if (name === 'test_done' && test && test.errors.length > 0)
      for (const line of lastFailures(logFolders())) process.stderr.write(`${line}\n`);
    if (!['add_test', 'add_hook'].includes(name) || typeof fn !== 'function' || fn.length === 0) return;
    throw new Error(
      `${testName ? `The test '${testName}'` : 'A hook'} would wait for a callback. Give its function no more parameters than its row of test.each has values.`,
    );
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  async setup(): Promise<void> {
    // For the processes that suites start.
    Object.assign(process.env, compileCache);
  }

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    const { env, console, exit } = this.#before;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    globalThis.console = console;
    process.exit = exit;
  }
}
