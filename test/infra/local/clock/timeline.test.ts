import { expect, test } from '@jest/globals';
import { createTimeline } from '../../../../infra/local/clock/timeline.ts';

test('events run when the clock has passed them, in order, each at its own time', () => {
  let now = 1_000;
  const ran: [string, number][] = [];
  const timeline = createTimeline(
    () => now,
    () => undefined,
  );
  const record = (name: string) => () => ran.push([name, timeline.time()]);
  timeline.after(20, record('later'));
  timeline.after(10, () => {
    record('first')();
    timeline.after(5, record('from the first'));
  });
  timeline.after(10, record('second'));
  timeline.advance();
  expect(ran).toEqual([]);
  now = 5_000;
  timeline.advance();
  expect(ran).toEqual([
    ['first', 1_010],
    ['second', 1_010],
    ['from the first', 1_015],
    ['later', 1_020],
  ]);
  expect(timeline.time()).toBe(5_000);
});

test('a clock that goes back does not turn back the time', () => {
  let now = 1_000;
  const timeline = createTimeline(
    () => now,
    () => undefined,
  );
  now = 0;
  timeline.advance();
  expect(timeline.time()).toBe(1_000);
});
