import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { sum } from './lib/statistics.ts';
import { toTable } from './lib/table.ts';
import { applyLoad } from './load.ts';
import { type Frame, profileProcess } from './profile.ts';
import { shortBody } from './prompts.ts';
import type { Findings } from './report.ts';
import type { Stack } from './stack.ts';

const CONCURRENCY = 32;
const MS_PER_SECOND = 1_000;

// The parts of a request's work by their code; the first that matches counts.
const PARTS: readonly (readonly [part: string, source: RegExp])[] = [
  ['HTTP and sockets (Node)', /^node:(?:_http|http|net|internal\/(?:http|streams?|stream_base))/],
  ['signing and hashing (Node)', /^node:(?:crypto|internal\/crypto)/],
  ['AWS client', /\/shared\/(?:aws|database)\//],
  ['logging', /\/shared\/logging\//],
  ['validation (zod)', /\/node_modules\/zod\//],
  ['packages', /\/node_modules\//],
  ['Lambda emulation', /\/infra\/local\//],
  ['our pipeline', /\/(?:functions|shared)\//],
];
const GARBAGE = 'garbage collection';
const REST = 'timers, promises, other';

const createSources = () => {
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = (url: string): SourceMap | undefined => {
    if (!maps.has(url)) {
      let map: SourceMap | undefined;
      try {
        map = new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')));
      } catch {
        // Not a bundle.
      }
      maps.set(url, map);
    }
    return maps.get(url);
  };
  return ({ url, lineNumber, columnNumber }: Frame): string => {
    const entry = url.startsWith('file:') ? mapOf(url)?.findEntry(lineNumber, columnNumber) : undefined;
    return entry && 'originalSource' in entry ? `/${entry.originalSource}` : url;
  };
};

// The part of a stack is that of the innermost function which belongs to one.
const partOf = (stack: readonly Frame[], sourceOf: (frame: Frame) => string): string | undefined => {
  if (stack[0]?.functionName === '(idle)') return undefined;
  if (stack[0]?.functionName === '(garbage collector)') return GARBAGE;
  for (const frame of stack) {
    const source = sourceOf(frame);
    const [part] = PARTS.find(([, pattern]) => pattern.test(source)) ?? [];
    if (part) return part;
  }
  return REST;
};

/** Measures which code a plain request's CPU time goes to, with V8's sampling profiler. */
export const measureParts = async ({ servers, pids }: Stack, secondsPerPhase: number): Promise<Findings> => {
  let requests = 0;
  const times = await profileProcess(pids.inference, async () => {
    const { answers } = await applyLoad(servers.sluice, shortBody(false), CONCURRENCY, { ms: secondsPerPhase * MS_PER_SECOND });
    requests = answers.length;
  });
  const sourceOf = createSources();
  const parts = new Map<string, number>();
  for (const { stack, microseconds } of times) {
    const part = partOf(stack, sourceOf);
    if (part) parts.set(part, (parts.get(part) ?? 0) + microseconds);
  }
  const whole = sum([...parts.values()]);
  const rows = [...parts]
    .sort(([, a], [, b]) => b - a)
    .map(([part, microseconds]) => [part, (microseconds / requests).toFixed(0), `${((microseconds / whole) * 100).toFixed(0)} %`]);
  return {
    rows: [],
    notes: [
      `\nCPU of a plain request by part, concurrency ${CONCURRENCY} (${requests} requests under the profiler, which adds to it):\n`,
      toTable([['', 'µs a request', 'share'], ...rows, ['all', (whole / requests).toFixed(0), '']]),
    ],
  };
};
