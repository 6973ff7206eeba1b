import * as z from 'zod';
import type { LambdaFunction } from '../../assembly/local-app.ts';
import { type LocatedResource, readProperties } from '../../assembly/located-resource.ts';
import { compileLogFilter, type LogLine } from './log-filter.ts';

const FilterProperties = z.object({
  LogGroupName: z.string(),
  FilterPattern: z.string(),
  MetricTransformations: z.array(z.object({ MetricName: z.string(), DefaultValue: z.number().optional() })).length(1),
});

/**
 * The names of the metrics that have values if functions write these lines: those with a matching line, and those
 * with a value for all other lines. Only a metric with values is billed.
 * @param linesOf the lines of a function, by its short name
 */
export const metricsOfLines = (
  filters: readonly LocatedResource[],
  functions: readonly LambdaFunction[],
  linesOf: (functionName: string) => readonly LogLine[],
): Set<string> => {
  const names = filters.flatMap((at) => {
    const { LogGroupName, FilterPattern, MetricTransformations } = readProperties(at, FilterProperties);
    const source = functions.find(({ logGroup }) => logGroup === LogGroupName);
    const lines = source ? linesOf(source.shortName) : [];
    const isMatched = lines.some(compileLogFilter(FilterPattern));
    return MetricTransformations.flatMap(({ MetricName, DefaultValue }) =>
      isMatched || (lines.length > 0 && DefaultValue !== undefined) ? [MetricName] : [],
    );
  });
  return new Set(names);
};
