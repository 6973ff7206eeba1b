import { setTimeout as delay } from 'node:timers/promises';
import type { Bound } from './lib/keep-in-flight.ts';
import { startCpuWatch } from './lib/processes.ts';
import { median, rotated, sum } from './lib/statistics.ts';
import { applyLoad } from './load.ts';
import { findLongAnswer, type StreamBodies } from './prompts.ts';
import type { Findings, Row } from './report.ts';
import type { Stack } from './stack.ts';

const gateways = ['proxy', 'sluice'] as const;
type Gateway = (typeof gateways)[number];
const gatewayProcess = { proxy: 'proxy', sluice: 'inference' } as const;

const AFTERMATH_MS = 20;
// Odd, so that the median is the middle one.
const ROUNDS = 5;

const LENGTHS = ['short', 'middle', 'long'] as const;
type ByLength<Value> = Record<(typeof LENGTHS)[number], Value>;

// Streams at once, the container's delay between tokens, and the duration of the load.
interface Pace {
  label: string;
  concurrency: number;
  tokenDelayMs: number;
  bounds: ByLength<Bound>;
  /** The most CPU of a stream of 100 chunks as a multiple of the proxy's. */
  targetRatio: number;
}

const paces = (secondsPerPhase: number): Pace[] => {
  const bound = { ms: (secondsPerPhase * 1_000) / (2 * ROUNDS) };
  return [
    {
      label: 'back to back',
      concurrency: 8,
      tokenDelayMs: 0,
      bounds: { short: bound, middle: bound, long: bound },
      targetRatio: 2.5,
    },
    // 16 long streams at once take about two seconds.
    {
      label: 'one every 5 ms',
      concurrency: 16,
      tokenDelayMs: 5,
      bounds: { short: bound, middle: bound, long: { requests: 16 } },
      targetRatio: 1.6,
    },
  ];
};

interface Streams {
  cpuMs: number;
  streams: number;
  chunks: number;
  writes: number;
  /** In each round: the CPU time of a stream. */
  roundsCpuMs: number[];
}

/**
 * The CPU time of a stream in the gateway's process. The cost of a chunk is the difference between long and short
 * streams of the same request, which excludes the cost of the request. Chunks are counted as the caller receives
 * them.
 */
export const measureChunks = async (stack: Stack, secondsPerPhase: number): Promise<Findings> => {
  const bodies = await findLongAnswer(stack.servers.direct);
  const findings: Findings = { rows: [], notes: [] };
  for (const pace of paces(secondsPerPhase)) {
    await stack.run.control('container', { token_delay_ms: pace.tokenDelayMs });
    const seen = await measureRounds(stack, pace, bodies);
    findings.rows.push(...toRows(seen, pace));
    findings.notes.push(toNote(seen.sluice, pace));
  }
  await stack.run.control('container');
  return findings;
};

const toNote = ({ short, middle, long }: ByLength<Streams>, { label, concurrency }: Pace): string =>
  `\nStreams ${label}, ${concurrency} at once: ${(long.chunks / long.streams).toFixed(0)} chunks long (${long.streams} streams), ${(middle.chunks / middle.streams).toFixed(0)} (${middle.streams}) and ` +
  `${(short.chunks / short.streams).toFixed(0)} (${short.streams}); Sluice writes ${(long.chunks / long.writes).toFixed(2)} chunks at a time.`;

const measureRounds = async (
  stack: Stack,
  { concurrency, bounds }: Pace,
  bodies: StreamBodies,
): Promise<Record<Gateway, ByLength<Streams>>> => {
  const nothing = (): Streams => ({ cpuMs: 0, streams: 0, chunks: 0, writes: 0, roundsCpuMs: [] });
  const each = (): ByLength<Streams> => ({ short: nothing(), middle: nothing(), long: nothing() });
  const seen = { proxy: each(), sluice: each() };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const length of LENGTHS) {
      for (const gateway of rotated(gateways, round)) {
        const cpu = startCpuWatch(stack.pids);
        const { answers } = await applyLoad(stack.servers[gateway], bodies[length], concurrency, bounds[length]);
        await delay(AFTERMATH_MS);
        const one = seen[gateway][length];
        const usedMs = cpu()[gatewayProcess[gateway]];
        one.cpuMs += usedMs;
        one.roundsCpuMs.push(usedMs / answers.length);
        one.streams += answers.length;
        one.chunks += sum(answers.map(({ chunks }) => chunks));
        one.writes += sum(answers.map(({ writes }) => writes));
      }
    }
  }
  return seen;
};

const ratiosOf = (sluice: Streams, proxy: Streams): number[] =>
  sluice.roundsCpuMs.map((ms, round) => ms / (proxy.roundsCpuMs[round] ?? Number.NaN));

const toRows = (seen: Record<Gateway, ByLength<Streams>>, { label, targetRatio }: Pace): Row[] => {
  const aStream = ({ cpuMs, streams }: Streams): number => cpuMs / streams;
  const aChunk = ({ short, long }: ByLength<Streams>): number =>
    ((aStream(long) - aStream(short)) / (long.chunks / long.streams - short.chunks / short.streams)) * 1_000;
  return [
    {
      figure: `gateway CPU ms a stream of 100 chunks, ${label}`,
      digits: 2,
      proxy: median(seen.proxy.middle.roundsCpuMs),
      sluice: median(seen.sluice.middle.roundsCpuMs),
      toProxy: ratiosOf(seen.sluice.middle, seen.proxy.middle),
      peers: 'LiteLLM 90×',
      targetRatio,
    },
    {
      figure: `gateway CPU ms a long stream, ${label}`,
      digits: 2,
      proxy: aStream(seen.proxy.long),
      sluice: aStream(seen.sluice.long),
      peers: 'Portkey 2.1×',
    },
    { figure: `gateway CPU µs a chunk, ${label}`, digits: 1, proxy: aChunk(seen.proxy), sluice: aChunk(seen.sluice) },
  ];
};
