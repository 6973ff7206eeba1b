import { formatCount } from './amounts.ts';

/**
 * Why the API wouldn't take a count; undefined: it would, or the field is empty.
 * @param most the most that the API takes there
 */
export const faultOfCount = (text: string, most: number): string | undefined => {
  if (text === '') return undefined;
  if (!/^\d+$/.test(text)) return 'Enter a whole number.';
  return Number(text) > most ? `Enter at most ${formatCount(most)}.` : undefined;
};

/** The most that the API takes for each limit of a key, of its end users or of an organization. */
export const MOST_LIMITS = { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000, concurrency: 10_000 } as const;
type LimitName = keyof typeof MOST_LIMITS;

/**
 * Why limits of a form can't be sent, by field.
 * @param fields the name of the form's field for each limit
 */
export const faultsOfCounts = <Field extends string>(
  draft: Readonly<Record<Field, string>>,
  fields: Readonly<Record<LimitName, Field>>,
): Partial<Record<Field, string>> =>
  Object.fromEntries(
    (Object.keys(fields) as LimitName[]).flatMap((name) => {
      const fault = faultOfCount(draft[fields[name]], MOST_LIMITS[name]);
      return fault === undefined ? [] : [[fields[name], fault]];
    }),
  ) as Partial<Record<Field, string>>;
