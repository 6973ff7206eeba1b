import { createRequire } from 'node:module';
import type ProcessEnvironment from './environment.ts';
import { openSuite } from './suite-modules.ts';

// Besides its configuration (https://jestjs.io/docs/configuration#testrunner-string).
interface JestRuntime {
  setGlobalsForRuntime: (globals: object) => void;
}
type TestRunner = (
  globalConfig: { watch: boolean; watchAll: boolean },
  config: object,
  environment: ProcessEnvironment,
  runtime: JestRuntime,
  testPath: string,
) => Promise<unknown>;

const require = createRequire(import.meta.url);
const { default: runWithCircus } = require('jest-circus/runner') as { default: TestRunner };

// Permissions are recorded under the path of the running suite.
const SUITE_VARIABLE = 'SLUICE_TEST_SUITE';

// A module of Jest holds the tests of one suite.
const requireAnew = (file: string): unknown => {
  delete require.cache[file];
  return require(file);
};

// Jest's handlers of a suite's events are kept here for the next suite, which would call them as well, and keep them.
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

// Streams and other modules of Node call them by the names that would be faked.
const USED_BY_NODE = ['nextTick', 'queueMicrotask'] as const;

const mocksOf = ({ moduleMocker, fakeTimersModern: timers }: ProcessEnvironment) => {
  const jest = {
    fn: moduleMocker.fn.bind(moduleMocker),
    spyOn: moduleMocker.spyOn.bind(moduleMocker),
    restoreAllMocks: (): void => moduleMocker.restoreAllMocks(),
    useFakeTimers: () => {
      timers.useFakeTimers({ doNotFake: [...USED_BY_NODE] });
      return jest;
    },
    useRealTimers: () => {
      timers.useRealTimers();
      return jest;
    },
    advanceTimersByTime: timers.advanceTimersByTime.bind(timers),
    advanceTimersByTimeAsync: timers.advanceTimersByTimeAsync.bind(timers),
  };
  return jest;
};

// Node loads modules in place of Jest. Jest gets whole suites only: its reporter goes over all single tests again and
// again, which takes 45 s of CPU for 9,500 of them.
const run: TestRunner = async (globalConfig, config, environment, runtime, testPath) => {
  process.env[SUITE_VARIABLE] = testPath;
  Reflect.deleteProperty(globalThis, EVENT_HANDLERS);
  const suite = openSuite({ canFilesChange: globalConfig.watch || globalConfig.watchAll });
  const native: JestRuntime = Object.assign(Object.create(runtime), {
    requireInternalModule: requireAnew,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: suite.import,
    setGlobalsForRuntime: (globals: object) => suite.setGlobals({ ...globals, jest: mocksOf(environment) }),
  });
  try {
    return await runWithCircus(globalConfig, config, environment, native, testPath);
  } finally {
    suite.close();
  }
};
export default run;
