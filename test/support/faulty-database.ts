import type { Database } from '../../shared/database/client.ts';

/** The function process died at this point: nothing after it happens. */
export class Crash extends Error {}

/** The database could not be reached, as often as it was tried. */
export class Unreachable extends Error {}

export interface Faults {
  random: () => number;
  /** Shares of calls whose request, or whose reply, is lost on the way. */
  lostRequests: number;
  lostReplies: number;
  /** Whether the process dies before or after this call. */
  crash: (command: string, when: 'before' | 'after') => boolean;
}

const MAX_ATTEMPTS = 4;

/** The same database over a bad line, retried as the SDK does: a lost reply is a write that happened and is sent again. */
export const overBadLine = (database: Database, faults: Faults): Database => {
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
