import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PHASES, phasesOf } from '../../../shared/usage/phases.ts';

const named = (phases: ReturnType<typeof phasesOf>): string[] => phases.map(({ name, from_ms, to_ms }) => `${name} ${from_ms}-${to_ms}`);

test('a request has its phases in order, from its arrival to its end', () => {
  const event = { step_ends_ms: [1, 7, 8, 8, 60, 300], time_to_first_token_ms: 90, duration_ms: 310 };
  expect(named(phasesOf(event))).toEqual([
    'parse 0-1',
    'admit 1-7',
    'fit 7-8',
    'invoke 8-60',
    'first_token 60-90',
    'generate 90-300',
    'settle 300-310',
  ]);
});

test('shows how long a request waited for earlier targets, even if it was less than a millisecond', () => {
  const event = { step_ends_ms: [1, 7, 8, 508, 560, 900], time_to_first_token_ms: 590, duration_ms: 910 };
  expect(named(phasesOf(event))).toContain('wait 8-508');
  expect(named(phasesOf({ ...event, step_ends_ms: [1, 7, 8, 8, 560, 900], tries: 2 }))).toContain('wait 8-8');
});

test('a failed phase lasts until the next known step, and only `settle` follows', () => {
  const failed = { time_to_first_token_ms: null, duration_ms: 50 };
  expect(named(phasesOf({ ...failed, step_ends_ms: [1, 7, 8, 9, null, 40] }))).toEqual([
    'parse 0-1',
    'admit 1-7',
    'fit 7-8',
    'wait 8-9',
    'invoke 9-40',
    'settle 40-50',
  ]);
  expect(named(phasesOf({ ...failed, step_ends_ms: [1, 7, null, null, null, null] }))).toEqual(['parse 0-1', 'admit 1-7', 'fit 7-50']);
});

test('an event without steps has no phases', () => {
  expect(phasesOf({ time_to_first_token_ms: 5, duration_ms: 10 })).toEqual([]);
});

test('phases are in order and without gaps, whatever steps ended and whatever the clock did', () => {
  const End = fc.option(fc.nat(1_000));
  const Event = fc.record({
    step_ends_ms: fc.array(End, { minLength: 6, maxLength: 6 }),
    time_to_first_token_ms: End,
    duration_ms: fc.nat(1_000),
    tries: fc.constantFrom(undefined, 2),
  });
  fc.assert(
    fc.property(Event, (event) => {
      const phases = phasesOf(event);
      let atMs = 0;
      let position = -1;
      for (const { name, from_ms, to_ms } of phases) {
        expect(from_ms).toBe(atMs);
        expect(to_ms).toBeGreaterThanOrEqual(from_ms);
        expect(PHASES.indexOf(name)).toBeGreaterThan(position);
        [atMs, position] = [to_ms, PHASES.indexOf(name)];
      }
      expect(atMs).toBe(Math.max(event.duration_ms, ...phases.map(({ to_ms }) => to_ms)));
    }),
  );
});
