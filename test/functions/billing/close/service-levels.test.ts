import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { usageGroup } from '../../../../functions/billing/close/charge-group.ts';
import { missesOf, serviceLevelsOf } from '../../../../functions/billing/close/service-levels.ts';
import {
  addServices,
  countsOf,
  createServiceCount,
  listServices,
  readServices,
  type ServiceSums,
  verdictOf,
} from '../../../../functions/billing/close/service-sums.ts';
import { PromiseFigures } from '../../../../shared/service-levels/promise.ts';
import type { LevelCounts } from '../../../../shared/service-levels/service-level.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { isFull } from '../../../support/sized.ts';

const NO_COUNTS: LevelCounts = { answered: 0, failed: 0, first_tokens: 0, first_token_p95_ms: null, waits: 0, wait_p95_ms: null };

const eventOf = (facts: Partial<UsageEvent> = {}): UsageEvent => ({
  request_id: 'req_1',
  key_id: 'key_1',
  org_id: 'org_1',
  model: 'm',
  stream: true,
  prompt_tokens: 1,
  cached_tokens: 0,
  completion_tokens: 1,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  admitted_at: 0,
  time_to_first_token_ms: 100,
  duration_ms: 200,
  step_ends_ms: [1, 2, 3, 4, 5, 200],
  cost_nanos: 1_000n,
  price_version: 'price_1',
  ...facts,
});

const countsFor = (events: readonly UsageEvent[], promised = ['m']): LevelCounts => {
  const count = createServiceCount(new Set(promised));
  for (const event of events) count.add(event);
  return countsOf(count.end(), 'm');
};

describe('a promise', () => {
  const availability = {
    min_requests: 1_000,
    tiers: [
      { below: '0.999', credit_percent: 10 },
      { below: '0.99', credit_percent: 25 },
    ],
  };
  const figures = PromiseFigures.parse({ availability });
  const misses = (answered: number, failed: number) => missesOf(figures, { ...NO_COUNTS, answered, failed });

  test.each([
    [999, 1, undefined],
    [998, 2, '0.999'],
    [990, 10, '0.999'],
    [989, 11, '0.99'],
    [0, 1_000, '0.99'],
    // One request less than must be counted.
    [0, 999, undefined],
    [0, 0, undefined],
  ])('misses with %i answered and %i failed requests the tier %s of availability', (answered, failed, threshold) => {
    expect(misses(answered, failed).map((miss) => miss.threshold)).toEqual(threshold === undefined ? [] : [threshold]);
  });

  test('keeps a 95th percentile exactly at its threshold', () => {
    const times = PromiseFigures.parse({
      first_token_p95_ms: { min_requests: 20, tiers: [{ above: 1_500, credit_percent: 5 }] },
      wake_p95_seconds: { tiers: [{ above: 60, credit_percent: 7 }] },
    });
    const of = (counts: Partial<LevelCounts>) => missesOf(times, { ...NO_COUNTS, ...counts }).map(({ measure }) => measure);
    expect(of({ first_tokens: 20, first_token_p95_ms: 1_500, waits: 1, wait_p95_ms: 60_000 })).toEqual([]);
    expect(of({ first_tokens: 20, first_token_p95_ms: 1_501 })).toEqual(['first_token_p95_ms']);
    expect(of({ first_tokens: 19, first_token_p95_ms: 1_501 })).toEqual([]);
    expect(of({ waits: 1, wait_p95_ms: 60_001 })).toEqual(['wake_p95_seconds']);
  });

  test('credits at most what all misses together may', () => {
    const limited = PromiseFigures.parse({
      availability: { tiers: [{ below: '1', credit_percent: 20 }] },
      first_token_p95_ms: { tiers: [{ above: 1, credit_percent: 20 }] },
      wake_p95_seconds: { tiers: [{ above: 1, credit_percent: 20 }] },
      max_credit_percent: 30,
    });
    const all = { answered: 1, failed: 1, first_tokens: 1, first_token_p95_ms: 9_000, waits: 1, wait_p95_ms: 9_000 };
    expect(missesOf(limited, all).map(({ measure, percent }) => [measure, percent])).toEqual([
      ['availability', 20],
      ['first_token_p95_ms', 10],
    ]);
  });
});

describe('verdictOf', () => {
  test.each<[string, Partial<UsageEvent>, 'answered' | 'failed' | undefined]>([
    ['an answer', {}, 'answered'],
    ['an answer that the deadline cut off', { outcome: 'timed_out' }, 'answered'],
    ['a timeout without an answer', { outcome: 'timed_out', error_code: 'upstream_timeout', error_status: 504 }, 'failed'],
    ['a failure of the model', { outcome: 'upstream_failed', error_code: 'upstream_failed', error_status: 502 }, 'failed'],
    ['no capacity', { outcome: 'upstream_failed', error_code: 'no_capacity', error_status: 503 }, 'failed'],
    ['an answer that broke off', { outcome: 'upstream_failed' }, 'failed'],
    ['a rejection by the model', { outcome: 'upstream_failed', error_code: 'invalid_value', error_status: 400 }, undefined],
    ['a caller who left', { outcome: 'client_closed' }, undefined],
    ['a caller who left after an error', { outcome: 'client_closed', error_status: 502 }, undefined],
  ])('counts %s', (_, facts, expected) => {
    expect(verdictOf(eventOf(facts))).toBe(expected);
  });
});

describe('a request', () => {
  test('counts for the model that it named, also if a fallback answered', () => {
    const attempts = [{ model: 'm', code: 'no_capacity', ms: 5 }];
    expect(countsFor([eventOf({ model: 'other', fallback: 1, attempts })])).toMatchObject({ answered: 1, failed: 0 });
    expect(countsFor([eventOf({ attempts: [{ model: 'other', code: 'no_capacity', ms: 5 }], fallback: 1 })])).toEqual(NO_COUNTS);
  });

  test('does not count if it went to a deployment or the tokenizer, or was rated again', () => {
    const rerate = { id: 'rr_1', from: 'price_0' };
    const others = [eventOf({ user_id: 'u' }), eventOf({ price_version: null }), eventOf({ request_id: 'req_1#2', rerate })];
    expect(countsFor(others)).toEqual(NO_COUNTS);
  });

  test('counts as failed for each model that its API key used that day if its function crashed', () => {
    const orphan = eventOf({ outcome: 'orphaned', price_version: null });
    const { model: _, ...unknown } = orphan;
    expect(countsFor([unknown, eventOf(), unknown])).toMatchObject({ answered: 1, failed: 2 });
    expect(countsFor([unknown, eventOf({ model: 'other' })])).toEqual(NO_COUNTS);
  });

  test('counts as a wait if it waited for capacity, and its first token does not', () => {
    const waited = (ms: number) => eventOf({ step_ends_ms: [1, 2, 3, 3 + ms, null, null] });
    expect(countsFor([waited(1_000)])).toMatchObject({ waits: 1, wait_p95_ms: 1_000, first_tokens: 0 });
    expect(countsFor([waited(999)])).toMatchObject({ waits: 0, first_tokens: 1, first_token_p95_ms: 100 });
    expect(countsFor([eventOf({ stream: false })])).toMatchObject({ answered: 1, first_tokens: 0 });
  });
});

// Computed from the definition, over a plain list.
const expectedCounts = (events: readonly UsageEvent[]): LevelCounts => {
  const keys = [...new Set(events.map((event) => `${event.key_id} ${Math.floor(event.admitted_at / 86_400_000)}`))];
  let answered = 0;
  let failed = 0;
  const tokens: number[] = [];
  const waits: number[] = [];
  for (const place of keys) {
    const own = events.filter((event) => `${event.key_id} ${Math.floor(event.admitted_at / 86_400_000)}` === place);
    const named = own.filter(
      (event) =>
        event.outcome !== 'orphaned' &&
        event.user_id === undefined &&
        event.price_version !== null &&
        (event.attempts ? event.attempts[0]?.model : event.model) === 'm',
    );
    if (named.length > 0) failed += own.filter(({ outcome }) => outcome === 'orphaned').length;
    for (const event of named) {
      if (event.outcome === 'client_closed' || (event.error_status !== undefined && event.error_status < 500)) continue;
      if (event.outcome === 'upstream_failed' || event.error_status !== undefined) failed++;
      else {
        answered++;
        const [, , fitted, invoked] = event.step_ends_ms as number[];
        const waited = (invoked as number) - (fitted as number);
        if (waited >= 1_000) waits.push(waited);
        else if (event.stream && event.time_to_first_token_ms !== null) tokens.push(event.time_to_first_token_ms);
      }
    }
  }
  // The smallest value that at least 19 of 20 don't exceed.
  const p95 = (values: number[]): number | null => {
    const reaching = values.filter((value) => 20 * values.filter((each) => each <= value).length >= 19 * values.length);
    return reaching.length === 0 ? null : Math.min(...reaching);
  };
  return { answered, failed, first_tokens: tokens.length, first_token_p95_ms: p95(tokens), waits: waits.length, wait_p95_ms: p95(waits) };
};

const RandomEvent = fc
  .record({
    key: fc.constantFrom('key_1', 'key_2'),
    day: fc.integer({ min: 0, max: 2 }),
    model: fc.constantFrom('m', 'm', 'm', 'other'),
    named: fc.constantFrom(undefined, undefined, 'm', 'other'),
    end: fc.constantFrom('completed', 'completed', 'completed', 'cut_off', 'timeout', 'failed', 'rejected', 'closed', 'orphaned'),
    host: fc.constantFrom('serverless', 'serverless', 'serverless', 'on_demand', 'free'),
    stream: fc.boolean(),
    tokenMs: fc.option(fc.integer({ min: 0, max: 40 })),
    waitMs: fc.constantFrom(0, 0, 999, 1_000, 1_001, 5_000),
    cost: fc.bigInt({ min: 0n, max: 999_999_999n }),
    isPrepaid: fc.boolean(),
  })
  .map(({ key, day, model, named, end, host, stream, tokenMs, waitMs, cost, isPrepaid }): UsageEvent => {
    const ends = {
      completed: { outcome: 'completed' },
      cut_off: { outcome: 'timed_out' },
      timeout: { outcome: 'timed_out', error_status: 504 },
      failed: { outcome: 'upstream_failed', error_status: 503 },
      rejected: { outcome: 'upstream_failed', error_status: 400 },
      closed: { outcome: 'client_closed', error_status: 502 },
      orphaned: { outcome: 'orphaned', price_version: null },
    } as const;
    return eventOf({
      key_id: key,
      admitted_at: day * 86_400_000,
      model,
      stream,
      time_to_first_token_ms: tokenMs,
      step_ends_ms: [1, 2, 3, 3 + waitMs, 4 + waitMs, 5 + waitMs],
      cost_nanos: cost,
      ...(isPrepaid && { is_prepaid: true as const }),
      ...(named !== undefined && { attempts: [{ model: named, code: 'no_capacity', ms: 1 }], fallback: 1 }),
      ...(host === 'on_demand' && { user_id: 'u' }),
      ...(host === 'free' && { price_version: null }),
      ...ends[end as keyof typeof ends],
    });
  });

describe('the service level of a month', () => {
  const addUp = (events: readonly UsageEvent[]): ServiceSums => {
    const sums: ServiceSums = new Map();
    for (const key of ['key_1', 'key_2'])
      for (let day = 0; day < 3; day++) {
        const count = createServiceCount(new Set(['m']));
        for (const event of events) if (event.key_id === key && event.admitted_at === day * 86_400_000) count.add(event);
        // As stored in a file and read again.
        addServices(sums, readServices(listServices(count.end())));
      }
    return sums;
  };

  test('is that of its definition, to the count and the nano-dollar', () => {
    fc.assert(
      fc.property(fc.array(RandomEvent, { maxLength: 60 }), (events) => {
        const sums = addUp(events);
        const expected = expectedCounts(events);
        expect(countsOf(new Map(sums), 'm')).toEqual(expected);
        const figures = PromiseFigures.parse({ availability: { tiers: [{ below: '0.9', credit_percent: 10 }] } });
        const [level] = serviceLevelsOf([{ model: 'm', figures }], sums, events.map(usageGroup));
        if (!sums.has('m')) return;
        const charged = events.filter(({ model }) => model === 'm');
        const sum = (some: readonly UsageEvent[]): bigint => some.reduce((total, { cost_nanos }) => total + cost_nanos, 0n);
        expect(level).toMatchObject({
          ...expected,
          charges_nanos: sum(charged),
          prepaid_nanos: sum(charged.filter(({ is_prepaid }) => is_prepaid)),
        });
        const requests = expected.answered + expected.failed;
        expect(level?.misses.length === 1).toBe(requests > 0 && 10 * expected.answered < 9 * requests);
      }),
      { numRuns: isFull ? 50_000 : 500 },
    );
  });
});
