import { setTimeout as delay } from 'node:timers/promises';
import type { Received } from './send.ts';

/** The replies to a neighbour's requests. */
export interface Traffic {
  received: readonly Received[];
  p95Ms: number;
  /** How many were answered by a 5xx, and how many by nothing. */
  failed: number;
  lost: number;
}

const isFailure = ({ status }: Received): boolean => typeof status === 'number' && status >= 500;

const trafficOf = (received: readonly Received[], untimed: number): Traffic => {
  const times = received
    .slice(untimed)
    .map(({ ms }) => ms)
    .sort((one, other) => one - other);
  return {
    received,
    p95Ms: times[Math.ceil(times.length * 0.95) - 1] ?? 0,
    failed: received.filter(isFailure).length,
    lost: received.filter(({ status }) => status === 'lost').length,
  };
};

/**
 * Sends a request each so many milliseconds, whether or not the earlier ones have been answered.
 * @param untimed the times of so many first requests don't count, because processes start meanwhile
 */
export const sendSteadily = async (
  requests: number,
  untimed: number,
  everyMs: number,
  send: (number: number) => Promise<Received>,
): Promise<Traffic> => {
  const startedAt = performance.now();
  const received: Promise<Received>[] = [];
  for (let number = 0; number < requests; number++) {
    await delay(Math.max(0, startedAt + number * everyMs - performance.now()));
    received.push(send(number));
  }
  return trafficOf(await Promise.all(received), untimed);
};

/**
 * Sends as fast as it is answered, at most one request each so many milliseconds a sender, until it is told to end.
 * Returns what came back.
 */
export const sendUntil = async (
  signal: AbortSignal,
  senders: number,
  everyMs: number,
  send: (sender: number, turn: number) => Promise<Received>,
): Promise<Received[]> => {
  const received: Received[] = [];
  const run = async (sender: number): Promise<void> => {
    for (let turn = 0; !signal.aborted; turn++) {
      const next = performance.now() + everyMs;
      received.push(await send(sender, turn));
      await delay(Math.max(0, next - performance.now()));
    }
  };
  await Promise.all(Array.from({ length: senders }, (_, sender) => run(sender)));
  return received;
};
