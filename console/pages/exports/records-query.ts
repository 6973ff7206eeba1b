import type { Choice } from '../../design/controls/choice.ts';
import { type RangeName, rangeOf } from '../../design/format/ranges.ts';
import { DAY_S } from '../../design/format/units.ts';

/** The parameters of the address that the screen reads. */
export const EXPORT_NAMES = ['view', 'range', 'from', 'to', 'kind', 'model', 'api_key', 'organization'] as const;
export type ExportValues = Readonly<Record<(typeof EXPORT_NAMES)[number], string>>;

/** The most days whose usage records the API reads at once. */
export const MAX_RECORD_DAYS = 31;

/** The ranges of time of usage records. Only a custom one can be longer than the API reads at once. */
export const RECORD_RANGES = ['24h', '7d', 'month', 'last_month', 'custom'] as const satisfies readonly RangeName[];

type Kind = 'usage_event' | 'gpu_time_event';

export const KINDS: readonly Choice[] = [
  ['', 'All'],
  ['usage_event', 'Requests'],
  ['gpu_time_event', 'GPU time'],
];

/** The times of a range in Unix seconds; the last day of a custom range counts. Undefined if it is incomplete. */
export const recordTimes = (
  range: RangeName,
  days: { from: string; to: string },
  nowS: number,
): { startS: number; endS: number } | undefined => {
  const { startS, endS } = rangeOf(range, days, nowS);
  if (startS === undefined || (range === 'custom' && endS === undefined)) return undefined;
  return { startS, endS: range === 'custom' ? (endS ?? 0) + DAY_S : (endS ?? nowS) };
};

/** The filters that the API gets. */
export const recordsQuery = ({ kind, model, api_key, organization }: ExportValues, { startS, endS }: { startS: number; endS: number }) => ({
  start_time: String(startS),
  end_time: String(endS),
  ...(kind && KINDS.some(([value]) => value === kind) && { kinds: [kind as Kind] }),
  ...(model && { models: [model] }),
  ...(api_key && { api_key_ids: [api_key] }),
  ...(organization && { organization }),
});
