import { commit } from '../../../../shared/audit/commit.ts';
import { type Benchmark, isOpen, LEVEL_MS, MAX_BENCHMARK_MS, type MixEntry } from '../../../../shared/deployments/benchmark.ts';
import { type Deployment, type Generation, isActive } from '../../../../shared/deployments/deployment.ts';
import { costOfTime, type HourRate, hourRateOf } from '../../../../shared/gpu-time/hour-rate.ts';
import { InvalidValue, PreconditionFailed } from '../../../../shared/http/errors.ts';
import { newTimedId } from '../../../../shared/ids/id.ts';
import type { RequestRowStore } from '../../../../shared/observability/request-row-store.ts';
import { dollarsOf, nanosOf } from '../../../../shared/prices/dollars.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import type { Actor } from '../../access/actor.ts';
import { Trial } from '../../access/route.ts';
import { retryOvertaken } from '../../retry-overtaken.ts';
import { type ChangeDependencies, reconcileSoon } from '../change-deployment.ts';
import { DeploymentDeleted, RolloutUnfinished, WrongState } from '../errors.ts';
import { visibleDeployment } from '../find-deployment.ts';
import type { BenchmarkEstimate, DeploymentBenchmark } from './benchmark-resource.ts';
import { BenchmarkNeedsText, BenchmarkRunning, NoMix } from './errors.ts';
import type { NewBenchmark } from './new-benchmark.ts';
import { ownMix } from './own-mix.ts';
import { type BenchmarkReads, retrieveBenchmark } from './retrieve-benchmark.ts';

export interface BenchmarkWrites extends ChangeDependencies, BenchmarkReads {
  requestRows: Pick<RequestRowStore, 'page'>;
}

// Other benchmarks of the organization, or the end of the deployment, can come first this often.
const MAX_TRIES = 3;
// A level, and the seconds that are held in advance.
const LEAST_MS = LEVEL_MS + MINUTE_MS;

const measurable = (deployment: Deployment): Generation => {
  const { name, serving, wanted, state, generations, progress } = deployment;
  if (wanted === 'deleted') throw new DeploymentDeleted(name);
  if (serving.task !== 'generate') throw new BenchmarkNeedsText(serving.task);
  const [generation, ...others] = generations.filter(isActive);
  if (others.length > 0) throw new RolloutUnfinished();
  if (wanted !== 'running' || state !== 'in_service' || progress.ready === 0 || !generation)
    throw new WrongState(
      'deployment_not_ready',
      `Only a deployment that is in service, and not being stopped, can be measured; the state of this one is ${state}. Start the benchmark once it is in_service. A request wakes a deployment that sleeps.`,
    );
  return generation;
};

const checkMix = (mix: readonly MixEntry[], { context_length: context, max_output_tokens: output }: Deployment['serving']): void => {
  for (const [i, { prompt_tokens, completion_tokens }] of mix.entries()) {
    if (completion_tokens > output)
      throw new InvalidValue(`mix[${i}].completion_tokens`, `expected at most ${output}, the deployment's max_output_tokens`);
    if (prompt_tokens + completion_tokens > context)
      throw new InvalidValue(`mix[${i}]`, `expected at most ${context} tokens together, the deployment's context_length`);
  }
};

type Mix = Pick<Benchmark, 'mix' | 'mix_source'>;

const mixFor = async (deps: BenchmarkWrites, deployment: Deployment, given: NewBenchmark['mix'], nowMs: number): Promise<Mix> => {
  if (given) {
    checkMix(given, deployment.serving);
    return { mix: given, mix_source: 'given' };
  }
  const mix = await ownMix(deps.requestRows, deployment, nowMs);
  if (mix.length === 0) throw new NoMix();
  return { mix, mix_source: 'own' };
};

const leastBudget = ({ mostNanos }: HourRate): bigint => costOfTime(mostNanos, LEAST_MS);

const budgetOf = (budget: string, rate: HourRate): bigint => {
  const nanos = nanosOf(budget) ?? 0n;
  const least = leastBudget(rate);
  if (nanos < least) throw new InvalidValue('budget', `expected at least "${dollarsOf(least)}", the price of the first level`);
  return nanos;
};

const estimateOf = (rate: HourRate, mix: Mix): BenchmarkEstimate => ({
  object: 'deployment.benchmark_estimate',
  price_per_hour: dollarsOf(rate.presentNanos),
  least_budget: dollarsOf(leastBudget(rate)),
  most_cost: dollarsOf(costOfTime(rate.presentNanos, MAX_BENCHMARK_MS)),
  ...mix,
});

interface Planned extends Mix {
  deployment: Deployment;
  generation: Generation;
  budgetNanos: bigint;
}

const newBenchmark = (actor: Actor, planned: Planned, body: NewBenchmark): Omit<Benchmark, 'version'> => {
  const { deployment, generation, budgetNanos, mix, mix_source } = planned;
  const { nowMs } = actor.origin;
  const running = deployment.meter?.running.find(({ generation: number }) => number === generation.number);
  return {
    id: newTimedId('benchmark', nowMs),
    deployment: deployment.id,
    organization: deployment.organization,
    created_at: nowMs,
    created_by: actor.userId,
    status: 'queued',
    generation: generation.number,
    model: generation.model,
    runtime: generation.runtime.id,
    instance_type: running?.instance_type ?? (generation.instance_types[0] as string),
    accelerators: generation.accelerators,
    goals: body.goals,
    mix,
    mix_source,
    max_concurrency_per_copy: body.max_concurrency_per_copy,
    apply: body.apply,
    changes: deployment.changes,
    budget_nanos: budgetNanos,
    spent_nanos: 0n,
    points: [],
    sent: 0,
    attempts: 0,
  };
};

const tryToStart = async (deps: BenchmarkWrites, actor: Actor, benchmark: Omit<Benchmark, 'version'>): Promise<void> => {
  const { deployment: id, organization, budget_nanos, goals, max_concurrency_per_copy, apply } = benchmark;
  const [latest, before] = await Promise.all([deps.benchmarks.latest(organization, id), deps.benchmarks.find(id)]);
  const running = [latest.benchmark, before].find((other) => other && isOpen(other));
  if (running) throw new BenchmarkRunning(running.deployment);
  const after = { budget: dollarsOf(budget_nanos), goals, max_concurrency_per_copy, apply };
  const audited = { action: 'benchmark.started', organization, target: { type: 'deployment', id }, after };
  await commit(deps, actor.origin, audited, [
    ...deps.users.toCheckActor(actor),
    deps.organizations.toCheckActive(organization),
    ...deps.benchmarks.toStart(benchmark, before),
    latest.toFollow,
  ]);
};

/**
 * Starts a benchmark of a deployment. The function `benchmark` runs it; `validate_only` only returns the price.
 * @throws 400, 403, 404, 409 if it can't be measured now or another benchmark runs, 503
 */
export const startBenchmark = async (
  deps: BenchmarkWrites,
  actor: Actor,
  id: string,
  body: NewBenchmark,
): Promise<DeploymentBenchmark | Trial> => {
  const { nowMs } = actor.origin;
  const deployment = await visibleDeployment(deps, actor, id);
  const generation = measurable(deployment);
  const rate = await hourRateOf(deps.catalogue, deployment, nowMs);
  const mix = await mixFor(deps, deployment, body.mix, nowMs);
  if (body.validate_only) return new Trial(estimateOf(rate, mix));
  const benchmark = newBenchmark(actor, { deployment, generation, budgetNanos: budgetOf(body.budget, rate), ...mix }, body);
  await retryOvertaken({ what: `The benchmark of ${id}`, maxTries: MAX_TRIES, by: [PreconditionFailed] }, async (tries) => {
    if (tries > 1) measurable(await visibleDeployment(deps, actor, id));
    await tryToStart(deps, actor, benchmark);
  });
  await reconcileSoon(deps, id);
  return retrieveBenchmark(deps, actor, id);
};
