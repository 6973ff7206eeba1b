import type { ReplyBody } from '../../client/routes.ts';
import { formatCount, fromUnits, toUnits } from '../../design/format/amounts.ts';
import { formatDuration } from '../../design/format/times.ts';
import { MEASURES, type Measure, percentOfShare, type Tier, tiersOf } from '../service-promise/promise-words.ts';

type Levels = ReplyBody<'GET /v1/service-levels'>;
type Level = Levels['data'][number];

/** How a promise stands: `kept`, or why not. */
export type LevelState = 'kept' | 'missed' | 'kept so far' | 'missed so far' | 'not known yet' | 'too few requests' | 'no charges';

/** A measure of a model in a month. */
export interface LevelRow {
  model: string;
  measure: Measure;
  promise: Tier;
  /** As people read it; undefined: not known. */
  measured: string | undefined;
  /** The requests that count for the measure; null: not known before the month is closed. */
  requests: number | null;
  state: LevelState;
  /** The part of the charges that is credited. */
  credit: { percent: number; charges: string | null } | undefined;
}

const MONTHS_SHOWN = 13;
const MILLION = 1_000_000n;
const DECIMALS = 10n ** 6n;

const MONTH = /^20\d\d-(0[1-9]|1[0-2])$/;

/** The months that can be chosen, this one first. @param linked that of the address, which can be an earlier one */
export const levelMonths = (nowMs: number, linked: string): readonly string[] => {
  const now = new Date(nowMs);
  const months = Array.from({ length: MONTHS_SHOWN }, (_, i) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i, 1)).toISOString().slice(0, 7),
  );
  const isEarlier = MONTH.test(linked) && linked < (months.at(-1) ?? '');
  return isEarlier ? [...months, linked] : months;
};

// In millionths, rounded down, as thresholds have six decimals: a share below one never looks as if it reached it.
const answeredMillionths = ({ answered, failed }: Level): bigint | undefined =>
  answered + failed === 0 ? undefined : (BigInt(answered) * MILLION) / BigInt(answered + failed);

const shareOf = (millionths: bigint): string => fromUnits(millionths * DECIMALS);

const measuredOf = (level: Level, measure: Measure): { requests: number | null; text: string | undefined } => {
  if (measure === 'availability') {
    const share = answeredMillionths(level);
    const total = level.answered + level.failed;
    return {
      requests: total,
      text:
        share === undefined ? undefined : `${percentOfShare(shareOf(share))}% (${formatCount(level.answered)} of ${formatCount(total)})`,
    };
  }
  const [requests, p95Ms] =
    measure === 'first_token_p95_ms' ? [level.first_tokens, level.first_token_p95_ms] : [level.waits, level.wait_p95_ms];
  return { requests, text: p95Ms === null ? undefined : formatDuration(p95Ms) };
};

const isBelow = (level: Level, { threshold }: Tier): boolean => {
  const share = answeredMillionths(level);
  return share !== undefined && share < toUnits(threshold) / DECIMALS;
};

const stateOf = (level: Level, measure: Measure, promise: Tier, isFinal: boolean): LevelState => {
  const { requests } = measuredOf(level, measure);
  if (level.misses.some((miss) => miss.measure === measure)) return 'missed';
  if (requests === null) return isFinal ? 'no charges' : 'not known yet';
  if (requests < (level.promised[measure]?.min_requests ?? 1)) return 'too few requests';
  if (isFinal) return level.charges === null ? 'no charges' : 'kept';
  return isBelow(level, promise) ? 'missed so far' : 'kept so far';
};

/** The rows of a month: each promised measure of each model. */
export const levelRows = ({ data, is_final }: Levels): readonly LevelRow[] =>
  data.flatMap((level) =>
    MEASURES.flatMap((measure) => {
      const [promise] = tiersOf(level.promised, measure);
      if (!promise) return [];
      const { requests, text } = measuredOf(level, measure);
      const miss = level.misses.find((each) => each.measure === measure);
      return {
        model: level.model,
        measure,
        promise,
        measured: text,
        requests,
        state: stateOf(level, measure, promise, is_final),
        credit: miss && { percent: miss.percent, charges: level.charges },
      };
    }),
  );
