import { describe, expect, test } from '@jest/globals';
import { readConfig } from '../../../infra/config/config.ts';
import { heldRequestsOf, organizationConcurrencyOf } from '../../../infra/config/shares.ts';

const heldWith = (settings: object) => heldRequestsOf(readConfig(settings));

describe('the requests that wait for capacity', () => {
  test('are a quarter of what the on-demand host reserves for an organization, or 50 without a reservation', () => {
    const defaults = { ofDeployment: 50, ofOrganization: 50, ofCaller: 12 };
    expect([heldWith({}), heldWith({ reservedConcurrency: null }), heldWith({ reservedConcurrency: {} })]).toEqual([
      defaults,
      defaults,
      defaults,
    ]);
    expect(heldWith({ reservedConcurrency: { 'ondemand-inference': 1_000 } })).toEqual({ ...defaults, ofOrganization: 250 });
    expect(heldWith({ reservedConcurrency: { 'ondemand-inference': 40 } })).toEqual({ ofDeployment: 10, ofOrganization: 10, ofCaller: 2 });
    expect(heldWith({ reservedConcurrency: { 'ondemand-inference': 2 } })).toEqual({ ofDeployment: 1, ofOrganization: 1, ofCaller: 1 });
  });

  test('can be set, and switched off', () => {
    expect(heldWith({ deployments: { maxHeldRequests: 20, maxHeldRequestsOfOrganization: 80 } })).toEqual({
      ofDeployment: 20,
      ofOrganization: 80,
      ofCaller: 5,
    });
    expect(heldWith({ deployments: { maxHeldRequests: 0 } })).toMatchObject({ ofDeployment: 0, ofCaller: 0 });
    expect(heldWith({ deployments: { maxHeldRequestsOfOrganization: 0 } })).toMatchObject({ ofDeployment: 0, ofOrganization: 0 });
  });

  test.each([
    [
      { deployments: { maxHeldRequests: 60 } },
      /deployments.maxHeldRequests: expected at most 50, because an organization's deployments together hold no more. Lower it, or set maxHeldRequestsOfOrganization to at least 60\.$/,
    ],
    [
      { deployments: { maxHeldRequests: 5 }, reservedConcurrency: { 'ondemand-inference': 8 } },
      /expected at most 2, .* set maxHeldRequestsOfOrganization to at least 5/,
    ],
    [
      { deployments: { maxHeldRequestsOfOrganization: 201 }, reservedConcurrency: {} },
      /deployments.maxHeldRequestsOfOrganization: expected at most 200, which reservedConcurrency.ondemand-inference reserves for all organizations. Lower it, or reserve at least 201\.$/,
    ],
  ])('are checked: %j', (settings, message) => {
    expect(() => readConfig(settings)).toThrow(message);
  });
});

describe('the requests of an organization in flight', () => {
  const concurrencyWith = (settings: object): number => organizationConcurrencyOf(readConfig(settings));

  test('are a quarter of what inference reserves, half of the on-demand host, five sixths of the tokenizer', () => {
    expect([{}, { reservedConcurrency: null }, { reservedConcurrency: {} }].map(concurrencyWith)).toEqual([100, 100, 100]);
    const reserving = (reservedConcurrency: object): number => concurrencyWith({ reservedConcurrency });
    expect(reserving({ inference: 4_000, 'ondemand-inference': 2_000, tokenizer: 1_500 })).toBe(1_000);
    expect(reserving({ inference: 40 })).toBe(10);
    expect(reserving({ 'ondemand-inference': 50 })).toBe(25);
    expect(reserving({ tokenizer: 60 })).toBe(50);
    expect(reserving({ inference: 1, 'ondemand-inference': 1, tokenizer: 1 })).toBe(1);
  });

  test('can be set', () => {
    expect(concurrencyWith({ organizationConcurrency: 60 })).toBe(60);
  });

  test.each([
    [
      { organizationConcurrency: 400, reservedConcurrency: { tokenizer: 500, 'ondemand-inference': 500 } },
      'less than 400, which reservedConcurrency.inference',
    ],
    [
      { organizationConcurrency: 200, reservedConcurrency: { tokenizer: 500 } },
      'less than 200, which reservedConcurrency.ondemand-inference',
    ],
    [{ organizationConcurrency: 120, reservedConcurrency: {} }, 'less than 120, which reservedConcurrency.tokenizer'],
  ])('are never all of a function: %j', (settings, message) => {
    expect(() => readConfig(settings)).toThrow(`expected ${message} reserves for all organizations. Lower it, or reserve more`);
  });
});
