import { beforeEach, expect, jest, test } from '@jest/globals';
import { resumeBenchmark } from '../../../functions/deployments/resume-benchmark.ts';
import type { Benchmark } from '../../../shared/deployments/benchmark.ts';
import { newTimedId } from '../../../shared/ids/id.ts';

const NOW = 1_800_000_000_000;
const id = newTimedId('deployment', NOW);

let lines: string[];
beforeEach(() => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
});

const resume = async (find: () => Promise<Partial<Benchmark> | undefined>, invoke?: () => Promise<void>): Promise<string[]> => {
  const invoked: string[] = [];
  const benchmarks = { find: find as () => Promise<Benchmark | undefined> };
  await resumeBenchmark({ benchmarks, invoke: invoke ?? (async (each) => void invoked.push(each)), now: () => NOW }, id);
  return invoked;
};

test.each<[string, Partial<Benchmark>]>([
  ['was just created', { status: 'queued' }],
  ['was left by a function without time', { status: 'running' }],
  ['has the lease of a function that died', { status: 'running', lease: { owner: 'a', until: NOW } }],
])('invokes the function for a benchmark that %s', async (_, row) => {
  expect(await resume(async () => row)).toEqual([id]);
});

test.each<[string, Partial<Benchmark> | undefined]>([
  ['runs', { status: 'running', lease: { owner: 'a', until: NOW + 1 } }],
  ['has finished', { status: 'finished' }],
  ['was stopped', { status: 'stopped' }],
  ['does not exist', undefined],
])('leaves alone a benchmark that %s', async (_, row) => {
  expect(await resume(async () => row)).toEqual([]);
});

test('never keeps a pass from succeeding', async () => {
  await resume(() => Promise.reject(new Error('The database is away.')));
  await resume(
    async () => ({ status: 'queued' }),
    () => Promise.reject(new Error('Lambda is away.')),
  );
  expect(lines.map((line) => JSON.parse(line).message)).toEqual(['benchmark_not_resumed', 'benchmark_not_resumed']);
});
