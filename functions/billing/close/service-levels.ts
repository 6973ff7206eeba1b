import { MEASURES, type Measure, millionthsOf, type PromiseFigures } from '../../../shared/service-levels/promise.ts';
import type { LevelCounts, ServiceLevel, ServiceMiss } from '../../../shared/service-levels/service-level.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { ChargeGroup } from './charge-group.ts';
import { countsOf, type ServiceSums } from './service-sums.ts';

const MILLION = 1_000_000n;

interface MissedTier {
  threshold: string;
  credit_percent: number;
}

// The last tier that was missed is the worst one. Shares are compared as integers.
const missedAvailability = ({ availability }: PromiseFigures, { answered, failed }: LevelCounts): MissedTier | undefined => {
  const requests = answered + failed;
  if (!availability || requests < availability.min_requests) return undefined;
  const missed = availability.tiers.findLast(({ below }) => BigInt(answered) * MILLION < BigInt(millionthsOf(below)) * BigInt(requests));
  return missed && { threshold: missed.below, credit_percent: missed.credit_percent };
};

const missedTime = (
  promised: PromiseFigures['first_token_p95_ms'],
  requests: number,
  p95Ms: number | null,
  unitMs: number,
): MissedTier | undefined => {
  if (!promised || p95Ms === null || requests < promised.min_requests) return undefined;
  const missed = promised.tiers.findLast(({ above }) => p95Ms > above * unitMs);
  return missed && { threshold: String(missed.above), credit_percent: missed.credit_percent };
};

const missedTier = (measure: Measure, figures: PromiseFigures, counts: LevelCounts): MissedTier | undefined => {
  if (measure === 'availability') return missedAvailability(figures, counts);
  if (measure === 'first_token_p95_ms') return missedTime(figures.first_token_p95_ms, counts.first_tokens, counts.first_token_p95_ms, 1);
  return missedTime(figures.wake_p95_seconds, counts.waits, counts.wait_p95_ms, SECOND_MS);
};

/** The promises that these counts miss. Together they credit at most what the promise allows. */
export const missesOf = (figures: PromiseFigures, counts: LevelCounts): ServiceMiss[] => {
  let left = figures.max_credit_percent;
  return MEASURES.flatMap((measure) => {
    const missed = missedTier(measure, figures, counts);
    if (!missed || left === 0) return [];
    const percent = Math.min(missed.credit_percent, left);
    left -= percent;
    return [{ measure, threshold: missed.threshold, percent }];
  });
};

/**
 * The service levels of a month: of each model with a promise that had requests.
 * @param groups the charges of the month
 */
export const serviceLevelsOf = (
  promises: readonly { model: string; figures: PromiseFigures }[],
  sums: ServiceSums,
  groups: readonly ChargeGroup[],
): ServiceLevel[] =>
  promises
    .filter(({ model }) => sums.has(model))
    .map(({ model, figures }) => {
      const counts = countsOf(sums, model);
      const charged = groups.filter((group) => group.model === model && group.deployment === null);
      return {
        model,
        figures,
        ...counts,
        charges_nanos: charged.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n),
        prepaid_nanos: charged.reduce((sum, { prepaid_nanos }) => sum + prepaid_nanos, 0n),
        misses: missesOf(figures, counts),
      };
    });
