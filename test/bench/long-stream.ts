import { LOCAL_MODEL } from '../../infra/local/container.ts';
import { residentMiB } from '../support/resident-memory.ts';
import { ask } from './client.ts';
import type { Findings } from './report.ts';
import type { Stack } from './stack.ts';

// Choices that do not end by themselves: 12,000 tokens, one chunk each.
const CHOICES = 3;
const TOKENS = 4_000;
const STREAMS = 4;
const SAMPLE_MS = 20;

const body = (tokens: number): string =>
  JSON.stringify({
    model: LOCAL_MODEL,
    messages: [{ role: 'user', content: 'Tell me about rivers.' }],
    stream: true,
    n: CHOICES,
    max_tokens: tokens,
    ignore_eos: true,
  });

/**
 * Measures the memory of the function before and while it forwards streams of more than 10,000 chunks, one after
 * another.
 */
export const measureLongStream = async ({ servers, pids }: Stack): Promise<Findings> => {
  await ask(servers.sluice, body(100));
  const before = residentMiB(pids.inference).now;
  let highest = before;
  const sampling = setInterval(() => {
    highest = Math.max(highest, residentMiB(pids.inference).now);
  }, SAMPLE_MS);
  let chunks = 0;
  for (let stream = 0; stream < STREAMS; stream += 1) chunks = (await ask(servers.sluice, body(TOKENS))).chunks;
  clearInterval(sampling);
  return {
    rows: [{ figure: 'gateway RSS MiB, grown by a long stream', digits: 1, sluice: highest - before, target: 20 }],
    notes: [`\nThe long stream: ${chunks} chunks in ${CHOICES} choices, ${STREAMS} times, from ${before.toFixed(0)} MiB at the start.`],
  };
};
