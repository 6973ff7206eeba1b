import { ask } from './client.ts';
import { openEmulators } from './emulators.ts';
import { median, rotated } from './lib/statistics.ts';
import { shortBody } from './prompts.ts';
import type { Findings } from './report.ts';
import type { ServerName, Stack } from './stack.ts';

const names = ['direct', 'proxy', 'sluice'] as const satisfies ServerName[];
const MAX_ROUNDS = 400;

/**
 * Measures the time to the first event with text at concurrency 1. The servers alternate, and each round is compared
 * on its own. What the emulators take on the way is measured in each round too: the target is for what the function
 * adds, because on AWS other services take their place.
 */
export const measureFirstToken = async (stack: Stack, secondsPerPhase: number): Promise<Findings> => {
  const firstMs: Record<ServerName, number[]> = { direct: [], proxy: [], sluice: [] };
  const emulators = openEmulators(stack);
  const emulatorsMs: number[] = [];
  const body = shortBody(true);
  const endsAt = performance.now() + secondsPerPhase * 1_000;
  let rounds = 0;
  for (; rounds < MAX_ROUNDS && performance.now() < endsAt; rounds += 1) {
    for (const name of rotated(names, rounds)) firstMs[name].push((await ask(stack.servers[name], body)).firstTokenMs ?? Number.NaN);
    const [refused, write, invocation] = [await emulators.refused(), await emulators.write(), await emulators.invocation()];
    emulatorsMs.push(refused + write + Math.max(0, invocation - (firstMs.direct[rounds] ?? 0)));
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
        hasRatios: false,
      },
      {
        figure: 'of it by the function, p50 ms',
        digits: 2,
        sluice: added('sluice') - median(emulatorsMs),
        target: 2,
      },
    ],
    notes: [
      `\nFirst token: ${rounds} rounds, each difference taken within its round. Of the added time, ${median(emulatorsMs).toFixed(2)} ms are the emulators' of API Gateway, Lambda, DynamoDB and SageMaker.`,
    ],
  };
};
