import { SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { priceAt } from '../../shared/prices/price.ts';
import type { Bound } from '../bench/lib/keep-in-flight.ts';
import type { TestRun } from '../support/clients/local-run.ts';
import { createAccounts, distinct } from './accounts.ts';
import { makeQuestions, measureModel } from './ask-model.ts';
import { checkLedger } from './check-ledger.ts';
import { type Fault, faultIf } from './faults.ts';
import { type AccountLedger, readLedger } from './ledger.ts';
import { readErrors } from './log-errors.ts';
import { type Memory, memoryFaults, watchMemory } from './memory.ts';
import type { Measured } from './meter.ts';
import { routes } from './question.ts';
import { type LoadResult, sendLoad } from './send-load.ts';

export interface LoadOptions {
  /** How many requests are in flight, all the time. */
  callers: number;
  bound: Bound;
  /** The time over which the callers begin. */
  rampMs: number;
  /** The load on the container alone, with which the figures are compared. */
  modelBound: Bound;
  /** The most tokens of a reply, and the delay between two of them. */
  maxTokens: number;
  tokenDelayMs: number;
  /** How long to wait after the load for the totals. */
  settleMs: number;
  /** Makes the totals, if nothing reads the streams. */
  makeTotals?: (() => Promise<void>) | undefined;
  progress: (text: string) => void;
}

/** Everything that a load found. */
export interface LoadFindings {
  load: LoadResult;
  ledgers: AccountLedger[];
  memory: Memory;
  /** How often each error is in the functions' logs. */
  errors: ReadonlyMap<string, number>;
  measured: { model: Measured; sluice: Measured };
  faults: Fault[];
}

// More questions than callers, so that no two requests in flight at once have the same reply.
const QUESTIONS_OF_CALLER = 2;
const PROGRESS_EVERY = 10_000;

const processFaults = (before: Record<string, readonly number[]>, after: Record<string, readonly number[]>): Fault[] =>
  Object.entries(before).flatMap(([name, pids]) =>
    faultIf(
      pids.length > 0 && pids.join() !== after[name]?.join(),
      'lost',
      `the process of ${name} ended during the load: ${pids}, then ${after[name]}`,
    ),
  );

/**
 * Applies a load to a local run, and to its container alone, and checks every reply and everything that is stored
 * afterwards.
 */
export const runLoad = async (run: TestRun, options: LoadOptions): Promise<LoadFindings> => {
  const { callers, bound, rampMs, modelBound, maxTokens, tokenDelayMs, settleMs, makeTotals, progress } = options;
  const sinceMs = Date.now();
  const price = priceAt((await run.models.list(SERVERLESS_POOL)).get(run.model)?.prices ?? [], sinceMs);
  if (!price) throw new Error(`${run.model} has no price.`);
  progress('questions');
  const modelList = await (await fetch(run.base_url + routes.models.path)).text();
  await run.control('container', { token_delay_ms: 0 });
  const questions = await makeQuestions(run.container_url, { count: QUESTIONS_OF_CALLER * callers, maxTokens, modelList });
  const accounts = await createAccounts(run, callers);
  await run.control('container', { token_delay_ms: tokenDelayMs });

  progress('the model alone');
  const model = await measureModel(run.container_url, questions, { callers, bound: modelBound, rampMs });
  progress('Sluice');
  const before = (await run.facts()).pids.functions;
  let replies = 0;
  const watch = watchMemory(before, () => replies);
  const onReply = (number: number): void => {
    replies = number;
    if (number % PROGRESS_EVERY === 0) progress(`${number} replies; RSS of inference: ${watch.latestMib('inference').toFixed(0)} MiB`);
  };
  const load = await sendLoad({ baseUrl: run.base_url, questions, accounts, bound, rampMs, onReply });
  const memory = watch.stop();
  const after = (await run.facts()).pids.functions;
  progress('the ledger');
  const ledgers = await readLedger(run, distinct(accounts), { sinceMs, limitMs: settleMs, makeTotals });
  const errors = await readErrors(run, Object.keys(after));
  const faults = [
    ...model.faults,
    ...load.faults,
    ...processFaults(before, after),
    ...checkLedger(price, load.sent, ledgers),
    ...memoryFaults(memory),
  ];
  return { load, ledgers, memory, errors, measured: { model: model.measured, sluice: load.measured }, faults };
};
