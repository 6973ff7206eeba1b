import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { fromUnits, toUnits } from '../../design/format/amounts.ts';
import { type Figures, MEASURES, type Measure, percentOfShare, type Tier, tiersOf } from './promise-words.ts';

export type PromiseList = ReplyBody<'GET /v1/service-promises'>;
type NewPromise = RequestBody<'POST /v1/service-promises'>;

/** The form of a promise: a text for each field, as it is typed. Empty tiers: the measure is not promised. */
export type PromiseDraft = Record<Measure | `${Measure}_least` | 'most', string>;

export const PROMISE_LABELS: Readonly<Record<keyof PromiseDraft, string>> = {
  availability: 'Availability: below (%) and credit (%)',
  availability_least: 'Minimum requests',
  first_token_p95_ms: 'Time to first token (p95): above (ms) and credit (%)',
  first_token_p95_ms_least: 'Minimum streams',
  wake_p95_seconds: 'Wait for capacity (p95): above (s) and credit (%)',
  wake_p95_seconds_least: 'Minimum waits',
  most: 'Maximum total credit (%)',
};

const MONTHS_SHOWN = 12;

/** The months that have not begun yet, the next one first. */
export const monthsToCome = (nowMs: number): readonly string[] => {
  const now = new Date(nowMs);
  return Array.from({ length: MONTHS_SHOWN }, (_, i) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1 + i, 1)).toISOString().slice(0, 7),
  );
};

// The promise that holds in a month; undefined if none was stated.
const promiseFor = ({ data }: PromiseList, month: string): PromiseList['data'][number] | undefined =>
  data.find(({ from_month }) => from_month <= month);

const linesOf = (figures: Figures, measure: Measure): string =>
  tiersOf(figures, measure)
    .map(({ threshold, credit }) => `${measure === 'availability' ? percentOfShare(threshold) : threshold}: ${credit}`)
    .join('\n');

/** The form of the promise that holds in a month. */
export const draftOfPromise = (list: PromiseList, month: string): PromiseDraft => {
  const figures = promiseFor(list, month) ?? {
    availability: null,
    first_token_p95_ms: null,
    wake_p95_seconds: null,
    max_credit_percent: 100,
  };
  const ofMeasure = (measure: Measure) => ({
    [measure]: linesOf(figures, measure),
    [`${measure}_least`]: String(figures[measure]?.min_requests ?? 1),
  });
  return { ...Object.assign({}, ...MEASURES.map(ofMeasure)), most: String(figures.max_credit_percent) } as PromiseDraft;
};

const PERCENT = 100n;
const TIER = /^(\d{1,9}(?:\.\d{1,4})?)\s*[:\s]\s*(\d{1,3})\s*%?$/;
const MAX_TIERS = 5;

const tierOf = (measure: Measure, line: string): Tier | undefined => {
  const [, threshold = '', credit = ''] = TIER.exec(line.trim()) ?? [];
  if (threshold === '' || (measure !== 'availability' && threshold.includes('.'))) return undefined;
  const share = measure === 'availability' ? fromUnits(toUnits(threshold) / PERCENT) : String(Number(threshold));
  const isInRange = Number(credit) >= 1 && Number(credit) <= 100 && toUnits(share) > 0n;
  return isInRange && (measure !== 'availability' || toUnits(share) <= toUnits('1'))
    ? { threshold: share, credit: Number(credit) }
    : undefined;
};

const parsed = (measure: Measure, text: string): (Tier | undefined)[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => tierOf(measure, line));

const isWorse = (measure: Measure, one: Tier, next: Tier): boolean => {
  const step = toUnits(next.threshold) - toUnits(one.threshold);
  return (measure === 'availability' ? step < 0n : step > 0n) && next.credit > one.credit;
};

const faultOfTiers = (measure: Measure, text: string): string | undefined => {
  const tiers = parsed(measure, text);
  if (tiers.some((tier) => tier === undefined))
    return measure === 'availability'
      ? 'Enter a percentage and a credit on each line, such as 99.9: 10.'
      : 'Enter a whole number and a credit on each line, such as 2000: 5.';
  if (tiers.length > MAX_TIERS) return `Enter at most ${MAX_TIERS} tiers.`;
  const isInOrder = tiers.every((tier, i) => i === 0 || isWorse(measure, tiers[i - 1] as Tier, tier as Tier));
  return isInOrder ? undefined : 'Each line must be a worse miss than the one above it, with a larger credit.';
};

const isWhole = (text: string): boolean => /^[1-9]\d{0,8}$/.test(text.trim());

/** The faults of what was typed, by field. */
export const promiseFaults = (draft: PromiseDraft): Partial<Record<keyof PromiseDraft, string>> =>
  Object.fromEntries([
    ...MEASURES.flatMap((measure) => {
      const fault = faultOfTiers(measure, draft[measure]);
      return [
        ...(fault ? [[measure, fault]] : []),
        ...(isWhole(draft[`${measure}_least`]) ? [] : [[`${measure}_least`, 'Enter a whole number, at least 1.']]),
      ];
    }),
    ...(isWhole(draft.most) && Number(draft.most) <= 100 ? [] : [['most', 'Enter a whole number from 1 to 100.']]),
  ]);

/** The figures of a form without faults. */
export const figuresOf = (draft: PromiseDraft): Figures => {
  const tiers = (measure: Measure): Tier[] => parsed(measure, draft[measure]).filter((tier) => tier !== undefined);
  const above = (measure: 'first_token_p95_ms' | 'wake_p95_seconds') =>
    tiers(measure).length === 0
      ? null
      : {
          min_requests: Number(draft[`${measure}_least`]),
          tiers: tiers(measure).map(({ threshold, credit }) => ({ above: Number(threshold), credit_percent: credit })),
        };
  const shares = tiers('availability').map(({ threshold, credit }) => ({ below: threshold, credit_percent: credit }));
  return {
    availability: shares.length === 0 ? null : { min_requests: Number(draft.availability_least), tiers: shares },
    first_token_p95_ms: above('first_token_p95_ms'),
    wake_p95_seconds: above('wake_p95_seconds'),
    max_credit_percent: Number(draft.most),
  };
};

/** The request that states the promise of a form. */
export const newPromiseOf = (model: string, from_month: string, draft: PromiseDraft): NewPromise => {
  const { max_credit_percent, ...measures } = figuresOf(draft);
  const promised = Object.entries(measures).filter(([, measure]) => measure !== null);
  return { model, from_month, ...Object.fromEntries(promised), max_credit_percent };
};
