import { type Benchmark, type BenchmarkEnd, isUnattended, LEVEL_MS, MAX_IN_FLIGHT } from '../../shared/deployments/benchmark.ts';
import { type Deployment, isActive } from '../../shared/deployments/deployment.ts';
import { logError, logInfo } from '../../shared/logging/log.ts';
import { finish, type ResultDependencies } from './finish.ts';
import { type LevelSamples, measureLevel } from './measure-level.ts';
import { pointOf } from './point.ts';
import { chooseFrom, createPromptLengths, type PromptLengths, randomWords } from './prompts.ts';
import { createRequestSender, type RequestSender, type SendDependencies } from './send-request.ts';
import { CopiesChanged, createSession, LeaseLost, type RunDependencies, type Session, Stopped, takeLease } from './session.ts';
import { nextStep } from './sweep.ts';

export interface BenchmarkDependencies extends Omit<RunDependencies, 'deployments'>, ResultDependencies, SendDependencies {
  random: () => number;
  /** A name for this run of the function. */
  newOwner: () => string;
  /** False when the function should begin no further level. */
  hasTime: () => boolean;
}

/**
 * The outcome of a run of the function. `continues`: the next run continues it. `lost`: it was cancelled, or another
 * run has it.
 */
export type RunOutcome = 'not_wanted' | 'continues' | 'ended' | 'lost';

// A run lasts about ten minutes, a benchmark at most 90.
const MAX_ATTEMPTS = 20;
// Enough answers for a 95th percentile, and each place at least six times, within bounds: requests that begin together
// have about the same time to their first token, so that fewer rounds depend on chance.
const LEAST_COUNTED = 30;
const MOST_COUNTED = 400;
const COUNTED_PER_PLACE = 6;
// The prompts that tell how the runtime counts words.
const SHORT_WORDS = 16;
const LONG_WORDS = 144;
const COUNTING_TOKENS = 2;

const countedOf = (concurrency: number): number => Math.min(MOST_COUNTED, Math.max(LEAST_COUNTED, COUNTED_PER_PLACE * concurrency));

// Every prompt must leave room for its answer.
const countWords = async (
  sender: RequestSender,
  { serving }: Deployment,
  random: () => number,
  signal: AbortSignal,
): Promise<PromptLengths> => {
  const lengths = createPromptLengths();
  const longWords = Math.min(LONG_WORDS, Math.floor(serving.context_length / 2));
  if (longWords <= SHORT_WORDS) return lengths;
  for (const words of [SHORT_WORDS, longWords]) {
    const { promptTokens } = await sender.send({ text: randomWords(words, random), completionTokens: COUNTING_TOKENS }, signal);
    lengths.note({ words, tokens: promptTokens });
  }
  return lengths;
};

interface Run {
  deps: BenchmarkDependencies;
  session: Session;
  /** How many requests earlier runs have sent. */
  sentBefore: number;
  sender?: RequestSender;
  lengths?: PromptLengths;
}

const senderOf = (run: Run, deployment: Deployment): RequestSender => {
  const [generation] = deployment.generations.filter(isActive);
  if (!generation) throw new Stopped('deployment_changed');
  run.sender ??= createRequestSender(run.deps, { benchmark: run.session.row().id, deployment, generation });
  return run.sender;
};

const sampleLevel = async (run: Run, deployment: Deployment, concurrencyPerCopy: number): Promise<LevelSamples> => {
  const { deps, session } = run;
  const { mix } = session.row();
  const sender = senderOf(run, deployment);
  const concurrency = concurrencyPerCopy * deployment.progress.ready;
  return session.watched(deployment.progress.ready, async (signal) => {
    run.lengths ??= await countWords(sender, deployment, deps.random, signal).catch((error: unknown) => {
      if (signal.aborted) throw error;
      logError('benchmark_request_failed', error, { deployment: deployment.id });
      throw new Stopped('requests_failed');
    });
    const { lengths } = run;
    const send = async (own: AbortSignal) => {
      const { prompt_tokens, completion_tokens } = chooseFrom(mix, deps.random);
      const words = lengths.wordsFor(prompt_tokens);
      const sample = await sender.send({ text: randomWords(words, deps.random), completionTokens: completion_tokens }, own);
      lengths.note({ words, tokens: sample.promptTokens });
      return sample;
    };
    const load = { concurrency, counted: countedOf(concurrency), maxMs: LEVEL_MS };
    const level = await measureLevel({ send, wait: deps.wait }, load, signal);
    await sender.recorded();
    return level;
  });
};

const sentBy = ({ sentBefore, sender }: Run): number => sentBefore + (sender?.sent() ?? 0);

// A level whose copies changed is not stored, and is measured again.
const measureNext = async (run: Run, concurrencyPerCopy: number): Promise<void> => {
  const { deps, session } = run;
  const { deployment, rate } = await session.begin();
  const copies = deployment.progress.ready;
  if (concurrencyPerCopy * copies > MAX_IN_FLIGHT) return;
  try {
    const level = await sampleLevel(run, deployment, concurrencyPerCopy);
    for (const error of level.failures) logError('benchmark_request_failed', error, { deployment: deployment.id });
    const { goals, points } = session.row();
    const point = pointOf(level, { concurrencyPerCopy, copies, goals, hourNanos: Number(rate.presentNanos), nowMs: deps.now() });
    await session.save({ points: [...points, point], sent: sentBy(run) });
  } catch (error) {
    if (!(error instanceof CopiesChanged)) throw error;
  }
};

const sweep = async (run: Run): Promise<RunOutcome> => {
  const { deps, session } = run;
  for (;;) {
    const row = session.row();
    const deployment = await deps.deployments.find(row.deployment);
    const room = Math.floor(MAX_IN_FLIGHT / Math.max(1, deployment?.progress.ready ?? 1));
    const step = nextStep(row.points, Math.max(1, Math.min(row.max_concurrency_per_copy, room)));
    if (step.kind === 'end') {
      if (row.points.every(({ requests, failed_requests }) => requests === 0 && failed_requests > 0)) throw new Stopped('requests_failed');
      await finish(deps, session, step);
      return 'ended';
    }
    if (!deps.hasTime()) {
      await session.release();
      return 'continues';
    }
    await measureNext(run, step.concurrencyPerCopy);
  }
};

const FAILED_ENDS: readonly BenchmarkEnd[] = ['requests_failed', 'runner_failed'];

const endEarly = async (run: Run, { end }: Stopped): Promise<RunOutcome> => {
  const { session } = run;
  const met = session.row().points.filter(({ meets_goals }) => meets_goals);
  const best = Math.max(0, ...met.map(({ concurrency_per_copy }) => concurrency_per_copy));
  const result = best === 0 ? null : best;
  await session.end(FAILED_ENDS.includes(end) ? 'failed' : 'stopped', end, { sent: sentBy(run), result });
  return 'ended';
};

/**
 * Runs a deployment's benchmark, from where an earlier run left it, until it ends or the function has no time for
 * another level. Several runs at the same time do no harm: one has the lease.
 * @throws errors that the next run is to try again, after the lease has expired
 */
export const runBenchmark = async (deps: BenchmarkDependencies, deploymentId: string): Promise<RunOutcome> => {
  const found = await deps.benchmarks.find(deploymentId);
  if (!found || !isUnattended(found, deps.now())) return 'not_wanted';
  const taken: Benchmark | undefined = await takeLease(deps, found, deps.newOwner());
  if (!taken) return 'lost';
  const run: Run = { deps, session: createSession(deps, taken), sentBefore: taken.sent };
  try {
    if (taken.attempts > MAX_ATTEMPTS) throw new Stopped('runner_failed');
    return await sweep(run);
  } catch (error) {
    if (error instanceof LeaseLost) return 'lost';
    if (!(error instanceof Stopped)) throw error;
    return await endEarly(run, error).catch((failure: unknown) => {
      if (failure instanceof LeaseLost) return 'lost';
      throw failure;
    });
  } finally {
    await run.sender?.recorded();
    const { id, status, end, points } = run.session.row();
    logInfo('benchmark_run', { benchmark: id, deployment: deploymentId, status, end, levels: points.length, sent: sentBy(run) });
  }
};
