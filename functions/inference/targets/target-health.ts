import type { Model, Target } from '../../../shared/models/model.ts';
import { targetName } from './order-targets.ts';

// After its first failure a target is tried last for this long, and twice as long after each further one.
const FIRST_AVOIDED_MS = 10_000;
const MAX_AVOIDED_MS = 300_000;
// SageMaker waits this long for a container's first byte. Until then, one request tries a target that failed before.
const TRIAL_MS = 60_000;
// More than one environment invokes. Targets that failed first are forgotten.
const MAX_TARGETS = 1_000;

interface Failing {
  failures: number;
  avoidedUntilMs: number;
  // A request tries the target after its time was over.
  isOnTrial: boolean;
}

/**
 * Remembers the targets that failed before their first chunk, in this environment. A failed target is tried last until
 * its time is over; then one request tries it in its usual place.
 * @param now milliseconds since the epoch
 */
export const createTargetHealth = (now: () => number) => {
  const failing = new Map<string, Failing>();
  const isAvoided = (target: Target): boolean => now() < (failing.get(targetName(target))?.avoidedUntilMs ?? 0);

  return {
    /** Moves targets that failed to the end; the rest keep their order. */
    order: (targets: Model['targets']): Model['targets'] => {
      if (failing.size === 0 || targets.length === 1 || !targets.some(isAvoided)) return targets;
      return [...targets.filter((target) => !isAvoided(target)), ...targets.filter(isAvoided)] as Model['targets'];
    },

    /** Reports that a request invokes the target. */
    invoked: (target: Target): void => {
      const entry = failing.get(targetName(target));
      if (entry && !isAvoided(target)) Object.assign(entry, { isOnTrial: true, avoidedUntilMs: now() + TRIAL_MS });
    },

    answered: (target: Target): void => void failing.delete(targetName(target)),

    failed: (target: Target): void => {
      const name = targetName(target);
      const entry = failing.get(name);
      // Requests that were invoked before the first failure don't make its time longer.
      if (entry && !entry.isOnTrial) return;
      const failures = (entry?.failures ?? 0) + 1;
      const avoidedMs = Math.min(FIRST_AVOIDED_MS * 2 ** (failures - 1), MAX_AVOIDED_MS);
      failing.delete(name);
      failing.set(name, { failures, avoidedUntilMs: now() + avoidedMs, isOnTrial: false });
      if (failing.size > MAX_TARGETS) for (const oldest of failing.keys()) return void failing.delete(oldest);
    },
  };
};

export type TargetHealth = ReturnType<typeof createTargetHealth>;
