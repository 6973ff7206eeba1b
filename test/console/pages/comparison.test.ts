import { describe, expect, test } from '@jest/globals';
import { type Comparison, comparedMeasures } from '../../../console/pages/deployment/comparison-rows.ts';

const times = (count: number, p50: number | null, p95: number | null) => ({ count, mean_ms: p50, p50_ms: p50, p95_ms: p95 });
const NONE = { both: 0, serving_only: 0, shadow_only: 0, neither: 0 };
const report = (fields: Partial<Comparison>): Comparison =>
  ({
    compared: 0,
    failed: { timed_out: 0, no_capacity: 0, refused: 0, too_large: 0, failed: 0 },
    time_to_first_token: { serving: times(0, null, null), shadow: times(0, null, null) },
    duration: { serving: times(0, null, null), shadow: times(0, null, null) },
    tokens: { serving: { prompt: 0, completion: 0 }, shadow: { prompt: 0, completion: 0 } },
    finish_reason: { same: 0, different: 0 },
    ...{ json: NONE, tool_calls: NONE, exact_matches: { same: 0, different: 0 } },
    ...fields,
  }) as Comparison;

describe('the measures of a comparison', () => {
  test('are none before the first answer', () => {
    expect(comparedMeasures(report({}))).toEqual([]);
  });

  test('are those that count at least one answer, with the number of answers', () => {
    const measures = comparedMeasures(
      report({
        compared: 3,
        failed: { timed_out: 1, no_capacity: 0, refused: 0, too_large: 0, failed: 0 },
        duration: { serving: times(3, 100, 200), shadow: times(3, 120, null) },
        json: { both: 1, serving_only: 1, shadow_only: 0, neither: 0 },
        exact_matches: { same: 1, different: 2 },
      }),
    );
    expect(measures).toContainEqual({ measure: 'Successful responses', old: '100%', next: '75%', of: 4 });
    expect(measures).toContainEqual({ measure: 'Full response (p50)', old: '100 ms', next: '120 ms', of: 3 });
    expect(measures).toContainEqual({ measure: 'Full response (p95)', old: '200 ms', next: '–', of: 3 });
    expect(measures).toContainEqual({ measure: 'Valid JSON', old: '100%', next: '50%', of: 2 });
    expect(measures).toContainEqual({ measure: 'Same response at temperature 0', old: '–', next: '33.3%', of: 3 });
    expect(measures.map(({ measure }) => measure)).not.toContain('Valid tool calls');
  });
});
