import { SHADOW_FAILURES, type ShadowCounts } from '../../../../shared/deployments/shadow-counts.ts';
import { timesOf } from './times.ts';

/** The limits of a verdict. Percentages are of the requests that a rule counts. */
export const THRESHOLDS = {
  /** The fewest answers that are compared, for `promote`. */
  min_requests: 100,
  /** The fewest for `roll_back`, and for each rule that counts only some requests. */
  min_counted: 20,
  /** A shorter delay is not counted, whatever its percentage. */
  min_slower_ms: 50,
  promote: { failed_percent: 1, less_valid_percent: 1, slower_percent: 20 },
  roll_back: { failed_percent: 5, less_valid_percent: 5, slower_percent: 100 },
} as const;

export interface Verdict {
  verdict: 'promote' | 'roll_back' | 'undecided';
  /** Why, or what is missing: whole sentences. */
  reasons: string[];
}

// One rule: how much worse the next generation is, in percent, of so many requests.
interface Measured {
  limit: 'failed_percent' | 'less_valid_percent' | 'slower_percent';
  percent: number;
  counted: number;
  sentence: (percent: string) => string;
}

const countOf = (counts: ShadowCounts, ...names: (keyof ShadowCounts)[]): number =>
  names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);

// The number of requests that have no answer of the next generation.
const failedIn = (counts: ShadowCounts): number => countOf(counts, ...SHADOW_FAILURES.map((failure) => `failed_${failure}` as const));

const failures = (counts: ShadowCounts): Measured => {
  const failed = failedIn(counts);
  const counted = failed + countOf(counts, 'compared');
  return {
    limit: 'failed_percent',
    percent: counted === 0 ? 0 : (100 * failed) / counted,
    counted,
    sentence: (percent) => `The new generation failed to answer ${percent}% of ${counted} requests.`,
  };
};

const validity = (counts: ShadowCounts, kind: 'schema' | 'tools', noun: string): Measured => {
  const [onlyServing, onlyShadow] = [countOf(counts, `${kind}_serving_only`), countOf(counts, `${kind}_shadow_only`)];
  const counted = onlyServing + onlyShadow + countOf(counts, `${kind}_both`, `${kind}_neither`);
  return {
    limit: 'less_valid_percent',
    percent: counted === 0 ? 0 : (100 * (onlyServing - onlyShadow)) / counted,
    counted,
    sentence: (percent) => `Of ${counted} answers with ${noun}, ${percent}% fewer are valid than those of the serving generation.`,
  };
};

const speed = (counts: ShadowCounts, timing: 'first_token' | 'duration', noun: string): Measured => {
  const [serving, shadow] = [timesOf(counts, 'serving', timing), timesOf(counts, 'shadow', timing)];
  const before = serving.p95_ms ?? 0;
  const longer = (shadow.p95_ms ?? 0) - before;
  return {
    limit: 'slower_percent',
    percent: before === 0 || longer < THRESHOLDS.min_slower_ms ? 0 : (100 * longer) / before,
    counted: Math.min(serving.count, shadow.count),
    sentence: (percent) => `The p95 of the time ${noun} is ${percent}% longer.`,
  };
};

const shown = (percent: number): string => String(Math.round(percent * 10) / 10);

/** Decides from a comparison's counts by the stated thresholds. Exact matches and finish reasons don't count. Pure. */
export const verdictOf = (counts: ShadowCounts): Verdict => {
  const measured = [
    failures(counts),
    validity(counts, 'schema', 'JSON'),
    validity(counts, 'tools', 'calls of tools'),
    speed(counts, 'first_token', 'until the first token'),
    speed(counts, 'duration', 'of an answer'),
  ];
  const enough = measured.filter(({ counted }) => counted >= THRESHOLDS.min_counted);
  const exceeding = (limits: (typeof THRESHOLDS)['promote' | 'roll_back']): string[] =>
    enough.filter(({ limit, percent }) => percent > limits[limit]).map(({ percent, sentence }) => sentence(shown(percent)));
  const bad = exceeding(THRESHOLDS.roll_back);
  if (bad.length > 0) return { verdict: 'roll_back', reasons: bad };
  const compared = countOf(counts, 'compared');
  const doubts = exceeding(THRESHOLDS.promote);
  const missing = compared < THRESHOLDS.min_requests ? [`${compared} of at least ${THRESHOLDS.min_requests} answers are compared.`] : [];
  if (doubts.length > 0 || missing.length > 0) return { verdict: 'undecided', reasons: [...missing, ...doubts] };
  return { verdict: 'promote', reasons: [`No measure of ${compared} compared answers is worse than its threshold.`] };
};
