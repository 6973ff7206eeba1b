import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, ask, type Server } from '../client.ts';
import { cpuMs } from '../lib/processes.ts';
import { startAtRate } from '../lib/start-at-rate.ts';
import { median, rotated, sum } from '../lib/statistics.ts';
import { shownRatio, toTable } from '../lib/table.ts';
import { applyLoad } from '../load.ts';
import { findLongAnswer, shortBody } from '../prompts.ts';
import type { Findings, Row } from '../report.ts';
import { AFTERMATH_MS } from '../requests.ts';
import type { Stack } from '../stack.ts';
import { type Portkey, startPortkey } from './portkey.ts';

const ROUNDS = 10;
const WARM_UP = { concurrency: 16, ms: 4_000 };
const TOKEN_DELAY_MS = 5;

type Name = 'proxy' | 'portkey' | 'sluice';

interface Gateway {
  name: Name;
  server: Server;
  pid: number;
}

interface Kind {
  label: string;
  body: string;
  tokenDelayMs: number;
  /** The most CPU as a multiple of Portkey's. */
  target: number;
}

interface Seen {
  /** In each round: the gateway's CPU time of a request. */
  cpuMs: number[];
  latenciesMs: number[];
  chunks: number[];
}

/**
 * Measures the CPU time of a request in each gateway's process while requests come at a fixed rate, however fast they
 * are answered: between two of them, the caches become as cold as on a machine that has other work. The gateways take
 * turns in each round.
 */
export const measureRate = async (
  stack: Stack,
  { perSecond, secondsPerPhase, portkeyFolder }: { perSecond: number; secondsPerPhase: number; portkeyFolder: string | undefined },
): Promise<Findings> => {
  const portkey = portkeyFolder === undefined ? undefined : await startPortkey(portkeyFolder, stack.run.container_url);
  try {
    const gateways = gatewaysOf(stack, portkey);
    const bodies = await findLongAnswer(stack.servers.direct);
    const kinds: Kind[] = [
      { label: 'chat', body: shortBody(false), tokenDelayMs: 0, target: 1 },
      { label: 'stream of 100 chunks, back to back', body: bodies.middle, tokenDelayMs: 0, target: 0.8 },
      { label: `stream of 100 chunks, one every ${TOKEN_DELAY_MS} ms`, body: bodies.middle, tokenDelayMs: TOKEN_DELAY_MS, target: 0.8 },
    ];
    const count = Math.ceil((perSecond * secondsPerPhase) / kinds.length);
    const findings: Findings = { rows: [], notes: [noteOf(perSecond, count, portkey)] };
    for (const { server } of gateways)
      for (const { body } of kinds) await applyLoad(server, body, WARM_UP.concurrency, { ms: WARM_UP.ms / kinds.length });
    for (const kind of kinds) {
      await stack.run.control('container', { token_delay_ms: kind.tokenDelayMs });
      const seen = await measureRounds(gateways, kind.body, perSecond, count);
      findings.rows.push(...toRows(seen, kind));
      findings.notes.push(toTableOf(seen, kind, perSecond));
    }
    await stack.run.control('container');
    return findings;
  } finally {
    portkey?.close();
  }
};

const gatewaysOf = ({ servers, pids }: Stack, portkey: Portkey | undefined): Gateway[] => [
  { name: 'proxy', server: servers.proxy, pid: pids.proxy },
  ...(portkey ? [{ name: 'portkey' as const, server: portkey.server, pid: portkey.pid }] : []),
  { name: 'sluice', server: servers.sluice, pid: pids.inference },
];

const noteOf = (perSecond: number, count: number, portkey: Portkey | undefined): string =>
  `\nAt ${perSecond} requests a second, each started on time: ${ROUNDS} rounds, ${count} requests of each gateway in a round.` +
  (portkey ? '' : ' Portkey was left out: --portkey says where its package is installed.');

const measureRounds = async (
  gateways: readonly Gateway[],
  body: string,
  perSecond: number,
  count: number,
): Promise<ReadonlyMap<Name, Seen>> => {
  const all = new Map<Name, Seen>(gateways.map(({ name }) => [name, { cpuMs: [], latenciesMs: [], chunks: [] }]));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { name, server, pid } of rotated(gateways, round)) {
      const seen = all.get(name) as Seen;
      const before = cpuMs(pid);
      const answers: Answer[] = await startAtRate(perSecond, count, () => ask(server, body));
      await delay(AFTERMATH_MS);
      seen.cpuMs.push((cpuMs(pid) - before) / count);
      for (const { latencyMs, chunks } of answers) {
        seen.latenciesMs.push(latencyMs);
        seen.chunks.push(chunks);
      }
    }
  return all;
};

// In each round on its own.
const ratiosOf = (all: ReadonlyMap<Name, Seen>, name: Name, to: Name): number[] =>
  (all.get(name)?.cpuMs ?? []).map((ms, round) => ms / (all.get(to)?.cpuMs[round] ?? Number.NaN));

const toRows = (all: ReadonlyMap<Name, Seen>, { label, target }: Kind): Row[] => {
  const of = (name: Name): number => median(all.get(name)?.cpuMs ?? []);
  const rows: Row[] = [
    {
      figure: `gateway CPU ms a ${label}, fixed rate`,
      digits: 2,
      proxy: of('proxy'),
      sluice: of('sluice'),
      toProxy: ratiosOf(all, 'sluice', 'proxy'),
    },
  ];
  if (all.has('portkey'))
    rows.push({
      figure: `gateway CPU a ${label}, as a multiple of Portkey's`,
      digits: 2,
      sluice: median(ratiosOf(all, 'sluice', 'portkey')),
      target,
    });
  return rows;
};

const toTableOf = (all: ReadonlyMap<Name, Seen>, { label }: Kind, perSecond: number): string => {
  const range = (values: readonly number[], shown: (value: number) => string): string =>
    `${shown(median(values))} (${shown(Math.min(...values))} to ${shown(Math.max(...values))})`;
  const digits = (value: number): string => value.toFixed(2);
  const rows = [...all].map(([name, seen]) => [
    name,
    range(seen.cpuMs, digits),
    range(ratiosOf(all, name, 'proxy'), shownRatio),
    all.has('portkey') ? range(ratiosOf(all, name, 'portkey'), shownRatio) : '',
    median(seen.latenciesMs).toFixed(1),
    (sum(seen.chunks) / seen.chunks.length).toFixed(0),
  ]);
  return `\nA ${label}, ${perSecond} a second; medians and ranges of the rounds:\n\n${toTable([
    ['', 'CPU ms', 'to proxy', 'to Portkey', 'latency p50 ms', 'chunks'],
    ...rows,
  ])}`;
};
