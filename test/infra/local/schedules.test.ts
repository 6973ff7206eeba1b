import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startSchedules } from '../../../infra/local/schedules.ts';

const schedule = { ruleArn: 'arn:rule', periodMs: 60_000, functionArn: 'arn:fn', input: undefined };

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('a schedule', () => {
  test('invokes its function every period with the event of EventBridge', () => {
    const events: unknown[] = [];
    const stop = startSchedules(
      [schedule],
      async (name, event) => events.push({ name, event }),
      () => undefined,
    );
    jest.advanceTimersByTime(59_999);
    expect(events).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(events).toEqual([
      {
        name: 'arn:fn',
        event: expect.objectContaining({ source: 'aws.events', 'detail-type': 'Scheduled Event', resources: ['arn:rule'] }),
      },
    ]);
    stop();
    jest.advanceTimersByTime(600_000);
    expect(events).toHaveLength(1);
  });

  test('is never rarer than its cap', () => {
    let invocations = 0;
    const invoke = async (): Promise<void> => {
      invocations += 1;
    };
    const stop = startSchedules([schedule], invoke, () => undefined, 200);
    jest.advanceTimersByTime(199);
    expect(invocations).toBe(0);
    jest.advanceTimersByTime(1);
    expect(invocations).toBe(1);
    stop();
  });

  test('does not overlap itself', async () => {
    let invocations = 0;
    let finish = (): void => undefined;
    const invoke = (): Promise<void> => {
      invocations += 1;
      return new Promise((resolve) => {
        finish = resolve;
      });
    };
    const stop = startSchedules([schedule], invoke, () => undefined);
    await jest.advanceTimersByTimeAsync(180_000);
    expect(invocations).toBe(1);
    finish();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(invocations).toBe(2);
    stop();
  });

  test('logs a failure and continues', async () => {
    const lines: string[] = [];
    const stop = startSchedules(
      [{ ...schedule, input: { constant: true } }],
      () => Promise.reject(new Error('it broke')),
      (line) => lines.push(line),
    );
    await jest.advanceTimersByTimeAsync(120_000);
    expect(lines).toEqual(['schedule arn:rule: it broke', 'schedule arn:rule: it broke']);
    stop();
  });
});
