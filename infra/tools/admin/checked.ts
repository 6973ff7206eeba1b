import type * as z from 'zod';
import { explainFaults, type FaultWords } from '../../config/explain-faults.ts';
import { UsageError } from './usage.ts';

const WORDS: FaultWords = { field: 'field' };

// The options that have other names than the fields that they set.
const OPTION_NAMES: Readonly<Record<string, string>> = {
  amount: 'dollars',
  expires_at: 'expires',
  'budgets.day': 'day-budget',
  'budgets.month': 'month-budget',
  'budgets.total': 'total-budget',
};

const optionOf = (path: readonly PropertyKey[]): string => {
  const field = path.filter((name) => typeof name === 'string' && name !== 'limits').join('.');
  return `--${OPTION_NAMES[field] ?? field.replaceAll('_', '-')}`;
};

const OPTION_WORDS: FaultWords = { field: 'option', nameOf: optionOf };

const faultsText = (source: string, faults: readonly string[]): string =>
  faults.length === 1 ? `Invalid input in ${source}: ${faults[0]}` : [`Invalid input in ${source}:`, ...faults].join('\n- ');

/** Returns the parsed value. @param source a file or an option, such as `--day` @throws UsageError */
export const checked = <Schema extends z.ZodType>(schema: Schema, value: unknown, source: string): z.output<Schema> => {
  if (value === undefined) throw new UsageError(`${source} is missing.`);
  const result = schema.safeParse(value);
  if (!result.success) throw new UsageError(faultsText(source, explainFaults(schema, value, result.error, WORDS)));
  return result.data;
};

// An option's text is all that can be expected.
const withoutType = (fault: string): string => fault.replace(/ is missing: .*/, ' is missing.');

/** Returns what options set, parsed. Faults name the options. @throws UsageError */
export const checkedOptions = <Schema extends z.ZodType>(schema: Schema, fields: object): z.output<Schema> => {
  const result = schema.safeParse(fields);
  if (!result.success) throw new UsageError(explainFaults(schema, fields, result.error, OPTION_WORDS).map(withoutType).join('\n'));
  return result.data;
};
