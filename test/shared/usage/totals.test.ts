import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { StoredTotals, storedTotals } from '../../../shared/usage/stored-totals.ts';
import { addEvent, MAX_ERROR_CODES, mergeTotals, noTotals, OTHER_ERRORS, type Totals } from '../../../shared/usage/totals.ts';
import { Draft, eventsOf, newKeys } from '../../support/fixtures/usage-events.ts';

const totalsOf = (events: readonly UsageEvent[]): Totals => {
  const totals = noTotals();
  for (const event of events) addEvent(totals, event);
  return totals;
};
// More codes than the limit, so that some count as `other`.
const withManyCodes = (events: UsageEvent[]): UsageEvent[] =>
  events.map((event, i) => ({ ...event, error_code: `code_${(i * 7_919) % 97}` }));
const Events = fc.array(Draft, { maxLength: 150 }).map((drafts) => withManyCodes(eventsOf(newKeys(), drafts)));

describe('totals', () => {
  test('do not depend on the order in which events are added and parts are merged', () => {
    fc.assert(
      fc.property(Events, fc.nat(), fc.nat(), (events, i, j) => {
        const [from, to] = [i % (events.length + 1), j % (events.length + 1)].sort((a, b) => a - b);
        const whole = totalsOf(events);
        expect(totalsOf(events.toReversed())).toEqual(whole);
        const [a, b, c] = [events.slice(0, from), events.slice(from, to), events.slice(to)].map(totalsOf) as [Totals, Totals, Totals];
        expect(mergeTotals(mergeTotals(a, b), c)).toEqual(whole);
        expect(mergeTotals(c, mergeTotals(b, a))).toEqual(whole);
        expect(mergeTotals(noTotals(), a)).toEqual(a);
      }),
      { numRuns: 50 },
    );
  });

  test('are the same after they are stored and read', () => {
    fc.assert(
      fc.property(Events, (events) => {
        const totals = totalsOf(events);
        expect(StoredTotals.parse(storedTotals(totals))).toEqual(totals);
      }),
      { numRuns: 50 },
    );
  });

  const [event] = eventsOf(newKeys(), fc.sample(Draft, { seed: 1, numRuns: 1 })) as [UsageEvent];

  test('count at most 50 error codes, and the others together', () => {
    const codes = Array.from({ length: 60 }, (_, i) => `code_${String(i).padStart(2, '0')}`);
    const { errors } = totalsOf([...codes, 'x'.repeat(65)].map((error_code) => ({ ...event, error_code })));
    expect([...errors.keys()].toSorted()).toEqual([...codes.slice(0, MAX_ERROR_CODES), OTHER_ERRORS]);
    expect(errors.get(OTHER_ERRORS)).toBe(11);
  });

  test('add only tokens and money of an event that rates a request again', () => {
    const first = totalsOf([{ ...event, is_prepaid: true, cost_nanos: 10n }]);
    const both = totalsOf([
      { ...event, is_prepaid: true, cost_nanos: 10n },
      {
        ...event,
        request_id: `${event.request_id}#2`,
        is_prepaid: true,
        prompt_tokens: 0,
        cached_tokens: 0,
        completion_tokens: 0,
        cost_nanos: -4n,
      },
    ]);
    expect(both).toEqual({ ...first, events: 2, cost_nanos: 6n, prepaid_nanos: 6n });
  });

  test('count the requests that came to a model as a fallback, once each; none in earlier rows', () => {
    const { fallback: _, ...first } = event;
    const totals = totalsOf([
      first,
      { ...first, fallback: 1 },
      { ...first, fallback: 3 },
      { ...first, request_id: 'req_1#2', fallback: 3 },
    ]);
    expect(totals.fallbacks).toBe(2);
    expect(StoredTotals.parse(storedTotals(totals)).fallbacks).toBe(2);
    expect(StoredTotals.parse(storedTotals(totalsOf([first]))).fallbacks).toBe(0);
    expect(storedTotals(totalsOf([first]))).not.toHaveProperty('fallbacks');
  });

  const answer = { ...event, duration_ms: 1_010, time_to_first_token_ms: 200, completion_tokens: 41 };

  test('count tokens and the times to the first token and from there to the answer’s end', () => {
    const speed = ({ duration_ms_sum, prompt_ms_sum, generation_ms_sum, generation_tokens }: Totals) => ({
      duration_ms_sum,
      prompt_ms_sum,
      generation_ms_sum,
      generation_tokens,
    });
    const settled = { ...answer, step_ends_ms: [1, 5, 6, 7, 60, 1_000] };
    expect(speed(totalsOf([settled]))).toEqual({
      duration_ms_sum: 1_010n,
      prompt_ms_sum: 193n,
      generation_ms_sum: 800n,
      generation_tokens: 40n,
    });
    expect(speed(totalsOf([answer]))).toEqual({
      duration_ms_sum: 1_010n,
      prompt_ms_sum: 0n,
      generation_ms_sum: 810n,
      generation_tokens: 40n,
    });
    const without = [
      { ...answer, time_to_first_token_ms: null },
      { ...answer, completion_tokens: 0 },
    ];
    for (const each of without)
      expect(speed(totalsOf([each]))).toEqual({ duration_ms_sum: 1_010n, prompt_ms_sum: 0n, generation_ms_sum: 0n, generation_tokens: 0n });
  });

  test('are read in their earlier form: with eight latency buckets an octave, and without sums of times', () => {
    const {
      duration_ms_sum: _,
      prompt_ms_sum: ____,
      generation_ms_sum: __,
      generation_tokens: ___,
      ...stored
    } = storedTotals(totalsOf([answer]));
    const earlier = { ...stored, duration_ms: { 79: 1 }, time_to_first_token_ms: {} };
    expect(StoredTotals.parse(earlier)).toEqual({
      ...totalsOf([{ ...answer, time_to_first_token_ms: null }]),
      duration_ms: { scale: 3, counts: new Map([[79, 1]]) },
      duration_ms_sum: 0n,
    });
  });
});
