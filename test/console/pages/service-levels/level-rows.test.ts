import { describe, expect, test } from '@jest/globals';
import { levelMonths, levelRows } from '../../../../console/pages/service-levels/level-rows.ts';
import {
  draftOfPromise,
  figuresOf,
  monthsToCome,
  newPromiseOf,
  type PromiseDraft,
  type PromiseList,
  promiseFaults,
} from '../../../../console/pages/service-promise/promise-draft.ts';
import { promiseSentences } from '../../../../console/pages/service-promise/promise-words.ts';
import { NewServicePromise, toFigures } from '../../../../functions/control/service-levels/promise-resource.ts';
import { PromiseFigures } from '../../../../shared/service-levels/promise.ts';

const FIGURES = toFigures(
  PromiseFigures.parse({
    availability: {
      min_requests: 1_000,
      tiers: [
        { below: '0.999', credit_percent: 10 },
        { below: '0.99', credit_percent: 25 },
      ],
    },
    first_token_p95_ms: { tiers: [{ above: 2_000, credit_percent: 5 }] },
    max_credit_percent: 30,
  }),
);
const promiseFrom = (from_month: string, figures = FIGURES): PromiseList['data'][number] => ({
  object: 'service_promise',
  model: 'qwen3-8b',
  from_month,
  stated_at: 0,
  ...figures,
});
const listOf = (...data: PromiseList['data']): PromiseList => ({ object: 'list', data, version: data.length });
const DRAFT = draftOfPromise(listOf(promiseFrom('2027-01')), '2027-02');

describe('the form of a promise', () => {
  test('begins with the promise of the month, exactly, and sends it again unchanged', () => {
    expect(DRAFT).toEqual({
      availability: '99.9: 10\n99: 25',
      availability_least: '1000',
      first_token_p95_ms: '2000: 5',
      first_token_p95_ms_least: '1',
      wake_p95_seconds: '',
      wake_p95_seconds_least: '1',
      most: '30',
    });
    expect(figuresOf(DRAFT)).toEqual(FIGURES);
    const sent = NewServicePromise.parse(newPromiseOf('qwen3-8b', '2027-02', DRAFT));
    expect(toFigures(sent)).toEqual(FIGURES);
    expect(sent).not.toHaveProperty('wake_p95_seconds');
  });

  test('takes the latest promise that has begun by then, and none of a later month', () => {
    const other = { ...FIGURES, max_credit_percent: 50 };
    const list = listOf(promiseFrom('2027-03', other), promiseFrom('2027-01'));
    expect(draftOfPromise(list, '2027-02').most).toBe('30');
    expect(draftOfPromise(list, '2027-03').most).toBe('50');
    expect(draftOfPromise(list, '2026-12')).toMatchObject({ availability: '', most: '100' });
  });

  test.each<[Partial<PromiseDraft>, string[]]>([
    [{}, []],
    [{ availability: '99.95 10 %' }, []],
    [{ availability: '100: 10' }, []],
    [{ availability: '0.0001: 10' }, []],
    [{ availability: '100.0001: 10' }, ['availability']],
    [{ availability: '99.99999: 10' }, ['availability']],
    [{ availability: '0: 10' }, ['availability']],
    [{ availability: '99.9: 0' }, ['availability']],
    [{ availability: '99.9: 101' }, ['availability']],
    [{ availability: '99.9' }, ['availability']],
    [{ availability: '99: 10\n99.9: 25' }, ['availability']],
    [{ availability: '99.9: 10\n99: 10' }, ['availability']],
    [{ availability: '9: 1\n8: 2\n7: 3\n6: 4\n5: 5\n4: 6' }, ['availability']],
    [{ first_token_p95_ms: '1.5: 10' }, ['first_token_p95_ms']],
    [{ wake_p95_seconds: '60: 10\n120: 20' }, []],
    [{ wake_p95_seconds: '120: 10\n60: 20' }, ['wake_p95_seconds']],
    [{ availability_least: '0' }, ['availability_least']],
    [{ most: '101' }, ['most']],
  ])('finds the faults of %j', (changes, faults) => {
    const draft = { ...DRAFT, ...changes };
    expect(Object.keys(promiseFaults(draft))).toEqual(faults);
    if (faults.length === 0) expect(NewServicePromise.safeParse(newPromiseOf('qwen3-8b', '2027-02', draft)).error).toBeUndefined();
  });

  test('says in sentences what it promises', () => {
    expect(promiseSentences(FIGURES)).toEqual([
      'At least 99.9% of the requests are answered, if at least 1,000 requests count. Credit: 10% below 99.9%, 25% below 99%.',
      '95% of streams begin within 2,000 ms. Credit: 5% above 2,000 ms.',
      'The total credit for a month is at most 30%.',
    ]);
  });

  test('offers the months that have not begun, across the end of a year', () => {
    const months = monthsToCome(Date.parse('2026-11-30T23:59:59Z'));
    expect([months[0], months[1], months.length]).toEqual(['2026-12', '2027-01', 12]);
  });
});

describe('the rows of service levels', () => {
  const LEVEL = {
    model: 'qwen3-8b',
    promised: FIGURES,
    answered: 999_000,
    failed: 1_000,
    first_tokens: 500,
    first_token_p95_ms: 2_345,
    waits: 0,
    wait_p95_ms: null,
    charges: '50',
    misses: [{ measure: 'first_token_p95_ms' as const, threshold: '2000', percent: 5 }],
  };
  const rows = (level: object, is_final = true) =>
    levelRows({
      object: 'service_levels',
      organization: 'org_1',
      month: '2026-10',
      is_final,
      credit_note: null,
      data: [{ ...LEVEL, ...level }],
    }).map(({ measured, requests, state, credit }) => [measured, requests, state, credit]);

  test('compare each promise with what was measured', () => {
    expect(rows({})).toEqual([
      ['99.9% (999,000 of 1,000,000)', 1_000_000, 'kept', undefined],
      ['2.35 s', 500, 'missed', { percent: 5, charges: '50' }],
    ]);
  });

  test.each([
    [{ answered: 998, failed: 1 }, 'too few requests'],
    [{ charges: null, misses: [] }, 'no charges'],
  ])('say why %j is no miss', (level, state) => {
    expect(rows(level)[0]?.[2]).toBe(state);
  });

  test('show an unfinished month so far, without rounding a share up to its threshold', () => {
    const unknown = { first_tokens: null, first_token_p95_ms: null, waits: null, charges: null, misses: [] };
    const soFar = (level: object) => rows({ ...unknown, ...level }, false).map(([measured, , state]) => [measured, state]);
    expect(soFar({})).toEqual([
      ['99.9% (999,000 of 1,000,000)', 'kept so far'],
      [undefined, 'not known yet'],
    ]);
    expect(soFar({ answered: 9_989_999_999, failed: 10_000_001 })[0]).toEqual([
      '99.8999% (9,989,999,999 of 10,000,000,000)',
      'missed so far',
    ]);
  });

  test('are of this month, the twelve before, and a month of a link', () => {
    const nowMs = Date.parse('2026-11-15T00:00:00Z');
    expect(levelMonths(nowMs, '')).toHaveLength(13);
    expect(levelMonths(nowMs, '')[0]).toBe('2026-11');
    expect(levelMonths(nowMs, '2024-02').at(-1)).toBe('2024-02');
    expect(levelMonths(nowMs, '2026-10')).toHaveLength(13);
    for (const wrong of ['2026-12', '2024-13', 'x']) expect(levelMonths(nowMs, wrong)).toHaveLength(13);
  });
});
