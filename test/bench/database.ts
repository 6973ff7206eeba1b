import { setTimeout as delay } from 'node:timers/promises';
import { startWholeRun } from '../support/clients/local-run.ts';
import { ask, type Server } from './client.ts';
import { measureKinds } from './key-kinds.ts';
import { median, sum } from './lib/statistics.ts';
import { applyLoad } from './load.ts';
import { type Observer, type SeenCall, startObserver } from './observer.ts';
import { shortBody } from './prompts.ts';
import type { Findings } from './report.ts';
import { openSluice, publishModels, type Stack } from './stack.ts';

const WARM_UP_REQUESTS = 10;
const REQUESTS = 50;
const CONCURRENCY = 32;
const CONCURRENT_REQUESTS = 640;
// Long enough for all requests to be in flight at once: a key's item has an entry for each, and its size determines the
// cost.
const SLOW_FIRST_TOKEN_MS = 100;
const AFTERMATH_MS = 50;

/**
 * Measures DynamoDB calls and write units of a warm request. A second local run has an observer in front of its
 * database and its container, which sees the real order of calls and does not disturb the first run.
 */
export const measureDatabase = async (stack: Stack): Promise<Findings> => {
  const observer = await startObserver(stack.run.dynamodb_endpoint, stack.run.container_url);
  process.env.DYNAMODB_ENDPOINT = observer.databaseUrl;
  try {
    const run = await startWholeRun('--container', `${observer.containerUrl}/invocations`);
    try {
      await publishModels(run);
      const { server } = await openSluice(run);
      const findings = await measure(stack, observer, server);
      const kinds = await measureKinds(run, observer);
      return { rows: [...findings.rows, ...kinds.rows], notes: [...findings.notes, ...kinds.notes] };
    } finally {
      await run.close();
    }
  } finally {
    delete process.env.DYNAMODB_ENDPOINT;
    await observer.close();
  }
};

const measure = async ({ run }: Stack, observer: Observer, server: Server): Promise<Findings> => {
  for (let request = 0; request < WARM_UP_REQUESTS; request += 1) await ask(server, shortBody(false));
  const requests: SeenCall[][] = [];
  for (let request = 0; request < REQUESTS; request += 1) {
    await delay(2);
    observer.take();
    await ask(server, shortBody(false));
    requests.push(observer.take());
  }
  await run.control('container', { first_token_delay_ms: SLOW_FIRST_TOKEN_MS });
  await applyLoad(server, shortBody(false), CONCURRENCY, { requests: CONCURRENCY });
  await delay(AFTERMATH_MS);
  observer.take();
  await applyLoad(server, shortBody(false), CONCURRENCY, { requests: CONCURRENT_REQUESTS });
  await delay(AFTERMATH_MS);
  const concurrent = observer.take().filter(isDatabase);
  await run.control('container');

  const before = requests.map((calls) => calls.findIndex(({ to }) => to === 'container'));
  const after = requests.map((calls, i) => calls.length - 1 - (before[i] ?? 0));
  const writeUnits = requests.map((calls) => sum(calls.map((call) => call.writeUnits)));
  const mostOften = mode(requests.map((calls) => calls.map(toWord).join(', ')));
  return {
    rows: [
      { figure: 'DynamoDB calls before upstream, warm', digits: 0, sluice: median(before), target: 1 },
      { figure: 'DynamoDB calls after upstream, warm', digits: 0, sluice: median(after) },
      { figure: 'write units a request, 1 in flight', digits: 2, sluice: sum(writeUnits) / REQUESTS, target: 4 },
      {
        figure: `DynamoDB calls a request, ${CONCURRENCY} in flight`,
        digits: 2,
        sluice: concurrent.length / CONCURRENT_REQUESTS,
      },
      {
        figure: `write units a request, ${CONCURRENCY} in flight on one key`,
        digits: 2,
        sluice: sum(concurrent.map((call) => call.writeUnits)) / CONCURRENT_REQUESTS,
        target: 4,
      },
    ],
    notes: [
      `\nA warm request: ${mostOften.value} (${mostOften.count} of ${REQUESTS} requests; write units in brackets, counted by dynoxide as DynamoDB's ConsumedCapacity).`,
    ],
  };
};

const isDatabase = ({ to }: SeenCall): boolean => to === 'database';

const toWord = ({ to, operation, table, writeUnits }: SeenCall): string =>
  to === 'container' ? 'INVOKE' : `${operation} ${table} (${writeUnits})`;

const mode = (values: readonly string[]): { value: string; count: number } => {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const [value = '', count = 0] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
  return { value, count };
};
