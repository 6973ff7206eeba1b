import { type Deployment, isActive, MAX_GENERATIONS, type RejectedCall } from '../../../shared/deployments/deployment.ts';
import type { DeploymentReason } from '../../../shared/deployments/reason.ts';
import { withFailedAdapter } from './adapters.ts';
import { CREATIONS, type SageMakerCall } from './calls.ts';
import { failed } from './generations.ts';
import type { Rejection } from './perform.ts';

// Each wait is twice as long as the one before.
const FIRST_WAIT_MS = 15_000;
const MAX_WAIT_MS = 15 * 60_000;

const textOf = (call: SageMakerCall): string => JSON.stringify(call);

const waitMs = (times: number): number => Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (times - 1));

// Its owner must see this reason before that of a rejected call.
const isUrgent = ({ wanted, generations, reason }: Deployment): boolean =>
  wanted !== 'running' || generations.at(-1)?.status === 'failed' || reason?.code === 'credit_low';

const withRejected = (deployment: Deployment, rejected: readonly RejectedCall[]): Deployment => {
  const { rejected: _, ...rest } = deployment;
  const [first] = rejected;
  if (!first) return rest;
  const reason: DeploymentReason = (isUrgent(deployment) ? deployment.reason : undefined) ?? first.reason;
  return { ...rest, reason, rejected: rejected.slice(0, MAX_GENERATIONS) };
};

/**
 * Leaves out rejected calls that are not due yet, and those that follow them in their generation. Forgets the
 * rejections of calls that are no longer needed, and all of them after a change by the owner.
 */
export const deferRejected = (
  deployment: Deployment,
  calls: readonly SageMakerCall[],
  nowMs: number,
): { next: Deployment; calls: SageMakerCall[] } => {
  const planned = new Set(calls.map(textOf));
  const rejected = (deployment.rejected ?? []).filter(({ call, changes }) => changes === deployment.changes && planned.has(call));
  const waiting = new Set(rejected.filter(({ retry_at }) => retry_at > nowMs).map(({ call }) => call));
  const stopped = new Set<number>();
  const due = calls.filter((call) => {
    if (waiting.has(textOf(call))) stopped.add(call.generation);
    return !stopped.has(call.generation);
  });
  return { next: withRejected(deployment, rejected), calls: due };
};

// The adapter stays with the generation that serves it.
const isOfNextGeneration = ({ adapters = [], generations }: Deployment, call: SageMakerCall): boolean =>
  call.kind === 'create_adapter' &&
  adapters.some(({ id, state }) => id === call.adapter && state === 'ready') &&
  generations.some(({ number, status }) => number === call.generation && status === 'creating');

/**
 * The row after AWS rejected calls. A generation or an adapter that can't be created has failed; if another generation
 * serves the adapter, only the new one has. Any other call is repeated later, after waits of up to a quarter of an
 * hour, and the row shows the reason.
 */
export const withRejections = (stored: Deployment, all: readonly Rejection[], nowMs: number): Deployment => {
  const rejections = all.filter(({ call }) => call.kind !== 'create_adapter' || isOfNextGeneration(stored, call));
  const deployment = all
    .filter((rejection) => !rejections.includes(rejection))
    .reduce((row, { call, reason }) => (call.kind === 'create_adapter' ? withFailedAdapter(row, call.adapter, reason) : row), stored);
  const [first] = rejections;
  if (!first) return deployment;
  const isFinal = ({ call }: Rejection): boolean => CREATIONS.has(call.kind) || call.kind === 'create_adapter';
  const failures = new Map(rejections.filter(isFinal).map(({ call, reason }) => [call.generation, reason]));
  const generations = deployment.generations.map((generation) => {
    const reason = failures.get(generation.number);
    return reason && isActive(generation) ? failed(generation, reason, nowMs) : generation;
  });
  const known = deployment.rejected ?? [];
  const repeated = rejections.filter((rejection) => !isFinal(rejection));
  const added = repeated.map(({ call, reason }): RejectedCall => {
    const times = 1 + (known.find((other) => other.call === textOf(call))?.times ?? 0);
    return { call: textOf(call), reason, times, retry_at: nowMs + waitMs(times), changes: deployment.changes };
  });
  const others = known.filter(({ call }) => !added.some((each) => each.call === call));
  const noted = withRejected({ ...deployment, generations }, [...added, ...others]);
  return failures.size > 0 ? { ...noted, reason: first.reason } : noted;
};
