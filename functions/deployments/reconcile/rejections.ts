import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { CREATIONS } from './calls.ts';
import { failed, isActive } from './generations.ts';
import type { Rejection } from './perform.ts';

/**
 * The row after calls that AWS rejected: a generation that can't be created has failed; for any other call, the owner is told, and the next pass makes it
 * again.
 */
export const withRejections = (deployment: Deployment, rejections: readonly Rejection[], nowMs: number): Deployment => {
  const [first] = rejections;
  if (!first) return deployment;
  const failures = new Map(rejections.filter(({ call }) => CREATIONS.has(call.kind)).map(({ call, reason }) => [call.generation, reason]));
  const generations = deployment.generations.map((generation) => {
    const reason = failures.get(generation.number);
    return reason && isActive(generation) ? failed(generation, reason, nowMs) : generation;
  });
  return { ...deployment, generations, reason: first.reason };
};
