import { csvOf } from '../../design/format/csv.ts';
import { formatDay } from '../../design/format/times.ts';
import type { UsageTable } from './tabulate.ts';
import type { Grouping, Measure } from './usage-query.ts';

/** A line for each group of each day, with exact numbers. */
export const usageCsv = ({ days, byDay }: UsageTable, groupBy: Grouping, measure: Measure): string => {
  const isCost = measure === 'cost';
  const head = ['day', groupBy, ...(isCost ? [] : ['requests', 'input_tokens', 'cached_input_tokens', 'output_tokens']), 'cost'];
  const lines = days.flatMap((day) =>
    (byDay.get(day) ?? []).map(({ name, cost, requests, input, cached, output }) => [
      formatDay(day),
      name ?? '',
      ...(isCost ? [] : [requests, input, cached, output].map(String)),
      cost,
    ]),
  );
  return csvOf([head, ...lines]);
};
