import { setTimeout as delay } from 'node:timers/promises';
import { inferenceHostRoutes } from '../../shared/hosts/inference-routes.ts';
import type { Server } from './client.ts';
import { startCpuWatch } from './lib/processes.ts';
import { median, percentile, rotated } from './lib/statistics.ts';
import { shownRatio } from './lib/table.ts';
import { applyLoad } from './load.ts';
import { candidatesBody, embeddingsBody, shortBody } from './prompts.ts';
import type { Findings } from './report.ts';
import { AFTERMATH_MS, ROUNDS } from './requests.ts';
import type { Stack } from './stack.ts';

const CONCURRENCY = 32;
const WARM_UP_REQUESTS = 200;
// CPU of a request with three candidates, of which the first one answers, as a multiple of a plain one's.
const MAX_CPU_OF_CANDIDATES = 1.15;

const names = ['chat', 'candidates', 'embeddings'] as const;
type Name = (typeof names)[number];

interface RouteFigures {
  cpuMs: number[];
  latenciesMs: number[];
}

/**
 * Measures a plain chat completion, the same one with three candidates, and the embedding of 32 inputs, in interleaved
 * rounds. All of them together take as long as one server in another phase.
 */
export const measureRoutes = async (stack: Stack, secondsPerPhase: number): Promise<Findings> => {
  const chat = stack.servers.sluice;
  const embeddings = { url: `${stack.run.base_url}${inferenceHostRoutes.createEmbeddings.path}`, headers: chat.headers };
  const requests: Record<Name, { server: Server; body: string }> = {
    chat: { server: chat, body: shortBody(false) },
    candidates: { server: chat, body: candidatesBody() },
    embeddings: { server: embeddings, body: embeddingsBody() },
  };
  const nothing = (): RouteFigures => ({ cpuMs: [], latenciesMs: [] });
  const seen: Record<Name, RouteFigures> = { chat: nothing(), candidates: nothing(), embeddings: nothing() };
  for (const { server, body } of Object.values(requests)) await applyLoad(server, body, CONCURRENCY, { requests: WARM_UP_REQUESTS });
  for (let round = 0; round < ROUNDS; round += 1)
    for (const name of rotated(names, round)) {
      const { server, body } = requests[name];
      const cpu = startCpuWatch(stack.pids);
      const { answers } = await applyLoad(server, body, CONCURRENCY, { ms: (secondsPerPhase * 1_000) / ROUNDS / names.length });
      await delay(AFTERMATH_MS);
      seen[name].cpuMs.push(cpu().inference / answers.length);
      seen[name].latenciesMs.push(...answers.map(({ latencyMs }) => latencyMs));
    }
  return toFindings(seen);
};

const toFindings = (seen: Record<Name, RouteFigures>): Findings => {
  const ratiosOf = (name: Name): number[] => seen[name].cpuMs.map((ms, round) => ms / (seen.chat.cpuMs[round] ?? Number.NaN));
  const at = `concurrency ${CONCURRENCY}`;
  const figuresOf = (name: Name, figure: string, target?: number): Findings['rows'] => [
    { figure: `${figure}: latency p50 ms, ${at}`, digits: 2, sluice: percentile(seen[name].latenciesMs, 0.5) },
    { figure: `${figure}: gateway CPU ms a request, ${at}`, digits: 3, sluice: median(seen[name].cpuMs) },
    { figure: `${figure}: CPU as a multiple of a plain chat's`, digits: 2, sluice: median(ratiosOf(name)), ...(target && { target }) },
  ];
  const spreadOf = (name: Name): string => {
    const ratios = ratiosOf(name);
    return `${name} ${shownRatio(Math.min(...ratios))} to ${shownRatio(Math.max(...ratios))}`;
  };
  return {
    rows: [
      ...figuresOf('candidates', 'chat with three candidates', MAX_CPU_OF_CANDIDATES),
      ...figuresOf('embeddings', 'embeddings, 32 inputs'),
    ],
    notes: [
      `\nA plain chat took ${median(seen.chat.cpuMs).toFixed(3)} ms of CPU in the same ${ROUNDS} rounds. Multiples of it in single rounds: ${spreadOf('candidates')}; ${spreadOf('embeddings')}.`,
    ],
  };
};
