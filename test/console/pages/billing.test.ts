import { describe, expect, test } from '@jest/globals';
import { ApiFailure } from '../../../console/client/api-failure.ts';
import { untilMade } from '../../../console/client/until-made.ts';
import { alertsOf, percentagesIn } from '../../../console/pages/billing/alerts.ts';
import {
  changesOfAlerts,
  changesOfProfile,
  draftOfAlerts,
  draftOfProfile,
  type Profile,
  profileFaults,
} from '../../../console/pages/billing/profile-draft.ts';
import { type ExportDraft, newExportOf } from '../../../console/pages/exports/export-draft.ts';
import { recordsQuery, recordTimes } from '../../../console/pages/exports/records-query.ts';
import { BillingProfile } from '../../../shared/billing/billing-profile.ts';

const profile: Profile = {
  object: 'billing_profile',
  organization: 'org_1',
  legal_name: 'Acme',
  address: { lines: ['1 Main Street', 'Springfield'], country: 'US' },
  tax_id: null,
  emails: ['a@acme.example'],
  purchase_order: null,
  payment_terms_days: null,
  invoice_note: null,
  stripe_customer: null,
  budget_thresholds: [50, 100],
  credit_thresholds: [],
  version: 3,
};

describe('the form of a billing profile', () => {
  test('sends only what differs, an address as a whole, and null for an empty field', () => {
    const draft = draftOfProfile(profile);
    expect(changesOfProfile(draft, profile)).toEqual({});
    expect(changesOfProfile({ ...draft, legalName: ' ', country: 'de', terms: '14', emails: 'a@b.c\n\nd@e.f ' }, profile)).toEqual({
      legal_name: null,
      address: { lines: ['1 Main Street', 'Springfield'], country: 'DE' },
      payment_terms_days: 14,
      emails: ['a@b.c', 'd@e.f'],
    });
    expect(changesOfProfile({ ...draft, addressLines: '', country: '' }, profile)).toEqual({ address: null });
  });

  test('rejects an address without a country, a country without an address, and days that are no number', () => {
    const draft = draftOfProfile(profile);
    expect(profileFaults(draft)).toEqual({});
    expect(Object.keys(profileFaults({ ...draft, country: '' }))).toEqual(['country']);
    expect(Object.keys(profileFaults({ ...draft, addressLines: ' ' }))).toEqual(['addressLines']);
    expect(Object.keys(profileFaults({ ...draft, terms: 'soon' }))).toEqual(['terms']);
    for (const days of [0, 14, 365, 366, 999])
      expect(profileFaults({ ...draft, terms: String(days) })).toEqual(
        BillingProfile.shape.payment_terms_days.safeParse(days).success ? {} : { terms: 'Enter a number of days, at most 365.' },
      );
  });
});

describe('alerts', () => {
  test('are at exact amounts, and the last one is reached at 99.5 %', () => {
    expect(alertsOf([100, 50], { spent: '99.5', budget: '100.01' })).toEqual([
      { percent: 50, amount: '50.005', isReached: true },
      { percent: 100, amount: '100.01', isReached: false },
    ]);
    expect(alertsOf([100], { spent: '99.5', budget: '100' })).toMatchObject([{ isReached: true }]);
    expect(alertsOf([80], { spent: '79.999999999', budget: '100' })).toMatchObject([{ isReached: false }]);
  });

  test.each([
    ['80, 50 %, 50', [50, 80]],
    ['', []],
    ['0', undefined],
    ['101', undefined],
    ['12.5', undefined],
    ['1 2 3 4 5 6 7 8 9 10 11', undefined],
  ])('reads %p', (text, percentages) => {
    expect(percentagesIn(text)).toEqual(percentages);
  });

  test('are sent only where they differ', () => {
    const draft = draftOfAlerts(profile);
    expect(changesOfAlerts(draft, profile)).toBeUndefined();
    expect(changesOfAlerts({ ...draft, budget: 'half' }, profile)).toBeUndefined();
    expect(changesOfAlerts({ ...draft, budget: '' }, profile)).toEqual({ budget_thresholds: [] });
  });
});

describe('newExportOf', () => {
  const draft: ExportDraft = { format: 'focus', firstDay: '2026-10-01', lastDay: '2026-10-31', keys: '', models: 'a, b' };

  test('counts the last day', () => {
    expect(newExportOf(draft, undefined)).toEqual({
      format: 'focus',
      start_time: Date.UTC(2026, 9, 1) / 1_000,
      end_time: Date.UTC(2026, 10, 1) / 1_000,
      models: ['a', 'b'],
    });
  });

  test.each([{ lastDay: '' }, { lastDay: '2026-09-30' }, { firstDay: '2025-09-26' }])('needs up to 400 days: %p', (days) => {
    expect(newExportOf({ ...draft, ...days }, 'org_1')).toBeUndefined();
  });
});

describe('usage records', () => {
  const values = {
    view: 'records',
    range: 'custom',
    from: '2026-10-01',
    to: '2026-10-31',
    kind: 'usage_event',
    model: 'a/b',
    api_key: '',
    organization: '',
  };

  test('are those of whole days, and of no other kind and model', () => {
    const times = recordTimes('custom', values, 0);
    expect(times && recordsQuery(values, times)).toEqual({
      start_time: String(Date.UTC(2026, 9, 1) / 1_000),
      end_time: String(Date.UTC(2026, 10, 1) / 1_000),
      kinds: ['usage_event'],
      models: ['a/b'],
    });
  });

  test('are not read until both days are chosen', () => {
    expect(recordTimes('custom', { from: '2026-10-01', to: '' }, 0)).toBeUndefined();
  });
});

describe('untilMade', () => {
  const notMade = new ApiFailure({ status: 409, code: 'not_rendered_yet', message: 'The files are being made.', retryAfterSeconds: 5 });

  test('asks again as the service says, and at most six times', async () => {
    const waits: number[] = [];
    const pause = async (seconds: number) => void waits.push(seconds);
    let calls = 0;
    const read = async () => {
      calls += 1;
      if (calls < 3) throw notMade;
      return 'made';
    };
    expect(await untilMade(read, pause)).toBe('made');
    expect(waits).toEqual([5, 5]);
    await expect(untilMade(() => Promise.reject(notMade), pause)).rejects.toBe(notMade);
    expect(waits).toHaveLength(7);
  });

  test('does not ask again after any other failure', async () => {
    const failure = new ApiFailure({ status: 404, code: 'not_found', message: 'There is no such file.' });
    await expect(
      untilMade(
        () => Promise.reject(failure),
        () => Promise.reject(new Error('waited')),
      ),
    ).rejects.toBe(failure);
  });
});
