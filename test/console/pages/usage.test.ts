import { describe, expect, test } from '@jest/globals';
import { cacheShare, seriesOf, tabulate } from '../../../console/pages/usage/tabulate.ts';
import { usageCsv } from '../../../console/pages/usage/usage-csv.ts';
import { chosenOf, timesOf, USAGE_NAMES, type UsageValues } from '../../../console/pages/usage/usage-query.ts';

const DAY_S = 86_400;
const FIRST = Date.UTC(2027, 0, 1) / 1_000;
const NOW_S = FIRST + 14 * DAY_S + 3_600;

const resultOf = (model: string | null, cost: string, tokens: Record<string, unknown> = {}) => ({
  model,
  api_key_id: null,
  project_id: null,
  user_id: null,
  deployment: null,
  organization: null,
  cost,
  ...tokens,
});

const named = (name: string | null): string => name ?? 'none';
const plain = (text: string): string => text;

describe('tabulate', () => {
  test('adds costs exactly, also of a day that is in several buckets', () => {
    const table = tabulate(
      [
        { start_time: FIRST + DAY_S, results: [resultOf('a', '0.000000001')] },
        { start_time: FIRST, results: [resultOf('a', '12345678901234.1'), resultOf('b', '0.2')] },
        { start_time: FIRST, results: [resultOf('a', '0.000000002')] },
      ],
      'model',
      'cost',
    );
    expect(table.days).toEqual([FIRST, FIRST + DAY_S]);
    expect(table.groups.map(({ name, cost }) => [name, cost])).toEqual([
      ['a', '12345678901234.100000003'],
      ['b', '0.2'],
    ]);
    expect(table.total.cost).toBe('12345678901234.300000003');
  });

  test('adds tokens that a number can’t hold', () => {
    const tokens = { num_model_requests: 1, input_tokens: '9007199254740993', input_cached_tokens: 1, output_tokens: 2 };
    const { total } = tabulate(
      [{ start_time: FIRST, results: [resultOf('a', '1', tokens), resultOf(null, '1', tokens)] }],
      'model',
      'tokens',
    );
    expect(total).toEqual({ cost: '2', requests: 2n, input: 18014398509481986n, cached: 2n, output: 4n });
  });

  test('sorts groups by what is shown', () => {
    const many = resultOf('many', '1', { num_model_requests: 9, input_tokens: 1, output_tokens: 1 });
    const long = resultOf('long', '2', { num_model_requests: 1, input_tokens: 99, output_tokens: 1 });
    const namesBy = (measure: 'tokens' | 'requests') =>
      tabulate([{ start_time: FIRST, results: [many, long] }], 'model', measure).groups.map(({ name }) => name);
    expect([namesBy('requests'), namesBy('tokens')]).toEqual([
      ['many', 'long'],
      ['long', 'many'],
    ]);
  });
});

describe('cacheShare', () => {
  test.each([
    [0n, 3n, '0%'],
    [2n, 3n, '67%'],
    [9_007_199_254_740_993n, 9_007_199_254_740_993n, '100%'],
    [0n, 0n, '–'],
  ])('says which share of the input was cached: %d of %d', (cached, input, share) => {
    expect(cacheShare({ cached, input })).toBe(share);
  });
});

describe('seriesOf', () => {
  test('shows the six largest groups, and the exact sum of all others', () => {
    const results = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => resultOf(`m${number}`, `${number}.000000001`));
    const series = seriesOf(
      tabulate(
        [
          { start_time: FIRST, results },
          { start_time: FIRST + DAY_S, results: [] },
        ],
        'model',
        'cost',
      ),
      'cost',
      named,
      plain,
    );
    expect(series.map(({ name, texts }) => [name, ...texts])).toEqual([
      ['m8', '8.000000001', '0'],
      ['m7', '7.000000001', '0'],
      ['m6', '6.000000001', '0'],
      ['m5', '5.000000001', '0'],
      ['m4', '4.000000001', '0'],
      ['m3', '3.000000001', '0'],
      ['All others', '3.000000002', '0'],
    ]);
  });
});

describe('usageCsv', () => {
  const bucket = {
    start_time: FIRST,
    results: [resultOf('=cmd', '0.5', { num_model_requests: 2, input_tokens: 3, input_cached_tokens: 1, output_tokens: 4 })],
  };

  test('has a line for each group of each day, in which no name is a formula', () => {
    expect(usageCsv(tabulate([bucket], 'model', 'tokens'), 'model', 'tokens')).toBe(
      "day,model,requests,input_tokens,cached_input_tokens,output_tokens,cost\r\n2027-01-01,'=cmd,2,3,1,4,0.5\r\n",
    );
  });

  test('leaves out tokens of costs', () => {
    expect(usageCsv(tabulate([bucket], 'model', 'cost'), 'model', 'cost')).toBe("day,model,cost\r\n2027-01-01,'=cmd,0.5\r\n");
  });
});

describe('timesOf', () => {
  const none = { from: '', to: '' };

  test('begins with a whole UTC day', () => {
    expect(timesOf('7d', none, NOW_S)).toEqual({ start_time: String(FIRST + 7 * DAY_S) });
  });

  test('includes the last day of a custom range', () => {
    expect(timesOf('custom', { from: '2027-01-02', to: '2027-01-02' }, NOW_S)).toEqual({
      start_time: String(FIRST + DAY_S),
      end_time: String(FIRST + 2 * DAY_S),
    });
  });

  test('takes 30 days if a custom range has no first day', () => {
    expect(timesOf('custom', none, NOW_S)).toEqual({ start_time: String(FIRST - 16 * DAY_S) });
  });
});

describe('chosenOf', () => {
  const values = Object.fromEntries(USAGE_NAMES.map((name) => [name, ''])) as UsageValues;

  test.each([
    [{}, false, { measure: 'cost', groupBy: 'model' }],
    [{ measure: 'tokens', group: 'user_id' }, false, { measure: 'tokens', groupBy: 'user_id' }],
    [{ measure: 'x', group: 'organization' }, false, { measure: 'cost', groupBy: 'model' }],
    [{ group: 'organization' }, true, { measure: 'cost', groupBy: 'organization' }],
  ])('reads %j', (address, seesAll, chosen) => {
    expect(chosenOf({ ...values, ...address }, seesAll)).toEqual(chosen);
  });
});
