import type { Choice } from '../../design/controls/choice.ts';
import { type RangeName, rangeOf } from '../../design/format/ranges.ts';
import { DAY_S } from '../../design/format/units.ts';
export type Measure = 'cost' | 'tokens' | 'requests';
export type Grouping = 'model' | 'project_id' | 'api_key_id' | 'user_id' | 'deployment' | 'organization';

/** The parameters of the address that the screen reads. */
export const USAGE_NAMES = ['range', 'from', 'to', 'measure', 'group', 'organization', 'project_id'] as const;
export type UsageValues = Readonly<Record<(typeof USAGE_NAMES)[number], string>>;

/** The ranges of time that the screen offers. */
export const USAGE_RANGES = ['30d', '7d', '90d', 'month', 'last_month', 'custom'] as const satisfies readonly RangeName[];

export const MEASURES: readonly Choice<Measure>[] = [
  ['cost', 'Cost'],
  ['tokens', 'Tokens'],
  ['requests', 'Requests'],
];

const GROUPINGS: readonly Choice<Grouping>[] = [
  ['model', 'Model'],
  ['project_id', 'Project'],
  ['api_key_id', 'API key'],
  ['user_id', 'End user'],
  ['deployment', 'Deployment'],
];

/** The name of a grouping within a sentence. */
export const sentenceName = (title: string): string => (title.startsWith('API') ? title : title.toLowerCase());

/** The dimensions of results. Those who see all organizations can also compare them. */
export const groupingsFor = (seesAll: boolean): readonly Choice<Grouping>[] =>
  seesAll ? [...GROUPINGS, ['organization', 'Organization']] : GROUPINGS;

/** The name of results that have none. */
export const NAMELESS: Readonly<Record<Grouping, string>> = {
  model: 'Unknown model',
  project_id: 'No project',
  api_key_id: 'No API key (GPU time)',
  user_id: 'No end user',
  deployment: 'Shared models',
  organization: 'No organization',
};

const chosen = <Value extends string>(text: string, choices: readonly Choice<Value>[]): Value =>
  (choices.find(([value]) => value === text) ?? choices[0])?.[0] as Value;

/** The measure and the grouping that an address names, or the first ones. */
export const chosenOf = ({ measure, group }: UsageValues, seesAll: boolean): { measure: Measure; groupBy: Grouping } => ({
  measure: chosen(measure, MEASURES),
  groupBy: chosen(group, groupingsFor(seesAll)),
});

/**
 * The times of an address's range in whole UTC days, as the query sends them. The last day of a custom range counts.
 */
export const timesOf = (range: RangeName, days: { from: string; to: string }, nowS: number): { start_time: string; end_time?: string } => {
  const { startS = nowS - 30 * DAY_S, endS } = rangeOf(range, days, nowS);
  const end = range === 'custom' && endS !== undefined ? endS + DAY_S : endS;
  return { start_time: String(startS - (startS % DAY_S)), ...(end !== undefined && { end_time: String(end) }) };
};
