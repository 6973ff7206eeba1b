import { randomBytes } from 'node:crypto';

const LIFETIME_MS = 3 * 60_000;
const MAX_SESSIONS = 10_000;
const ID_BYTES = 48;

// In memory, for three minutes between a challenge and its response.
interface Sessions<Value> {
  /** @returns an unguessable id */
  open(value: Value): string;
  find(id: string): Value | undefined;
  close(id: string): void;
}

/** @param now milliseconds since the epoch */
export const createSessions = <Value>(now: () => number): Sessions<Value> => {
  const sessions = new Map<string, { value: Value; expiresAtMs: number }>();
  return {
    open(value) {
      const [oldest] = sessions.keys();
      if (sessions.size >= MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      const id = randomBytes(ID_BYTES).toString('base64url');
      sessions.set(id, { value, expiresAtMs: now() + LIFETIME_MS });
      return id;
    },
    find(id) {
      const session = sessions.get(id);
      return session && now() < session.expiresAtMs ? session.value : undefined;
    },
    close: (id) => void sessions.delete(id),
  };
};
