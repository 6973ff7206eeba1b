import { describe, expect, test } from '@jest/globals';
import { economicsQuery } from '../../../console/pages/economics/economics-query.ts';
import {
  daysOf,
  type EconomicsRow,
  economicsCsv,
  hours,
  isUnused,
  tokensOf,
  totalOf,
} from '../../../console/pages/economics/economics-sums.ts';

const NOW_S = Date.UTC(2026, 10, 26, 21) / 1_000;
const NONE = { range: '', from: '', to: '', organization: '', prompt: '', completion: '' };

const rowOf = (fields: Partial<EconomicsRow>): EconomicsRow =>
  ({
    from: '2026-11-01',
    to: '2026-12-01',
    organization: 'org_1',
    deployment: 'dep_1',
    model: 'chat',
    requests: 1,
    prompt_tokens: '9007199254740993',
    completion_tokens: 2,
    instance_seconds: { total: 10, busy: 1, idle: 2, waking: 3, draining: 4 },
    awake_days: 1,
    unused_days: 0,
    cost: '0.1',
    revenue: { total: '0.3', tokens: '0.1', gpu_time: '0.2' },
    margin: '0.2',
    list_cost: null,
    ...fields,
  }) as EconomicsRow;

describe('the query of economics', () => {
  test('asks for whole days: the month with today, or custom days with the last one', () => {
    expect(economicsQuery('month', NONE, NOW_S)).toEqual({ from: '2026-11-01', to: '2026-11-27', organization: '' });
    expect(economicsQuery('last_month', NONE, NOW_S)).toMatchObject({ from: '2026-10-01', to: '2026-11-01' });
    expect(economicsQuery('custom', { ...NONE, from: '2026-11-02', to: '2026-11-03' }, NOW_S)).toMatchObject({
      from: '2026-11-02',
      to: '2026-11-04',
    });
  });

  test('compares with a list price only if both of its parts are amounts', () => {
    expect(economicsQuery('month', { ...NONE, prompt: '0.22' }, NOW_S)).not.toHaveProperty('list_prompt');
    expect(economicsQuery('month', { ...NONE, prompt: '0.22', completion: 'much' }, NOW_S)).not.toHaveProperty('list_prompt');
    expect(economicsQuery('month', { ...NONE, prompt: '0.22', completion: '1' }, NOW_S)).toMatchObject({
      list_prompt: '0.22',
      list_completion: '1',
    });
  });
});

describe('the sums of economics', () => {
  test('are exact, and not known if a part is not', () => {
    expect(totalOf([rowOf({}), rowOf({ cost: '0.000000002' })], ({ cost }) => cost)).toBe('0.100000002');
    expect(totalOf([rowOf({}), rowOf({ cost: null })], ({ cost }) => cost)).toBeNull();
    expect(tokensOf(rowOf({}))).toBe(9_007_199_254_740_995n);
  });

  test('show a deployment that was awake without a request as unused', () => {
    expect([isUnused(rowOf({})), isUnused(rowOf({ requests: 0 })), isUnused(rowOf({ requests: 0, awake_days: 0 }))]).toEqual([
      false,
      true,
      false,
    ]);
    expect(hours('5400')).toBe('1.5');
  });

  test('are copied as CSV with every row', () => {
    const lines = economicsCsv([rowOf({}), rowOf({ margin: null })])
      .trim()
      .split(/\r?\n/);
    expect(lines).toHaveLength(3);
    expect(lines[1]).toBe('2026-11-01,2026-12-01,org_1,dep_1,chat,1,9007199254740995,1,2,3,4,0.1,0.3,0.2,');
  });
});

test('a row shows its last day, not the day after it', () => {
  expect(daysOf({ from: '2026-10-01', to: '2026-11-01' })).toBe('2026-10-01 – 2026-10-31');
});
