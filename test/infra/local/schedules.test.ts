import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startSchedules } from '../../../infra/local/schedules.ts';

const schedule = { ruleArn: 'arn:rule', periodMs: 60_000, functionArn: 'arn:fn', input: undefined };
const common = { nameOf: (arn: string): string => arn, log: () => undefined };

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('a schedule', () => {
  test('invokes its function every period with the event of EventBridge', () => {
    const events: unknown[] = [];
    const { close } = startSchedules([schedule], {
      invoke: async (name, event) => events.push({ name, event }),
      nameOf: String,
      log: () => undefined,
    });
    jest.advanceTimersByTime(59_999);
    expect(events).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(events).toEqual([
      {
        name: 'arn:fn',
        event: expect.objectContaining({ source: 'aws.events', 'detail-type': 'Scheduled Event', resources: ['arn:rule'] }),
      },
    ]);
    close();
    jest.advanceTimersByTime(600_000);
    expect(events).toHaveLength(1);
  });

  test('is never rarer than its cap', () => {
    let invocations = 0;
    const invoke = async (): Promise<void> => {
      invocations += 1;
    };
    const { close } = startSchedules([schedule], { ...common, invoke, maxPeriodMs: 200 });
    jest.advanceTimersByTime(199);
    expect(invocations).toBe(0);
    jest.advanceTimersByTime(1);
    expect(invocations).toBe(1);
    close();
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
    const { close } = startSchedules([schedule], { ...common, invoke });
    await jest.advanceTimersByTimeAsync(180_000);
    expect(invocations).toBe(1);
    finish();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(invocations).toBe(2);
    close();
  });

  test('logs a failure and continues', async () => {
    const lines: string[] = [];
    const { close } = startSchedules([{ ...schedule, input: { constant: true } }], {
      ...common,
      invoke: () => Promise.reject(new Error('it broke')),
      log: (line) => lines.push(line),
    });
    await jest.advanceTimersByTimeAsync(120_000);
    expect(lines).toEqual(['schedule arn:rule: it broke', 'schedule arn:rule: it broke']);
    close();
  });
});

describe('after the clock was moved', () => {
  const jobs = [
    { ...schedule, periodMs: 3_600_000, functionArn: 'hourly' },
    { ...schedule, functionArn: 'every minute' },
    { ...schedule, periodMs: 300_000, functionArn: 'every five minutes' },
  ];

  test('runs each job that was due once, one after the other, the most frequent first', async () => {
    const steps: string[] = [];
    const invoke = async (name: string): Promise<void> => {
      steps.push(`${name} begins`);
      await Promise.resolve();
      steps.push(`${name} ends`);
    };
    const { catchUp, jobs: shown, close } = startSchedules(jobs, { ...common, invoke });
    await catchUp(600_000);
    expect(steps).toEqual(['every minute begins', 'every minute ends', 'every five minutes begins', 'every five minutes ends']);
    await catchUp(30 * 86_400_000);
    expect(steps.filter((step) => step === 'hourly ends')).toHaveLength(1);
    expect(shown().map(({ name, last }) => [name, last !== undefined])).toEqual([
      ['every minute', true],
      ['every five minutes', true],
      ['hourly', true],
    ]);
    close();
  });

  test('runs none if it went back, and continues after one that fails', async () => {
    const invoked: string[] = [];
    const invoke = async (name: string): Promise<void> => {
      invoked.push(name);
      throw new Error('it broke');
    };
    const { catchUp, jobs: shown, close } = startSchedules(jobs, { ...common, invoke });
    await catchUp(-86_400_000);
    expect(invoked).toEqual([]);
    await catchUp(86_400_000);
    expect(invoked).toEqual(['every minute', 'every five minutes', 'hourly']);
    expect(shown()[2]).toMatchObject({ isRunning: false, last: { error: 'it broke' } });
    close();
  });
});
