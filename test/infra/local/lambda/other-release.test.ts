import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createFunctionSet, type FunctionSet } from '../../../../infra/local/lambda/function-set.ts';
import { createFunctionTimeouts } from '../../../../infra/local/lambda/function-timeouts.ts';
import { createReleaseShares, RELEASE_FILE, readOtherRelease } from '../../../../infra/local/lambda/other-release.ts';
import { createProcessList } from '../../../../infra/local/processes/process-list.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { fixtureFunction } from '../fixtures.ts';

const folder = temporaryFolder();
const processes = createProcessList();
const shares = createReleaseShares();
const fn = fixtureFunction('buffered');
const stored = { shortName: 'buffered', folder: 'old', handler: 'index.handler', environment: {}, timeoutMs: 2_000, memoryMiB: 128 };
let functions: FunctionSet;

beforeAll(async () => {
  mkdirSync(path.join(folder.path, 'old'));
  writeFileSync(path.join(folder.path, 'old/index.mjs'), "export const handler = async () => 'old';");
  const release = { version: '0.0.1', functions: [stored, { ...stored, shortName: 'removed-since' }] };
  writeFileSync(path.join(folder.path, RELEASE_FILE), JSON.stringify(release));
  const url = 'http://127.0.0.1:1';
  functions = createFunctionSet({
    functions: [fn],
    secondRelease: { functions: await readOtherRelease(folder.path, [fn]), picksOther: shares.picksOther },
    endpoints: { dynamodbUrl: url, sagemakerUrl: url, s3Url: url, lambdaUrl: url, sqsUrl: url, sesUrl: url, cognitoUrl: null },
    logFolder: folder.path,
    environments: undefined,
    clockOffsetMs: () => 0,
    timeoutsOf: createFunctionTimeouts().of,
    processes,
    onChange: () => undefined,
    log: () => undefined,
  });
  await functions.ready;
});
afterAll(async () => {
  await functions.close();
  processes.close();
  await folder[Symbol.asyncDispose]();
});

const served = async (times: number): Promise<string[]> => {
  const results: string[] = [];
  for (let i = 0; i < times; i++) results.push((await functions.invoke('buffered', { action: 'nothing' })) === 'old' ? 'old' : 'new');
  return results;
};

test.each([
  [0, ['new', 'new', 'new', 'new']],
  [0.25, ['new', 'new', 'new', 'old']],
  [0.5, ['new', 'old', 'new', 'old']],
  [1, ['old', 'old', 'old', 'old']],
])('sends a share of %d of the invocations to the other release', async (other_share, expected) => {
  shares.settings.set({ other_share });
  expect(await served(4)).toEqual(expected);
});

test('counts which release got an invocation, and shows the processes of both', async () => {
  shares.settings.set({ other_share: 0 });
  const before = shares.settings.show() as { invocations: Record<string, { own: number; other: number }> };
  const { own = 0, other = 0 } = before.invocations.buffered ?? {};
  await served(2);
  shares.settings.set({ other_share: 1 });
  await served(1);
  expect(shares.settings.show()).toEqual({ other_share: 1, invocations: { buffered: { own: own + 2, other: other + 1 } } });
  expect(functions.pids()).toEqual({ buffered: [expect.any(Number)], 'buffered:other': [expect.any(Number)] });
});
