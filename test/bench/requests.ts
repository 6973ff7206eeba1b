import { setTimeout as delay } from 'node:timers/promises';
import { machineBusyMs, startCpuWatch } from './lib/processes.ts';
import { median, percentile, rotated, sum } from './lib/statistics.ts';
import { toTable } from './lib/table.ts';
import { applyLoad } from './load.ts';
import { shortBody } from './prompts.ts';
import type { Findings, Row } from './report.ts';
import type { ServerName, Stack } from './stack.ts';

export const CONCURRENCIES = [1, 32];
// CPU of a request as a multiple of the proxy's, by concurrency.
const MAX_CPU_RATIOS: Readonly<Record<number, number>> = { 1: 10, 32: 8 };
// Portkey has no keys, limits or records here; LiteLLM has keys, limits and budgets.
const PEERS = { 'requests/s': 'Portkey 0.14×', 'CPU ms': 'Envoy 0.5×, Portkey 7.6×, LiteLLM 98×' };
// Odd, so that the median is the middle one.
export const ROUNDS = 9;
// Work after a reply, such as a log line or a freed socket, still counts in this time after a load.
export const AFTERMATH_MS = 20;

// One server, over all rounds.
interface ServerFigures {
  latenciesMs: number[];
  elapsedMs: number;
  /** The CPU time of all processes on the machine. */
  busyMs: number;
  cpuMs: Partial<Record<string, number>>;
  /** In each round: the CPU time of a request in the process of this server's gateway. */
  gatewayCpuMs: number[];
}

const gatewayProcess = { direct: 'container', proxy: 'proxy', sluice: 'inference' } as const;

const names = ['direct', 'proxy', 'sluice'] as const satisfies ServerName[];

/**
 * Measures replies of 16 tokens without streaming: requests per second, latency and CPU time of each process, at
 * concurrency 1 and 32, in interleaved rounds.
 */
export const measureRequests = async (stack: Stack, secondsPerPhase: number): Promise<Findings> => {
  const rows: Row[] = [];
  const notes: string[] = [];
  for (const concurrency of CONCURRENCIES) {
    const seen = await measureRounds(stack, concurrency, (secondsPerPhase * 1_000) / ROUNDS);
    rows.push(...toRows(seen, concurrency));
    notes.push(...toNotes(seen.sluice, concurrency));
  }
  notes.push(
    '\nWhat is not `inference` stands for AWS or is the load itself, and takes its share of the cores: requests/s say what this machine carries, ' +
      'CPU a request what a function costs. At concurrency 32 `direct` and `proxy` are held by the one thread of the container.',
  );
  return { rows, notes };
};

const measureRounds = async (stack: Stack, concurrency: number, sliceMs: number): Promise<Record<ServerName, ServerFigures>> => {
  const nothing = (): ServerFigures => ({ latenciesMs: [], elapsedMs: 0, busyMs: 0, cpuMs: {}, gatewayCpuMs: [] });
  const seen = { direct: nothing(), proxy: nothing(), sluice: nothing() };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of rotated(names, round)) {
      const busyBeforeMs = machineBusyMs();
      const cpu = startCpuWatch(stack.pids);
      const { answers, elapsedMs } = await applyLoad(stack.servers[name], shortBody(false), concurrency, { ms: sliceMs });
      await delay(AFTERMATH_MS);
      const used = cpu();
      for (const [process, ms] of Object.entries(used)) seen[name].cpuMs[process] = (seen[name].cpuMs[process] ?? 0) + ms;
      seen[name].gatewayCpuMs.push(used[gatewayProcess[name]] / answers.length);
      seen[name].latenciesMs.push(...answers.map(({ latencyMs }) => latencyMs));
      seen[name].elapsedMs += elapsedMs;
      seen[name].busyMs += machineBusyMs() - busyBeforeMs;
    }
  }
  return seen;
};

const toRows = (seen: Record<ServerName, ServerFigures>, concurrency: number): Row[] => {
  const of = (figure: (one: ServerFigures) => number): Record<ServerName, number> => ({
    direct: figure(seen.direct),
    proxy: figure(seen.proxy),
    sluice: figure(seen.sluice),
  });
  const at = `concurrency ${concurrency}`;
  return [
    {
      figure: `requests/s, ${at}`,
      digits: 0,
      ...of(({ latenciesMs, elapsedMs }) => (latenciesMs.length / elapsedMs) * 1_000),
      ...(concurrency > 1 && { peers: PEERS['requests/s'] }),
    },
    { figure: `latency p50 ms, ${at}`, digits: 2, ...of(({ latenciesMs }) => percentile(latenciesMs, 0.5)) },
    { figure: `latency p99 ms, ${at}`, digits: 2, ...of(({ latenciesMs }) => percentile(latenciesMs, 0.99)) },
    {
      figure: `gateway CPU ms a request, ${at}`,
      digits: 3,
      proxy: median(seen.proxy.gatewayCpuMs),
      sluice: median(seen.sluice.gatewayCpuMs),
      toProxy: ratiosOf(seen),
      targetRatio: MAX_CPU_RATIOS[concurrency] ?? Number.POSITIVE_INFINITY,
      ...(concurrency > 1 && { peers: PEERS['CPU ms'] }),
    },
  ];
};

const ratiosOf = ({ proxy, sluice }: Record<ServerName, ServerFigures>): number[] =>
  sluice.gatewayCpuMs.map((ms, round) => ms / (proxy.gatewayCpuMs[round] ?? Number.NaN));

const toNotes = ({ cpuMs, latenciesMs, elapsedMs, busyMs }: ServerFigures, concurrency: number): string[] => {
  const used = Object.entries(cpuMs).filter(([process]) => process !== 'proxy') as [string, number][];
  const whole = sum(used.map(([, ms]) => ms));
  const cores = (ms: number): string => (ms / elapsedMs).toFixed(2);
  return [
    `\nCPU of a Sluice request by process, concurrency ${concurrency} (${latenciesMs.length} requests). ${cores(whole)} cores are busy with it, ${cores(busyMs)} with everything on this machine:\n`,
    toTable([
      ['', ...used.map(([process]) => process), 'all'],
      ['CPU ms a request', ...[...used.map(([, ms]) => ms), whole].map((ms) => (ms / latenciesMs.length).toFixed(3))],
    ]),
  ];
};
