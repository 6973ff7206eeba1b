import { describe, expect, test } from '@jest/globals';
import { cappedTimes, createFifoQueue } from '../../../../infra/local/sqs/fifo-queue.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';

const FOREVER = Number.POSITIVE_INFINITY;

// The queue has a clock of its own.
const queueWith = (...[delayMs, capMs]: Parameters<typeof cappedTimes>) => {
  let now = 0;
  const queue = createFifoQueue(() => now, cappedTimes(delayMs, capMs));
  return {
    send: (body: string, deduplicationId = body, group = 'g') => void queue.send({ body, group, deduplicationId }),
    received: () => {
      const messages = queue.receive(10);
      for (const message of messages) queue.remove(message);
      return messages.map(({ body }) => body);
    },
    pass: (ms: number): void => {
      now += ms;
    },
  };
};

describe('a FIFO queue with a delay', () => {
  test('delivers each message when its delay has passed', () => {
    const { send, received, pass } = queueWith(15 * SECOND_MS, FOREVER);
    send('a');
    pass(5 * SECOND_MS);
    send('b');
    expect(received()).toEqual([]);
    pass(10 * SECOND_MS);
    expect(received()).toEqual(['a']);
    pass(5 * SECOND_MS);
    expect(received()).toEqual(['b']);
  });

  test('delivers a message that was sent twice once, for five minutes', () => {
    const { send, received, pass } = queueWith(15 * SECOND_MS, FOREVER);
    send('a');
    pass(299 * SECOND_MS);
    send('a');
    expect(received()).toEqual(['a']);
    pass(16 * SECOND_MS);
    expect(received()).toEqual([]);
    send('a');
    pass(15 * SECOND_MS);
    expect(received()).toEqual(['a']);
  });

  test('delivers messages of two groups although they have the same deduplication id', () => {
    const { send, received, pass } = queueWith(15 * SECOND_MS, FOREVER);
    send('a', 'same', 'g');
    send('b', 'same', 'h');
    pass(15 * SECOND_MS);
    expect(received()).toEqual(['a', 'b']);
  });

  test('delivers a message that was sent again once per delay, and not more often, with a cap', () => {
    const { send, received, pass } = queueWith(15 * SECOND_MS, 100);
    const rounds = Array.from({ length: 3 }, () => {
      send('a');
      send('a');
      pass(100);
      return received();
    });
    expect(rounds).toEqual([['a'], ['a'], ['a']]);
  });

  test('delivers as deployed with a cap that is longer than its delay', () => {
    expect(cappedTimes(0, 100)).toEqual({ delayMs: 0 });
    expect(cappedTimes(100, 100)).toEqual({ delayMs: 100 });
  });
});
