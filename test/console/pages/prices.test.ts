import { describe, expect, test } from '@jest/globals';
import { differenceOf, draftOfPrice, isCompletePrice, newPriceOf } from '../../../console/pages/model/price-draft.ts';
import { stateOf } from '../../../console/pages/prices/price-states.ts';
import {
  choiceOfInstancePrice,
  choiceOfPrice,
  EMPTY_RERATE,
  formatDifference,
  isCompleteRerate,
  previewOf,
  type RerateDraft,
} from '../../../console/pages/rerates/rerate-draft.ts';
import { canSave, draftOfSeller, faultsOfSeller, NO_SELLER, sellerOf } from '../../../console/pages/seller/seller-draft.ts';
import { Seller } from '../../../shared/billing/seller.ts';

const PRICING = { prompt: '0.00000005', cached_prompt: '0.000000005', completion: '0.0000002' };

describe('the form of a price', () => {
  test('begins with the current price per million, exactly', () => {
    expect(draftOfPrice({ name: 'm', organization: null, pricing: PRICING })).toEqual({
      input: '0.05',
      cached: '0.005',
      output: '0.2',
      from: '',
    });
    expect(isCompletePrice(draftOfPrice({ name: 'm', organization: null, pricing: null }))).toBe(false);
  });

  test('leaves out a cached price and a time that are empty', () => {
    const draft = { input: '0.05', cached: '', output: '0.2', from: '' };
    expect(newPriceOf({ name: 'm', organization: null, pricing: null }, draft)).toEqual({
      model: 'm',
      per_million: { prompt: '0.05', completion: '0.2' },
    });
    expect(newPriceOf({ name: 'm', organization: 'org_1', pricing: null }, { ...draft, from: '2027-01-01T00:00' })).toMatchObject({
      organization: 'org_1',
      effective_at: 1_798_761_600,
    });
  });

  test.each([
    ['0.1', '0.12', '+0.02'],
    ['0.3', '0.1', '-0.2'],
    ['0.10', '0.1', ''],
  ])('says that %s to %s is a difference of %j', (before, after, difference) => {
    expect(differenceOf(before, after)).toBe(difference);
  });
});

describe('price versions', () => {
  test('are past, apply now, or are scheduled', () => {
    const versions = [
      { id: 'next', effective_at: 30 },
      { id: 'current', effective_at: 20 },
      { id: 'first', effective_at: 10 },
    ];
    expect(versions.map((version) => stateOf(versions, version, 25))).toEqual(['scheduled', 'current', 'past']);
    expect(stateOf(versions.slice(0, 1), { id: 'next', effective_at: 30 }, 25)).toBe('scheduled');
  });
});

describe('the form of a rerate', () => {
  const draft: RerateDraft = {
    ...EMPTY_RERATE,
    subject: 'qwen3-8b',
    fromVersion: 'price_1',
    toVersion: 'price_2',
    start: '2026-10-01T00:00',
    end: '2026-11-01T00:00',
    reason: ' Ten times too high. ',
  };

  test('only previews', () => {
    expect(previewOf(draft)).toEqual({
      model: 'qwen3-8b',
      from_version: 'price_1',
      to_version: 'price_2',
      start_time: 1_790_812_800,
      end_time: 1_793_491_200,
      reason: 'Ten times too high.',
      dry_run: true,
    });
    expect(previewOf({ ...draft, kind: 'instance_type', subject: 'ml.g6.xlarge', organization: 'org_1' })).toMatchObject({
      instance_type: 'ml.g6.xlarge',
      organization: 'org_1',
    });
  });

  test.each<[string, Partial<RerateDraft>]>([
    ['the same version', { toVersion: 'price_1' }],
    ['no time', { end: '' }],
    ['an end before its beginning', { end: '2026-09-01T00:00' }],
    ['no reason', { reason: ' ' }],
  ])('is not complete with %s', (_, changes) => {
    expect(isCompleteRerate(draft)).toBe(true);
    expect(isCompleteRerate({ ...draft, ...changes })).toBe(false);
  });

  test('names price versions by their prices and times', () => {
    const price = {
      object: 'price' as const,
      id: 'price_1',
      model: 'm',
      organization: null,
      ...PRICING,
      per_million: { prompt: '0.05', cached_prompt: '0.005', completion: '0.2' },
      effective_at: 0,
    };
    expect(choiceOfPrice(price)).toEqual(['price_1', '$0.05 in, $0.20 out, from the beginning']);
    expect(choiceOfPrice({ ...price, effective_at: 86_400 })[1]).toMatch(/from 1970-01-02 00:00:00 UTC$/);
    expect(choiceOfInstancePrice({ version: 'price_2', per_hour: '1.5', effective_at: 0 })[1]).toContain('$1.50 per hour');
  });

  test.each([
    ['1.2', '+$1.20'],
    ['-0.000000001', '−$0.000000001'],
    ['0', '$0.00'],
  ])('writes a difference of %s as %s', (difference, text) => {
    expect(formatDifference(difference)).toBe(text);
  });
});

describe('the form of the seller', () => {
  const draft = { ...draftOfSeller(NO_SELLER), legalName: 'Example GmbH', address: ' Hafenstraße 1 \n\n20457 Hamburg', country: 'de' };

  test('splits the address into its lines, and sends empty texts as null', () => {
    expect(sellerOf(draft)).toMatchObject({ address: { lines: ['Hafenstraße 1', '20457 Hamburg'], country: 'DE' }, tax_id: null });
  });

  test('can be saved when it is complete and changed', () => {
    expect(canSave(draft, NO_SELLER)).toBe(true);
    expect(canSave(draftOfSeller(NO_SELLER), NO_SELLER)).toBe(false);
    expect(Object.keys(faultsOfSeller({ ...draft, creditNotePrefix: 'INV-', currency: '€' }))).toEqual(['currency', 'creditNotePrefix']);
    for (const days of [365, 366])
      expect(faultsOfSeller({ ...draft, paymentTermsDays: String(days) }).paymentTermsDays === undefined).toBe(
        Seller.shape.payment_terms_days.safeParse(days).success,
      );
  });
});
