import { describe, expect, test } from '@jest/globals';
import { reasonOf, sidesOf } from '../../../console/pages/alias/sides.ts';
import {
  type Alias,
  aliasBodyOf,
  draftOfAlias,
  EMPTY_ALIAS,
  faultsOfAlias,
  isAliasComplete,
  restartBodyOf,
  shownFallbacks,
} from '../../../console/pages/aliases/alias-draft.ts';

const alias: Alias = {
  object: 'model_alias',
  alias: 'assistant',
  model: 'own',
  fallbacks: ['warm', 'spare'],
  split: {
    model: 'next',
    percent: 5,
    max_error_percent: 2,
    min_requests: 200,
    started_at: 1,
    stopped_at: 2,
    stopped_by: { requests: 1_200, failed_requests: 30 },
  },
  organization: 'org_1',
  version: 3,
};

describe('the form of an alias', () => {
  test('sends back what it was opened with', () => {
    const { model, fallbacks, split, organization } = alias;
    const sent = { model: split?.model, percent: 5, max_error_percent: 2, min_requests: 200 };
    expect(aliasBodyOf(draftOfAlias(alias), organization)).toEqual({ model, fallbacks, split: sent, organization });
    expect(aliasBodyOf(draftOfAlias({ ...alias, split: null, fallbacks: [] }), null)).toEqual({ model, fallbacks: [] });
  });

  test('closes gaps between fallbacks, and leaves out empty limits', () => {
    const draft = { ...EMPTY_ALIAS, model: ' own ', secondFallback: 'warm', hasSplit: true, newModel: 'next', maxErrorPercent: '' };
    expect(aliasBodyOf(draft, null)).toEqual({ model: 'own', fallbacks: ['warm'], split: { model: 'next', percent: 5 } });
  });

  test('shows the fields of fallbacks as they are needed, at most three', () => {
    expect(shownFallbacks(EMPTY_ALIAS)).toEqual(['firstFallback']);
    expect(shownFallbacks({ ...EMPTY_ALIAS, secondFallback: 'warm' })).toHaveLength(3);
    expect(shownFallbacks({ ...EMPTY_ALIAS, thirdFallback: 'warm' })).toHaveLength(3);
  });

  test.each([
    ['percent', '0'],
    ['percent', '100'],
    ['percent', ''],
    ['maxErrorPercent', '1.5'],
    ['minRequests', '9'],
    ['minRequests', '10001'],
  ] as const)('says what is wrong with %s of %p, if there is a split', (name, text) => {
    const draft = { ...EMPTY_ALIAS, model: 'own', newModel: 'next', [name]: text };
    expect(Object.keys(faultsOfAlias({ ...draft, hasSplit: true }))).toEqual([name]);
    expect(isAliasComplete({ ...draft, hasSplit: true })).toBe(false);
    expect(isAliasComplete({ ...draft, hasSplit: false })).toBe(true);
  });

  test('starts a stopped split again with its values', () => {
    expect(restartBodyOf(alias)).toEqual({
      ...aliasBodyOf(draftOfAlias(alias), 'org_1'),
      split: { model: 'next', percent: 5, max_error_percent: 2, min_requests: 200, restart: true },
    });
  });
});

describe('a split', () => {
  test('has the numbers of its own sides, and none for one without requests', () => {
    const totals = { requests: 7 } as Parameters<typeof sidesOf>[0][number]['totals'];
    const series = [
      { alias: 'other', side: 'base', totals: { ...totals, requests: 9 } },
      { alias: 'assistant', side: 'new', totals },
    ];
    expect(sidesOf(series, alias, 'next')).toEqual([
      { side: 'base', model: 'own', totals: undefined },
      { side: 'new', model: 'next', totals },
    ]);
  });

  test('says why it has stopped', () => {
    const { split } = alias;
    if (!split) throw new Error('The alias has no split.');
    expect(reasonOf(split)).toBe('30 of the last 1,200 requests to next failed; the limit is 2%');
    expect(reasonOf({ ...split, stopped_by: null })).toBe('too many requests to next failed');
  });
});
