import { describe, expect, test } from '@jest/globals';
import { frontierOf, type Option, waitAt } from '../../../../../functions/control/deployments/advice/options.ts';
import { suggest } from '../../../../../functions/control/deployments/advice/suggestion.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../../../shared/time/units.ts';

const DOLLAR = 1_000_000_000n;
const FIFTEEN_DAYS = { fromMs: 0, toMs: 15 * DAY_MS };

const optionOf = (idleMinutes: number | null, fields: Partial<Option> = {}): Option => ({
  idleSeconds: idleMinutes === null ? null : idleMinutes * 60,
  schedule: [],
  minCopies: 1,
  instanceSeconds: 0n,
  costNanos: 0n,
  coldStarts: 0,
  waitingRequests: 0,
  waitP50Ms: 0,
  waitP95Ms: 0,
  waitedMs: 0,
  ...fields,
});

describe('the wait at a percentile', () => {
  const waits = [
    { ms: 8 * MINUTE_MS, requests: 1 },
    { ms: MINUTE_MS, requests: 4 },
  ];

  test.each([
    [100, 0.5, 0],
    [100, 0.94, 0],
    [100, 0.96, MINUTE_MS],
    [100, 0.999, 8 * MINUTE_MS],
    [10, 0.5, 0],
    [8, 0.5, MINUTE_MS],
  ])('for %d requests, at %d: %d ms', (requests, share, expected) => {
    expect(waitAt(waits, requests, share)).toBe(expected);
  });

  test('is 0 without requests, and counts those that wait even if fewer are known', () => {
    expect(waitAt([], 0, 0.95)).toBe(0);
    expect(waitAt(waits, 0, 0.5)).toBe(MINUTE_MS);
  });
});

test('the frontier leaves out what costs more and makes callers wait more, and lists equal options once', () => {
  const cheap = optionOf(5, { costNanos: DOLLAR, waitedMs: 90 });
  const fast = optionOf(60, { costNanos: 3n * DOLLAR, waitedMs: 10 });
  const worse = optionOf(30, { costNanos: 3n * DOLLAR, waitedMs: 50 });
  expect(frontierOf([fast, worse, cheap, { ...fast, idleSeconds: null }])).toEqual([cheap, fast]);
});

describe('a suggestion', () => {
  const present = optionOf(40, { costNanos: 900n * DOLLAR, coldStarts: 30, waitP95Ms: 0, waitingRequests: 30, waitedMs: 30 * 480_000 });
  const of = { requests: 100_000, range: FIFTEEN_DAYS, symbol: '$' };

  test('saves the most while hardly more requests wait, and says what it saves in a month', () => {
    const options = [
      present,
      optionOf(1, { costNanos: 100n * DOLLAR, coldStarts: 2_000, waitingRequests: 2_000, waitP95Ms: 0 }),
      optionOf(5, { costNanos: 300n * DOLLAR, coldStarts: 400, waitingRequests: 900, waitP95Ms: 5 * SECOND_MS }),
      optionOf(15, { costNanos: 694n * DOLLAR, coldStarts: 46, waitingRequests: 46, waitP95Ms: 200 }),
      optionOf(20, { costNanos: 800n * DOLLAR, coldStarts: 40, waitingRequests: 40 }),
    ];
    expect(suggest(present, options, of)).toEqual({
      sentence:
        'Sleep after 15 minutes without a request, rather than after 40 minutes: that saves $412.00 a month and causes 32 more cold starts; the p95 wait grows by 0.2 s.',
      settings: { idleSeconds: 900, schedule: [], minCopies: 1 },
      savedNanos: 412n * DOLLAR,
      coldStarts: 32,
      waitP95Ms: 200,
    });
  });

  test('lets callers wait less, for at most 5 % more, if nothing can be saved', () => {
    const options = [
      present,
      optionOf(60, { costNanos: 940n * DOLLAR, coldStarts: 10, waitedMs: 10 * 480_000 }),
      optionOf(90, { costNanos: 945n * DOLLAR, coldStarts: 9, waitedMs: 9 * 480_000 }),
      optionOf(null, { costNanos: 2_000n * DOLLAR }),
    ];
    expect(suggest(present, options, of)?.sentence).toBe(
      'Sleep after 90 minutes without a request, rather than after 40 minutes: that costs $90.00 more a month and causes 42 fewer cold starts; the p95 wait stays the same.',
    );
  });

  test('is to never sleep, or to sleep at all', () => {
    const always = optionOf(null, { costNanos: 900n * DOLLAR });
    expect(suggest(present, [present, always], of)?.sentence).toMatch(
      /^Never sleep, rather than after 40 minutes without a request: that saves \$0.00/,
    );
    const night = optionOf(1, { costNanos: 898n * DOLLAR, coldStarts: 1, waitingRequests: 1 });
    expect(suggest(always, [always, night], of)?.sentence).toBe(
      'Sleep after 1 minute without a request, rather than never: that saves $4.00 a month and causes 2 more cold starts; the p95 wait stays the same.',
    );
  });

  test('is to stay awake in windows, also with another idle time, or to drop the windows', () => {
    const windows = (...days: ('mon' | 'tue' | 'wed' | 'fri')[]) => [{ days, from: '08:00', to: '18:00', time_zone: 'UTC', min_copies: 1 }];
    const awake = optionOf(1, { costNanos: 900n * DOLLAR, schedule: windows('mon', 'tue', 'wed') });
    expect(suggest(present, [present, awake], of)?.sentence).toBe(
      'Stay awake mon-wed 08:00-18:00 UTC, and sleep after 1 minute without a request, rather than after 40 minutes: that saves $0.00 a month and causes 60 fewer cold starts; the p95 wait stays the same.',
    );
    const two = { ...present, costNanos: 800n * DOLLAR, schedule: [...windows('mon', 'fri'), ...windows('tue')] };
    expect(suggest(present, [present, two], { ...of, symbol: '€' })?.sentence).toMatch(/that saves €\d+\.\d\d a month/);
    expect(suggest(present, [present, two], of)?.sentence).toMatch(
      /^Stay awake mon, fri 08:00-18:00 UTC and tue 08:00-18:00 UTC: that saves \$200/,
    );
    const three = { ...two, schedule: [...two.schedule, ...windows('wed')] };
    expect(suggest(present, [present, three], of)?.sentence).toMatch(/^Stay awake in 3 windows of the week: that/);
    expect(suggest(two, [two, { ...present, costNanos: 1n }], of)?.sentence).toMatch(/^Sleep without regard to windows: that saves/);
  });

  test('is to run fewer copies', () => {
    const fewer = { ...present, costNanos: 450n * DOLLAR, minCopies: 1 };
    const suggestion = suggest({ ...present, minCopies: 2 }, [fewer], of);
    expect(suggestion?.sentence).toMatch(/^Run at least 1 copy, rather than 2: that saves \$900.00 a month and has as many cold starts/);
    expect(suggestion?.settings).toEqual({ idleSeconds: 2_400, schedule: [], minCopies: 1 });
  });

  test('is the cheapest of those with the least waiting', () => {
    const fast = (costNanos: bigint, minutes: number) => optionOf(minutes, { costNanos: costNanos * DOLLAR });
    expect(suggest(present, [present, fast(940n, 60), fast(910n, 90), fast(930n, 120)], of)?.settings.idleSeconds).toBe(90 * 60);
  });

  test('is left out for less than a dollar a month', () => {
    expect(
      suggest(present, [present, optionOf(39, { costNanos: present.costNanos - DOLLAR / 2n + 1n, coldStarts: 30 })], of),
    ).toBeUndefined();
    expect(suggest(present, [present, optionOf(39, { costNanos: present.costNanos - DOLLAR / 2n, coldStarts: 30 })], of)).toBeDefined();
  });
});
