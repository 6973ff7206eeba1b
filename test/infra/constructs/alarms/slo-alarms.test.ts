import { describe, expect, test } from '@jest/globals';
import { type Minute, simulate } from '../../../support/assembly/alarm-simulation.ts';
import { stackNames, templateOf, templatesWith } from '../../../support/assembly/templates.ts';

const operations = templateOf('operations');

// In ms; the target is invoked after `invoked`.
const stepEnds = (invoked: number) => [4, 12, 12, invoked, invoked + 90, invoked + 2_000];
const answered = (firstTokenMs = 800) => ({
  message: 'request',
  outcome: 'completed',
  time_to_first_token_ms: firstTokenMs,
  step_ends_ms: stepEnds(13),
});
const refused = (status: number, code: string) => ({ message: 'refused', status, code });

// The lines of a request that was admitted and failed before its first token.
const failing = (code = 'upstream_error', status = 503) => [
  { message: 'request', outcome: 'upstream_failed', error_code: code, status, code, time_to_first_token_ms: null },
  refused(status, code),
];

// Each line with its number in the minute.
const minute = (...lines: [line: object | object[], count: number][]): Minute => ({
  lines: lines.flatMap(([line, count]) => [line].flat().map((each) => [each as Record<string, unknown>, count] as const)),
});
const times = (count: number, each: Minute): Minute[] => Array.from({ length: count }, () => each);
const HOUR = 60;

// Minutes in which the alarm goes on and off, the same whether or not FILL fills series without any value.
const changesOf = (alarm: string, minutes: readonly Minute[]): { on: number[]; off: number[] } => {
  const [filled, unfilled] = [true, false].map((fillsEmpty) => {
    const states = simulate(operations, alarm, minutes, { fillsEmpty });
    const at = (state: boolean) => states.flatMap((isOn, i) => (isOn === state && (states[i - 1] ?? false) !== state ? [i] : []));
    return { on: at(true), off: at(false) };
  });
  expect(unfilled).toEqual(filled);
  return filled as { on: number[]; off: number[] };
};
const NEVER = { on: [], off: [] };
const AVAILABILITY = ['ServerlessAvailabilityBurning', 'OndemandAvailabilityBurning'];
const FIRST_TOKENS = ['ServerlessFirstTokensBurning', 'OndemandFirstTokensBurning'];

test.each([...AVAILABILITY, ...FIRST_TOKENS])('%s does not go off without traffic', (alarm) => {
  expect(changesOf(alarm, times(8 * HOUR, {}))).toEqual(NEVER);
});

describe.each(AVAILABILITY)('%s', (alarm) => {
  const busy = minute([answered(), 600]);
  const down = minute([failing(), 600]);

  test('goes off in the third minute in which all requests fail, and ends less than six hours later', () => {
    // 0.6 % of six hours are 2.16 minutes.
    const { on, off } = changesOf(alarm, [...times(7 * HOUR, busy), ...times(5, down), ...times(7 * HOUR, busy)]);
    expect(on).toEqual([7 * HOUR + 2]);
    expect(off).toEqual([7 * HOUR + 5 + 6 * HOUR - 3]);
  });

  test('does not go off because of single failures of a host with little traffic', () => {
    const hour = [...times(59, minute([answered(), 1])), minute([failing(), 1])];
    expect(changesOf(alarm, Array.from({ length: 8 }, () => hour).flat())).toEqual(NEVER);
  });

  test('goes off with the tenth failure of a quiet host of which every request fails', () => {
    const { on } = changesOf(alarm, [...times(2 * HOUR, minute([answered(), 1])), ...times(HOUR, minute([failing(), 1]))]);
    expect(on).toEqual([2 * HOUR + 9]);
  });

  test('goes off after hours of a slow burn, and never if the budget lasts for a week', () => {
    const burning = (failures: number) => minute([answered(), 1_000 - failures], [failing(), failures]);
    // 1 % is ten times what 99.9 % allow, and over 0.6 % of six hours after more than 216 minutes.
    expect(changesOf(alarm, [...times(6 * HOUR, busyThousand), ...times(6 * HOUR, burning(10))]).on).toEqual([6 * HOUR + 216]);
    expect(changesOf(alarm, times(12 * HOUR, burning(4)))).toEqual(NEVER);
  });

  test.each([
    ['429: the caller’s limits', refused(429, 'rate_limit_exceeded')],
    ['400: the caller’s mistake', refused(400, 'invalid_value')],
    ['400 from the runtime', failing('context_length_exceeded', 400)],
    ['401', refused(401, 'invalid_api_key')],
    ['a deployment that wakes', refused(503, 'deployment_waking')],
    ['a deployment that wakes, after the admission', failing('deployment_waking')],
    ['a deployment that its owner has stopped', refused(503, 'deployment_not_ready')],
  ])('does not count %s', (_, lines) => {
    expect(changesOf(alarm, times(8 * HOUR, minute([answered(), 10], [lines, 600])))).toEqual(NEVER);
  });

  test.each([
    ['streams that break off', minute([answered(), 500], [[{ message: 'stream_broken', status: 503, code: 'upstream_error' }], 100])],
    ['requests that are rejected because the database is away', minute([answered(), 500], [refused(503, 'service_unavailable'), 100])],
    ['errors of our own', minute([answered(), 500], [refused(500, 'internal_error'), 100])],
    ['functions that crash', { ...minute([answered(), 500]), lambda: { Errors: 100 } }],
    ['functions that can’t start', { ...minute([answered(), 500]), lambda: { Throttles: 100 } }],
  ])('counts %s', (_, bad) => {
    expect(changesOf(alarm, [...times(2 * HOUR, busy), ...times(30, bad)]).on).toHaveLength(1);
  });

  test('goes off if no function can start, so that there is not a single log line', () => {
    const states = simulate(operations, alarm, [...times(2 * HOUR, busy), ...times(10, { lambda: { Throttles: 600 } })]);
    expect(states.indexOf(true)).toBe(2 * HOUR);
  });
});

const busyThousand = minute([answered(), 1_000]);

test("counts a lack of capacity on the serverless host only; owners decide about the on-demand host's", () => {
  const full = [...times(2 * HOUR, busyThousand), ...times(HOUR, minute([answered(), 500], [failing('no_capacity'), 500]))];
  expect(changesOf('ServerlessAvailabilityBurning', full).on).toEqual([2 * HOUR + 1]);
  expect(changesOf('OndemandAvailabilityBurning', full)).toEqual(NEVER);
});

describe.each(FIRST_TOKENS)('%s', (alarm) => {
  test('goes off if every first token is late for 22 minutes of six hours, and ends when they are over', () => {
    const late = minute([answered(5_001), 1_000]);
    const { on, off } = changesOf(alarm, [...times(7 * HOUR, busyThousand), ...times(25, late), ...times(7 * HOUR, busyThousand)]);
    // 6 % of six hours are 21.6 minutes.
    expect(on).toEqual([7 * HOUR + 21]);
    expect(off).toEqual([7 * HOUR + 25 + 6 * HOUR - 22]);
  });

  test('takes a first token at the promised time for one in time', () => {
    expect(changesOf(alarm, times(8 * HOUR, minute([answered(5_000), 100])))).toEqual(NEVER);
  });

  test('goes off after hours in which every tenth first token is late, and not if it is every twentieth', () => {
    const burning = (late: number) => minute([answered(), 1_000 - late], [answered(9_000), late]);
    expect(changesOf(alarm, [...times(6 * HOUR, busyThousand), ...times(6 * HOUR, burning(100))]).on).toEqual([6 * HOUR + 216]);
    expect(changesOf(alarm, times(12 * HOUR, burning(50)))).toEqual(NEVER);
  });

  test('does not count how long a request waited for its deployment to wake', () => {
    const waited = { ...answered(94_000), may_wait: true, step_ends_ms: stepEnds(93_000) };
    expect(changesOf(alarm, times(8 * HOUR, minute([answered(), 10], [waited, 100])))).toEqual(NEVER);
  });

  test('counts a request that would have waited but did not', () => {
    const late = { ...answered(9_000), may_wait: true };
    expect(changesOf(alarm, [...times(2 * HOUR, busyThousand), ...times(HOUR, minute([late, 1_000]))]).on).toHaveLength(1);
  });

  test('does not count requests that failed before their first token', () => {
    expect(changesOf(alarm, times(8 * HOUR, minute([answered(), 10], [failing(), 600])))).toEqual(NEVER);
  });

  test('does not go off because of a few late tokens of a host with little traffic', () => {
    const hour = [...times(57, minute([answered(), 1])), ...times(1, minute([answered(20_000), 1])), ...times(2, {})];
    expect(changesOf(alarm, Array.from({ length: 6 }, () => hour).flat())).toEqual(NEVER);
  });
});

test('objectives are settings', async () => {
  const slo = { availability: 99, firstTokenMs: 2_000, firstTokenShare: 95, minimumMisses: 3 };
  const operationsWith = (await templatesWith({ slo }))('operations');
  const alarms = Object.entries(operationsWith.findResources('AWS::CloudWatch::Alarm'));
  const thresholds = (name: string) =>
    alarms.filter(([id]) => id.startsWith(name)).map(([, { Properties }]) => [Properties.Threshold, Properties.Metrics[0].Expression]);
  const share = (minimum: number) => `IF(unanswered >= ${minimum}, 100 * unanswered / (FILL(answered, 0) + unanswered), 0)`;
  expect(thresholds('ServerlessAvailabilityBurning')).toEqual([[6, share(3)]]);
  expect(thresholds('OndemandFirstTokensBurning').map(([threshold]) => threshold)).toEqual([30]);
  const late = minute([answered(2_001), 100]);
  expect(simulate(operationsWith, 'OndemandFirstTokensBurning', times(10, late)).at(-1)).toBe(true);
  expect(simulate(operations, 'OndemandFirstTokensBurning', times(10, late)).at(-1)).toBe(false);
});

test('no metric of log lines has dimensions, so that keys and organizations never become metrics', () => {
  const filters = stackNames.flatMap((stack) => Object.values(templateOf(stack).findResources('AWS::Logs::MetricFilter')));
  expect(filters.length).toBeGreaterThan(20);
  for (const { Properties } of filters) {
    for (const { Dimensions, MetricName } of Properties.MetricTransformations) {
      expect(Dimensions).toBeUndefined();
      expect(MetricName).toMatch(/^[A-Za-z]+$/);
    }
  }
});
