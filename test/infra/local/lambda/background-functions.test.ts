import { expect, test } from '@jest/globals';
import { interpret } from '../../../../infra/assembly/interpret.ts';
import { readAssembly } from '../../../../infra/assembly/read-assembly.ts';
import { createIsBackground } from '../../../../infra/local/lambda/background-functions.ts';
import { assemblyDir } from '../../../support/assembly/assembly.ts';

test('functions for which callers of a host wait start with the run, and all others when they are needed', async () => {
  const app = interpret(await readAssembly(assemblyDir()));
  const isBackground = createIsBackground(app);
  const names = (background: boolean) => app.functions.filter((fn) => isBackground(fn) === background).map(({ shortName }) => shortName);
  expect(names(false).sort()).toEqual([
    'auth-challenge',
    'catalog',
    'console',
    'control',
    'inference',
    'machine-sign-in',
    'ondemand-catalog',
    'ondemand-inference',
    'sign-in',
    'single-sign-on',
    'tokenizer',
  ]);
  expect(names(true).sort()).toEqual([
    'benchmark',
    'billing',
    'deployments',
    'metering',
    'notifications',
    'payloads',
    'refusals',
    'rollup',
    'support',
  ]);
});
