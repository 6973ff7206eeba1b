import { describe, expect, test } from '@jest/globals';
import { rangeOfDays, rangeOfMonth, requestsByDay } from '../../../console/pages/api-key/key-usage.ts';
import { effectsOf, type KeyUsage } from '../../../console/pages/api-key/limit-effects.ts';
import { callableModels } from '../../../console/pages/api-keys/callable-models.ts';
import {
  type ApiKey,
  changesOfKey,
  draftOfKey,
  EMPTY_DRAFT,
  faultsOf,
  newKeyOf,
  toTimeField,
} from '../../../console/pages/api-keys/key-draft.ts';
import { keysQueryOf } from '../../../console/pages/api-keys/key-filters.ts';
import { keyStateOf } from '../../../console/pages/api-keys/key-state.ts';

const key: ApiKey = {
  id: 'key_1',
  object: 'api_key',
  organization: 'org_1',
  name: 'production',
  purpose: 'standard',
  scope: 'serverless',
  status: 'active',
  hint: 'sk-s…4f2a',
  models: ['a', 'b'],
  limits: { requests_per_minute: 600, tokens_per_minute: 200_000, concurrency: 32 },
  budgets: { day: null, month: '100', total: null },
  expires_at: 1_800_000_037,
  no_content: false,
  per_user: null,
  no_fallback: false,
  project_id: null,
  owner_restrictions: { models: null, expires_at: null, no_content: false },
  metadata: {},
  created_at: 1,
  created_by: 'user_1',
  updated_at: 1,
  previous_secret_until: null,
  last_used_at: null,
  version: 3,
};

describe('the form of an API key', () => {
  test('sends nothing for a key that was only opened, although its time field shows no seconds', () => {
    expect(changesOfKey(draftOfKey(key), key)).toEqual({});
  });

  test('sends only the fields that differ, and null for a budget that was emptied', () => {
    const draft = { ...draftOfKey(key), models: ' c ,, d', concurrency: '8', month: '', day: '0.5', expires: '' };
    expect(changesOfKey(draft, key)).toEqual({
      models: ['c', 'd'],
      limits: { concurrency: 8 },
      budgets: { day: '0.5', month: null },
      expires_at: null,
    });
  });

  test('sends all limits of end users if one differs, and null if all were emptied', () => {
    const limits = { requests_per_minute: 5, tokens_per_minute: null, concurrency: null, monthly_budget: '2' };
    const limited = { ...key, per_user: limits };
    expect(changesOfKey(draftOfKey(limited), limited)).toEqual({});
    expect(changesOfKey({ ...draftOfKey(limited), userConcurrency: '3' }, limited)).toEqual({ per_user: { ...limits, concurrency: 3 } });
    expect(changesOfKey({ ...draftOfKey(limited), userRequestsPerMinute: '', userMonth: '' }, limited)).toEqual({ per_user: null });
    expect(newKeyOf({ ...EMPTY_DRAFT, userMonth: '2' }, 'serverless', undefined)).toMatchObject({
      per_user: { ...limits, requests_per_minute: null },
    });
  });

  test('sends the project and the switch for fallbacks', () => {
    const joined = { ...key, project_id: 'prj_1', no_fallback: true };
    expect(changesOfKey({ ...draftOfKey(joined), project: '', noFallback: false }, joined)).toEqual({
      project_id: null,
      no_fallback: false,
    });
    expect(newKeyOf({ ...EMPTY_DRAFT, project: 'prj_1', noFallback: true }, 'serverless', undefined)).toMatchObject({
      project_id: 'prj_1',
      no_fallback: true,
    });
  });

  test('leaves empty limits of a new key to their defaults', () => {
    const draft = { ...EMPTY_DRAFT, name: ' ci ', tokensPerMinute: '1000' };
    expect(newKeyOf(draft, 'on_demand', undefined)).toEqual({
      name: 'ci',
      scope: 'on_demand',
      models: null,
      expires_at: null,
      no_content: false,
      limits: { tokens_per_minute: 1_000 },
    });
    expect(newKeyOf(EMPTY_DRAFT, 'serverless', 'org_1')).toMatchObject({ organization: 'org_1' });
  });

  test('keeps a time through its field, to the minute', () => {
    const { expires_at } = newKeyOf({ ...EMPTY_DRAFT, expires: toTimeField(1_800_000_037) }, 'serverless', undefined) ?? {};
    expect(expires_at).toBe(1_800_000_000);
  });

  test('says which fields cannot be sent', () => {
    expect(faultsOf({ ...EMPTY_DRAFT, concurrency: '1.5', month: '1,000', day: '12.50' })).toEqual({
      concurrency: 'Enter a whole number.',
      month: 'Enter an amount, such as 12.50.',
    });
  });

  test('asks for a limit that was emptied, because a key always has one', () => {
    expect(faultsOf({ ...draftOfKey(key), concurrency: '' }, false)).toEqual({ concurrency: 'Enter a whole number.' });
    expect(faultsOf(EMPTY_DRAFT)).toEqual({});
  });
});

describe('keyStateOf', () => {
  test.each([
    ['active', { status: 'active', expires_at: null }],
    ['active', { status: 'active', expires_at: 101 }],
    ['expired', { status: 'active', expires_at: 100 }],
    ['revoked', { status: 'revoked', expires_at: 1 }],
  ] as const)('returns %s for %j at 100', (state, facts) => {
    expect(keyStateOf(facts, 100)).toBe(state);
  });
});

describe('the filters of API keys', () => {
  const none = { q: '', status: '', attention: '', model: '', created_by: '', project_id: '' };

  test('shows active keys, unless the address says otherwise', () => {
    expect(keysQueryOf(none, undefined, 0)).toEqual({ status: 'active' });
    expect(keysQueryOf({ ...none, status: 'all', q: 'ci' }, 'org_1', 0)).toEqual({ organization: 'org_1', q: 'ci' });
  });

  test('makes the same query for an hour, so that it is not read again all the time', () => {
    const expiring = { ...none, attention: 'expiring' };
    expect(keysQueryOf(expiring, undefined, 7_201)).toEqual({ status: 'active', expires_before: String(7_200 + 7 * 86_400) });
    expect(keysQueryOf(expiring, undefined, 10_799)).toEqual(keysQueryOf(expiring, undefined, 7_201));
  });
});

describe('the usage of an API key', () => {
  test('has each day of the range, with zero where a model has no requests', () => {
    const range = rangeOfDays(3, Date.parse('2026-11-26T23:59:00Z') / 1_000);
    expect(range).toEqual({ from: '2026-11-24', to: '2026-11-26' });
    const { times, series } = requestsByDay(
      [
        { day: '2026-11-24', model: 'b', requests: 2 },
        { day: '2026-11-26', model: 'a', requests: 1 },
      ],
      range,
    );
    expect(times).toEqual(['2026-11-24', '2026-11-25', '2026-11-26'].map((day) => Date.parse(day) / 1_000));
    expect(series).toEqual([
      { name: 'a', values: [0, 0, 1] },
      { name: 'b', values: [2, 0, 0] },
    ]);
  });
});

const DAY = { model: 'm', requests: 1, failed_requests: 0, prompt_tokens: 1, cached_tokens: 0, completion_tokens: 1 };

describe('what limits in the form of an API key would do', () => {
  const usage: KeyUsage = {
    days: [
      { ...DAY, day: '2026-11-25', cost: '7' },
      { ...DAY, day: '2026-11-26', cost: '0.1' },
      { ...DAY, day: '2026-11-26', cost: '0.2' },
    ],
    cost: '7.3',
    now: {
      requests_per_minute: { limit: 600, remaining: 590, reset_ms: 1 },
      tokens_per_minute: { limit: 200_000, remaining: 150_000, reset_ms: 1 },
      concurrency: { limit: 32, in_flight: 3 },
      budgets: { day: null, month: null, total: { limit: '100', remaining: '91.5' } },
    },
  };
  const effects = (changes: object) => effectsOf({ ...draftOfKey(key), month: '', ...changes }, usage, '2026-11-26');

  test('says what is used beside each limit', () => {
    expect(effects({ day: '1', month: '10', total: '100' })).toEqual({
      requestsPerMinute: '10 in the last minute.',
      tokensPerMinute: '50,000 in the last minute.',
      concurrency: '3 in progress now.',
      day: '$0.30 used today.',
      month: '$7.30 used this month.',
      total: '$8.50 used in total.',
    });
  });

  test('says what a limit below the current use would do', () => {
    expect(effects({ requestsPerMinute: '9', concurrency: '2', day: '0.3', total: '8.500000001' })).toMatchObject({
      requestsPerMinute: '10 in the last minute. At this rate, some requests will be rejected.',
      concurrency: '3 in progress now. They continue, and new requests are rejected until some have finished.',
      day: "$0.30 used today. The key's requests will be rejected.",
      total: '$8.50 used in total.',
    });
  });

  test('says nothing about fields that are empty or wrong', () => {
    expect(effects({ requestsPerMinute: '', tokensPerMinute: 'many', concurrency: '', day: 'x', total: '' })).toEqual({});
  });

  test('counts from the first day of the month', () => {
    expect(rangeOfMonth(Date.UTC(2026, 10, 26, 23) / 1_000)).toEqual({ from: '2026-11-01', to: '2026-11-26' });
  });
});

describe('callableModels', () => {
  const listed = (name: string, task: 'generate' | 'embed', organization: string | null = null) => ({ name, task, organization });
  const models = [listed('a', 'generate', 'org_1'), listed('b', 'generate'), listed('c', 'generate'), listed('d', 'embed')];
  const namesFor = (scope: ApiKey['scope'], allowed: string[] | null) =>
    Object.fromEntries(callableModels(models, { scope, models: allowed }));

  test('has the first model of each task on the host of the key', () => {
    expect(namesFor('serverless', null)).toEqual({ generate: 'b', embed: 'd' });
    expect(namesFor('on_demand', null)).toEqual({ generate: 'a' });
  });

  test('has only models that the key can use, also one that is not listed', () => {
    expect(namesFor('serverless', ['c', 'a'])).toEqual({ generate: 'c' });
    expect(namesFor('serverless', ['later'])).toEqual({ generate: 'later' });
  });
});
