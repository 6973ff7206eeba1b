import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import type { Template } from 'aws-cdk-lib/assertions';
import { interpret } from '../../../../infra/assembly/interpret.ts';
import type { LambdaFunction } from '../../../../infra/assembly/local-app.ts';
import { readAssembly } from '../../../../infra/assembly/read-assembly.ts';
import { ReservedConcurrency } from '../../../../infra/config/config.ts';
import { assemblyDir } from '../../../support/assembly/assembly.ts';
import { type StackName, templateOf, templatesWith } from '../../../support/assembly/templates.ts';

const reservationsOf = (read: (stack: StackName) => Template): Record<string, number | undefined> =>
  Object.fromEntries(
    (['deployments', 'billing', 'notifications', 'serverless', 'ondemand', 'control'] as const)
      .flatMap((stack) => Object.values(read(stack).findResources('AWS::Lambda::Function')))
      .map(({ Properties }) => [Properties.Environment.Variables.SLUICE_FUNCTION, Properties.ReservedConcurrentExecutions]),
  );

test('no function reserves concurrency by default, so that the app can be deployed to a new account', () => {
  const reservations = reservationsOf(templateOf);
  expect(Object.keys(reservations)).toHaveLength(18);
  expect(Object.values(reservations).filter((count) => count !== undefined)).toEqual([]);
});

const SETTINGS = { reservedConcurrency: { inference: 7 }, memory: { inference: 300, control: 1_024 } };

test('every function reserves what is set for it', async () => {
  const templates = await templatesWith(SETTINGS);
  expect(reservationsOf(templates)).toEqual({ ...ReservedConcurrency.parse({}), inference: 7 });
});

test('refuses a function whose environment Lambda would refuse, and says what makes it so large', async () => {
  const otlp = [1, 2, 3, 4].map((host) => ({
    traces: `https://otlp-${host}.example.com/${'t'.repeat(400)}/v1/traces`,
    metrics: `https://otlp-${host}.example.com/${'m'.repeat(400)}/v1/metrics`,
  }));
  await expect(templatesWith({ telemetry: { otlp } })).rejects.toThrow(
    /environment of the function telemetry can have \d+ bytes, and Lambda accepts 4096\. Shorten .*: TELEMETRY_DESTINATIONS \(\d+\)/,
  );
});

test('every function has the memory that is set for it, and heaps that fit into it', async () => {
  const templates = await templatesWith(SETTINGS);
  const found = (['serverless', 'ondemand', 'control'] as const)
    .flatMap((stack) => Object.values(templates(stack).findResources('AWS::Lambda::Function')))
    .map(({ Properties: { Environment, MemorySize } }) => [
      Environment.Variables.SLUICE_FUNCTION,
      MemorySize,
      Environment.Variables.NODE_OPTIONS,
    ]);
  expect(found).toEqual(
    expect.arrayContaining([
      ['inference', 300, '--max-semi-space-size=2 --max-old-space-size=156 --v8-pool-size=1'],
      ['ondemand-inference', 165, '--max-semi-space-size=2 --max-old-space-size=40 --v8-pool-size=1'],
      ['control', 1_024, '--max-semi-space-size=16 --max-old-space-size=912'],
    ]),
  );
  await expect(templatesWith({ memory: { inference: 164 } })).rejects.toThrow('memory.inference');
});

test("inference has its own heap's limits on Lambda, whose script sets others", async () => {
  const { functions } = interpret(await readAssembly(assemblyDir()));
  const { folder, environment } = functions.find(({ shortName }) => shortName === 'inference') as LambdaFunction;
  const start = path.join(folder, path.basename(environment.AWS_LAMBDA_EXEC_WRAPPER ?? ''));
  // The command line of Lambda's script at 165 MB (/var/runtime/bootstrap).
  const command = [
    process.execPath,
    '--expose-gc',
    '--max-http-header-size',
    '81920',
    '--max-semi-space-size=8',
    '--max-old-space-size=148',
  ];
  const program =
    "process.stdout.write(JSON.stringify([require('v8').getHeapStatistics().heap_size_limit / 2 ** 20, typeof gc, process.argv]))";
  const args = [...command, '-e', program, 'two words'];
  const { stdout } = await promisify(execFile)(start, args, { env: { NODE_OPTIONS: environment.NODE_OPTIONS } });
  // The old generation of 40 MB, and a young one of three times 2 MB or a little more.
  const [limitMb, gc, argv] = JSON.parse(stdout);
  expect([limitMb < 52, gc, argv.at(-1)]).toEqual([true, 'function', 'two words']);
});
