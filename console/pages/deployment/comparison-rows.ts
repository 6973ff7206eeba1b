import type { ReplyBody } from '../../client/routes.ts';

export type Comparison = ReplyBody<'GET /v1/deployments/{id}/shadow'>;

/** A measure of both generations, as texts. */
export interface ComparedMeasure {
  measure: string;
  old: string;
  next: string;
  /** The number of answers that it counts. */
  of: number;
}

const msOf = (ms: number | null): string => (ms === null ? '–' : `${ms} ms`);
const percentOf = (part: number, whole: number): string => `${Math.round((1_000 * part) / whole) / 10}%`;

const timeRows = (name: string, { serving, shadow }: Comparison['duration']): ComparedMeasure[] =>
  (['p50_ms', 'p95_ms'] as const).map((percentile) => ({
    measure: `${name} (${percentile === 'p50_ms' ? 'p50' : 'p95'})`,
    old: msOf(serving[percentile]),
    next: msOf(shadow[percentile]),
    of: shadow.count,
  }));

const validRows = (measure: string, { both, serving_only, shadow_only, neither }: Comparison['json']): ComparedMeasure[] => {
  const of = both + serving_only + shadow_only + neither;
  return of === 0 ? [] : [{ measure, old: percentOf(both + serving_only, of), next: percentOf(both + shadow_only, of), of }];
};

const sameRows = (measure: string, { same, different }: Comparison['exact_matches']): ComparedMeasure[] => {
  const of = same + different;
  return of === 0 ? [] : [{ measure, old: '–', next: percentOf(same, of), of }];
};

/** The measures of a comparison that count any answers. */
export const comparedMeasures = (report: Comparison): ComparedMeasure[] => {
  const { compared, failed, tokens } = report;
  const failures = Object.values(failed).reduce((sum, each) => sum + each, 0);
  const of = compared + failures;
  if (of === 0) return [];
  return [
    { measure: 'Successful responses', old: '100%', next: percentOf(compared, of), of },
    ...timeRows('Time to first token', report.time_to_first_token),
    ...timeRows('Full response', report.duration),
    { measure: 'Output tokens', old: String(tokens.serving.completion), next: String(tokens.shadow.completion), of: compared },
    ...sameRows('Same finish reason', report.finish_reason),
    ...validRows('Valid JSON', report.json),
    ...validRows('Valid tool calls', report.tool_calls),
    ...sameRows('Same response at temperature 0', report.exact_matches),
  ];
};
