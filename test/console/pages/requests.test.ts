import { describe, expect, test } from '@jest/globals';
import { FILTER_NAMES, type FilterValues, filtersSet, parsePairs, searchOf } from '../../../console/pages/requests/filters.ts';
import { mergeNewer } from '../../../console/pages/requests/merge-newer.ts';
import { rejectedQuery, rejectionsIn } from '../../../console/pages/requests/rejections.ts';

const NOW_S = 1_795_694_696;
const none = Object.fromEntries(FILTER_NAMES.map((name) => [name, ''])) as FilterValues;

describe('searchOf', () => {
  test('searches the last 24 hours if the address has no filter', () => {
    expect(searchOf(none, NOW_S)).toEqual({ start_time: String(NOW_S - 86_400) });
  });

  test('sends every filter of the address', () => {
    const values: FilterValues = {
      ...none,
      status: '5xx',
      outcome: 'timed_out',
      model: 'qwen3-8b',
      api_key_id: 'key_1',
      id: 'req_1',
      error_code: 'timeout',
      user: 'ann',
      user_id: 'u-1',
      project_id: 'prj_1',
      deployment: 'dep_1',
      min_duration_ms: '5000',
      organization: 'org_1',
      metadata: 'team=search, env=prod',
      range: 'custom',
      from: '2026-11-25T10:00',
      to: '2026-11-25T11:00',
    };
    const { metadata: _, range: __, from: ___, to: ____, live: _____, ...plain } = values;
    expect(searchOf(values, NOW_S)).toEqual({
      ...plain,
      metadata: { team: 'search', env: 'prod' },
      start_time: '1795600800',
      end_time: '1795604400',
    });
  });

  test('searches the last 24 hours if the address has an unknown range', () => {
    expect(searchOf({ ...none, range: 'forever' }, NOW_S)).toEqual({ start_time: String(NOW_S - 86_400) });
  });
});

describe('parsePairs', () => {
  test.each([
    ['team=search', { team: 'search' }],
    [' team = search , env=prod ', { team: 'search', env: 'prod' }],
    ['query=a=b', { query: 'a=b' }],
    ['team', {}],
    ['=search', {}],
    ['', {}],
  ])('reads %j', (text, pairs) => {
    expect(parsePairs(text)).toEqual(pairs);
  });
});

describe('filtersSet', () => {
  test('leaves out the time and the organization', () => {
    expect(filtersSet({ ...none, range: '7d', live: 'on', organization: 'org_1', status: '5xx', metadata: 'a=b' })).toEqual([
      'status',
      'metadata',
    ]);
  });
});

describe('mergeNewer', () => {
  const row = (id: string, created_at: number, status = 200) => ({ id, created_at, status });

  test('shows each request once, as it was last read, newest first', () => {
    const shown = [row('req_b', 2, 0), row('req_a', 1)];
    const newer = [row('req_c', 3), row('req_b', 2, 503)];
    expect(mergeNewer(shown, newer, 10)).toEqual([row('req_c', 3), row('req_b', 2, 503), row('req_a', 1)]);
  });

  test('puts requests that arrived late in their place', () => {
    expect(mergeNewer([row('req_c', 3), row('req_a', 1)], [row('req_b', 2)], 10).map(({ id }) => id)).toEqual(['req_c', 'req_b', 'req_a']);
  });

  test('keeps the newest requests', () => {
    expect(mergeNewer([row('req_a', 1)], [row('req_b', 2), row('req_c', 3)], 2).map(({ id }) => id)).toEqual(['req_c', 'req_b']);
  });
});

describe('rejected requests', () => {
  const queryOf = (values: Partial<FilterValues>) => rejectedQuery({ ...none, ...values }, searchOf({ ...none, ...values }, NOW_S));

  test('are counted for the time, the API key and the organization of a search', () => {
    expect(queryOf({})).toEqual({ start_time: String(NOW_S - 86_400) });
    expect(queryOf({ range: '1h', api_key_id: 'key_1', organization: 'org_1' })).toEqual({
      start_time: String(NOW_S - 3_600),
      api_key_ids: ['key_1'],
      organization: 'org_1',
    });
  });

  test.each(['model', 'status', 'project_id', 'metadata'] as const)(
    'are not counted with a filter for %s, which is not known of them',
    (name) => {
      expect(queryOf({ [name]: 'a=b' })).toBeUndefined();
    },
  );

  test('are listed by their code, the most frequent first', () => {
    const metrics = { series: [{ totals: { refusals: { http_400: 1, rate_limit_exceeded: 4 } } }] };
    expect(rejectionsIn(metrics as unknown as Parameters<typeof rejectionsIn>[0])).toEqual({
      count: 5,
      codes: [
        { code: 'rate_limit_exceeded', times: 4 },
        { code: 'status 400', times: 1 },
      ],
    });
    expect(rejectionsIn(undefined)).toEqual({ count: 0, codes: [] });
  });
});
