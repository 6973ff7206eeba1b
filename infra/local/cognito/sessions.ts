import { randomBytes } from 'node:crypto';

const LIFETIME_MS = 3 * 60_000;
const MAX_SESSIONS = 10_000;
const ID_BYTES = 48;

/** What lies between a question and its answer, for three minutes and in memory. */
interface Sessions<Held> {
  /** @returns an id that cannot be guessed */
  open(held: Held): string;
  find(id: string): Held | undefined;
  close(id: string): void;
}

/** @param now milliseconds since the epoch */
export const createSessions = <Held>(now: () => number): Sessions<Held> => {
  const sessions = new Map<string, { held: Held; endsAtMs: number }>();
  return {
    open(held) {
      const [oldest] = sessions.keys();
      if (sessions.size >= MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      const id = randomBytes(ID_BYTES).toString('base64url');
      sessions.set(id, { held, endsAtMs: now() + LIFETIME_MS });
      return id;
    },
    find(id) {
      const session = sessions.get(id);
      return session && now() < session.endsAtMs ? session.held : undefined;
    },
    close: (id) => void sessions.delete(id),
  };
};
