import { ask } from './client.ts';
import { shortBody } from './prompts.ts';
import type { Findings } from './report.ts';
import type { ServerName, Stack } from './stack.ts';
import { median, rotated } from './statistics.ts';

const names = ['direct', 'proxy', 'sluice'] as const satisfies ServerName[];
const MAX_ROUNDS = 400;

/** Measures the time to the first event with text at concurrency 1. The servers alternate, and each round is compared on its own. */
export const measureFirstToken = async (stack: Stack, secondsPerPhase: number): Promise<Findings> => {
  const firstMs: Record<ServerName, number[]> = { direct: [], proxy: [], sluice: [] };
  const body = shortBody(true);
  const endsAt = performance.now() + secondsPerPhase * 1_000;
  let rounds = 0;
  for (; rounds < MAX_ROUNDS && performance.now() < endsAt; rounds += 1) {
    for (const name of rotated(names, rounds)) firstMs[name].push((await ask(stack.servers[name], body)).firstTokenMs ?? Number.NaN);
  }
  const added = (name: ServerName): number => median(firstMs[name].map((ms, i) => ms - (firstMs.direct[i] ?? Number.NaN)));
  return {
    rows: [
      {
        figure: 'first token p50 ms, concurrency 1',
        digits: 2,
        direct: median(firstMs.direct),
        proxy: median(firstMs.proxy),
        sluice: median(firstMs.sluice),
      },
      {
        figure: 'added to first token p50 ms',
        digits: 2,
        proxy: added('proxy'),
        sluice: added('sluice'),
        target: 2,
        hasRatios: false,
      },
    ],
    notes: [`\nFirst token: ${rounds} rounds, each difference taken within its round.`],
  };
};
