import { describe, expect, test } from '@jest/globals';
import { createClocks, SupportPromise } from '../../../shared/tickets/clocks.ts';
import { HOUR_MS, MINUTE_MS } from '../../../shared/time/units.ts';

// A Friday, one hour before support goes home.
const fridayMs = Date.parse('2026-11-27T16:00:00+01:00');
const mondayMs = Date.parse('2026-11-30T09:00:00+01:00');
const clocks = createClocks(
  SupportPromise.parse({ hours: { timeZone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], from: '09:00', to: '17:00' } }),
);

const opened = (severity: 'normal' | 'high' | 'urgent') =>
  ({ status: 'open', severity, created_at: fridayMs, clocks: clocks.start(severity, fridayMs) }) as const;

describe('the clocks of a ticket', () => {
  test('run in business hours', () => {
    const { first_response_due_at, resolution_due_at } = opened('high').clocks;
    expect(first_response_due_at).toBe(mondayMs + 3 * HOUR_MS);
    expect(resolution_due_at).toBe(Date.parse('2026-12-01T16:00:00+01:00'));
  });

  test('run around the clock for an urgent ticket', () => {
    expect(opened('urgent').clocks).toMatchObject({
      first_response_due_at: fridayMs + HOUR_MS,
      resolution_due_at: fridayMs + 8 * HOUR_MS,
    });
  });

  test('run around the clock where no hours are configured', () => {
    const { first_response_due_at } = createClocks(SupportPromise.parse({})).start('high', fridayMs);
    expect(first_response_due_at).toBe(fridayMs + 4 * HOUR_MS);
  });

  test('the resolution’s stands still while support waits, and goes on where it stopped', () => {
    const waiting = clocks.change(opened('high'), { status: 'waiting_on_customer', severity: 'high' }, true, fridayMs + HOUR_MS);
    expect(waiting).toMatchObject({ resolution_due_at: null, resolution_running_since: null, resolution_used_ms: HOUR_MS });
    const before = { ...opened('high'), status: 'waiting_on_customer', clocks: waiting } as const;
    const again = clocks.change(before, { status: 'waiting_on_support', severity: 'high' }, false, mondayMs);
    expect(again).toMatchObject({ resolution_used_ms: HOUR_MS, resolution_due_at: Date.parse('2026-12-01T16:00:00+01:00') });
  });

  test('only the first answer is the first response', () => {
    const answered = clocks.change(opened('high'), { status: 'waiting_on_customer', severity: 'high' }, true, mondayMs);
    const before = { ...opened('high'), status: 'waiting_on_customer', clocks: answered } as const;
    const second = clocks.change(before, { status: 'waiting_on_customer', severity: 'high' }, true, mondayMs + HOUR_MS);
    expect(second.first_response_at).toBe(mondayMs);
  });

  test('a customer’s message is no response', () => {
    const { first_response_at } = clocks.change(opened('high'), { status: 'waiting_on_support', severity: 'high' }, false, mondayMs);
    expect(first_response_at).toBeNull();
  });

  test('another severity makes other promises from the beginning of the ticket on', () => {
    const urgent = clocks.change(opened('normal'), { status: 'open', severity: 'urgent' }, false, fridayMs + MINUTE_MS);
    expect(urgent).toMatchObject({
      first_response_due_at: fridayMs + HOUR_MS,
      resolution_used_ms: MINUTE_MS,
      resolution_due_at: fridayMs + 8 * HOUR_MS,
    });
  });

  test('another severity does not change a promise that was kept', () => {
    const answered = clocks.change(opened('normal'), { status: 'waiting_on_support', severity: 'normal' }, true, mondayMs);
    const before = { ...opened('normal'), clocks: answered };
    const urgent = clocks.change(before, { status: 'open', severity: 'urgent' }, false, mondayMs + HOUR_MS);
    expect(urgent.first_response_due_at).toBe(answered.first_response_due_at);
  });

  test('a reopened ticket has all its time again', () => {
    const { resolution_used_ms, resolution_due_at } = clocks.restart(opened('urgent'), mondayMs);
    expect({ resolution_used_ms, resolution_due_at }).toEqual({ resolution_used_ms: 0, resolution_due_at: mondayMs + 8 * HOUR_MS });
  });
});
