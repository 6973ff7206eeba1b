import type { Database } from '../../shared/database/client.ts';

/** The function process crashed at this point: nothing after it happens. */
export class Crash extends Error {}

/** No attempt reached the database. */
export class Unreachable extends Error {}

export interface Faults {
  random: () => number;
  /** The shares, from 0 to 1, of calls whose request or whose reply is lost on the way. */
  lostRequests: number;
  lostReplies: number;
  /** Whether the process crashes before or after this call. */
  crash: (command: string, when: 'before' | 'after') => boolean;
}

const MAX_ATTEMPTS = 4;

/**
 * The same database over an unreliable network. Calls are retried as the SDK does: after a lost reply, a write that was done is sent
 * again.
 */
export const unreliable = (database: Database, faults: Faults): Database => {
  const send = async (command: { constructor: { name: string } }): Promise<unknown> => {
    const { name } = command.constructor;
    if (faults.crash(name, 'before')) throw new Crash();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (faults.random() < faults.lostRequests) continue;
      const reply = await database.send(command as Parameters<Database['send']>[0]);
      if (faults.random() < faults.lostReplies) continue;
      if (faults.crash(name, 'after')) throw new Crash();
      return reply;
    }
    throw new Unreachable();
  };
  return new Proxy(database, { get: (target, property) => (property === 'send' ? send : Reflect.get(target, property)) });
};
