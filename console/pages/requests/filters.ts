import type { Query } from '../../client/routes.ts';
import { rangeNamed, rangeOf } from '../../design/format/ranges.ts';

type Search = NonNullable<Query<'GET /v1/observability/requests'>>;

// The filters that are sent as they are in the address.
const PLAIN = [
  'status',
  'outcome',
  'model',
  'api_key_id',
  'id',
  'error_code',
  'project_id',
  'user',
  'user_id',
  'deployment',
  'min_duration_ms',
  'organization',
] as const satisfies readonly (keyof Search)[];

/** The parameters of the address that the screen reads. */
export const FILTER_NAMES = [...PLAIN, 'metadata', 'range', 'from', 'to', 'live'] as const;
export type FilterValues = Readonly<Record<(typeof FILTER_NAMES)[number], string>>;

/** The ranges of time that can be searched; requests are kept for 30 days. */
export const SEARCH_RANGES = ['24h', '1h', '7d', '30d', 'custom'] as const;

/** `key=value` pairs with commas between them. A pair without `=` or without a key is left out. */
export const parsePairs = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(',')
      .map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()] as const)
      .filter(([key], i) => key !== '' && text.split(',')[i]?.includes('=')),
  );

/** The query of a search with the filters of an address. @param nowS Unix seconds, from which ranges count back */
export const searchOf = (values: FilterValues, nowS: number): Search => {
  const { startS, endS } = rangeOf(rangeNamed(values.range, SEARCH_RANGES), values, nowS);
  const metadata = parsePairs(values.metadata);
  return {
    ...(Object.fromEntries(PLAIN.map((name) => [name, values[name]]).filter(([, value]) => value)) as Partial<Search>),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(startS !== undefined && { start_time: String(startS) }),
    ...(endS !== undefined && { end_time: String(endS) }),
  };
};

const OF_TIME: readonly string[] = ['range', 'from', 'to', 'live', 'organization'];

/** The filters that are set, without those of time and of the organization. */
export const filtersSet = (values: FilterValues): (keyof FilterValues)[] =>
  FILTER_NAMES.filter((name) => !OF_TIME.includes(name) && values[name] !== '');
