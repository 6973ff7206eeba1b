import { expect, test } from '@jest/globals';
import { Config } from '../../../infra/config/config.ts';
import { contextOf, readFlags } from '../../../infra/local/options.ts';

test('--structured-outputs is the deployer’s setting, and without it the app is synthesized as it is', () => {
  const { sluice } = contextOf(readFlags(['--structured-outputs']));
  expect(Config.parse(sluice).structuredOutputs).toBe(true);
  expect(contextOf(readFlags([]))).toEqual({});
});

test('--structured-outputs is rejected with an assembly, which it cannot change', () => {
  expect(() => readFlags(['--structured-outputs', '--assembly', 'cdk.out'])).toThrow('Leave out --assembly.');
});
