import type { Database } from '../../../shared/database/database.ts';

/** The function process crashed at this point: nothing after it happens. */
export class Crash extends Error {}

/** No attempt reached the database. */
export class Unreachable extends Error {}

export interface Faults {
  random: () => number;
  /** The shares, from 0 to 1, of calls whose request or whose reply is lost on the way. */
  lostRequests: number;
  lostReplies: number;
  /** Returns true to crash the process before or after this call. */
  crash: (operation: Operation, when: 'before' | 'after') => boolean;
}

type Operation = keyof Database;
const OPERATIONS: readonly Operation[] = ['get', 'batchGet', 'query', 'put', 'update', 'delete', 'transactWrite'];

const MAX_ATTEMPTS = 4;

/** A database whose every call fails. */
export const failing = (error: Error): Database =>
  Object.fromEntries(OPERATIONS.map((operation) => [operation, () => Promise.reject(error)])) as unknown as Database;

/**
 * The same database over an unreliable network. Calls are retried as our clients do: after a lost reply, a write that
 * was done is sent again.
 */
export const unreliable = (database: Database, faults: Faults): Database => {
  const over =
    (operation: Operation) =>
    async (input: never): Promise<unknown> => {
      if (faults.crash(operation, 'before')) throw new Crash();
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        if (faults.random() < faults.lostRequests) continue;
        const reply = await database[operation](input);
        if (faults.random() < faults.lostReplies) continue;
        if (faults.crash(operation, 'after')) throw new Crash();
        return reply;
      }
      throw new Unreachable();
    };
  return Object.fromEntries(OPERATIONS.map((operation) => [operation, over(operation)])) as unknown as Database;
};
