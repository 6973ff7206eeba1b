import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from './client.ts';
import { startCpuWatch } from './lib/processes.ts';
import { median, percentile, rotated } from './lib/statistics.ts';
import { shownRatio } from './lib/table.ts';
import { applyLoad } from './load.ts';
import { shortBody } from './prompts.ts';
import type { Findings } from './report.ts';
import { AFTERMATH_MS, CONCURRENCIES, ROUNDS } from './requests.ts';
import type { Stack } from './stack.ts';

interface RouteFigures {
  cpuMs: number[];
  latenciesMs: number[];
}

/** Measures the same request as a message and as a chat completion, in interleaved rounds. */
export const measureMessages = async ({ servers, messages, pids }: Stack, secondsPerPhase: number): Promise<Findings> => {
  const findings: Findings = { rows: [], notes: [] };
  const routes = { messages, chat: servers.sluice } as const satisfies Record<string, Server>;
  for (const concurrency of CONCURRENCIES) {
    const seen: Record<keyof typeof routes, RouteFigures> = {
      messages: { cpuMs: [], latenciesMs: [] },
      chat: { cpuMs: [], latenciesMs: [] },
    };
    for (let round = 0; round < ROUNDS; round += 1)
      for (const name of rotated(['messages', 'chat'] as const, round)) {
        const cpu = startCpuWatch(pids);
        const { answers } = await applyLoad(routes[name], shortBody(false), concurrency, { ms: (secondsPerPhase * 1_000) / ROUNDS });
        await delay(AFTERMATH_MS);
        seen[name].cpuMs.push(cpu().inference / answers.length);
        seen[name].latenciesMs.push(...answers.map(({ latencyMs }) => latencyMs));
      }
    const figure = `concurrency ${concurrency}`;
    findings.rows.push(
      { figure: `Messages: latency p50 ms, ${figure}`, digits: 2, sluice: percentile(seen.messages.latenciesMs, 0.5) },
      { figure: `Messages: gateway CPU ms a request, ${figure}`, digits: 3, sluice: median(seen.messages.cpuMs) },
    );
    const ratios = seen.messages.cpuMs.map((ms, round) => ms / (seen.chat.cpuMs[round] ?? Number.NaN));
    findings.notes.push(
      `\nMessages, ${figure}: ${shownRatio(median(ratios))} of a chat completion's CPU, which was ${median(seen.chat.cpuMs).toFixed(3)} ms in the same rounds.`,
    );
  }
  return findings;
};
