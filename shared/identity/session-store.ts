import * as z from 'zod';
import { cutText } from '../database/cut-text.ts';
import { inBatches } from '../database/in-batches.ts';
import type { RecordKey, RecordTable } from '../database/record-table.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, unixSeconds } from '../time/units.ts';
import type { PoolClient } from './pool-clients.ts';
import type { Caller } from './request-origin.ts';

const SESSION = 'session#';

/** The key of a session's row in the table `accounts`. */
export const placeOfSession = (user: string, id: string): RecordKey => ({ account: user, record: SESSION + id });

/** The key of the row with the time from which sessions without a row are accepted. */
export const placeOfSessionFloor = (user: string): RecordKey => ({ account: user, record: 'sessions' });

const Use = z.object({ at: z.int(), ip_address: z.string(), user_agent: z.string() });

/** A login, with times in Unix seconds. */
export const StoredSession = z.object({
  /** Derived from the identity provider's id of the login. */
  id: z.string(),
  created_at: z.int(),
  /** The time of the login in its tokens, which refreshing keeps. Absent for logins through another release. */
  authenticated_at: z.number().optional(),
  /** The login, or the last refresh. */
  last_use: Use,
  client: z.enum(['api', 'browser']),
  /** `password`, `sso:` and the id of an identity provider, or `unknown` for a login through another release. */
  proof: z.string(),
  /** True if the login, or a later proof, used a second factor. */
  second_factor: z.boolean(),
  /** The last time that the user proved who they are. */
  proved_at: z.int(),
  ends_at: z.int(),
  /** Without a refresh for this long, the session ends. */
  idle_seconds: z.int().nullable(),
  ended_at: z.int().optional(),
  /** Its tokens have another id since; those with this one expire soon. */
  renamed_at: z.int().optional(),
  /** The id that it began with. Absent if that is still its id, and after a change of the id by an older release. */
  first_id: z.string().optional(),
});
export type StoredSession = z.infer<typeof StoredSession>;

/** The lifetime of refresh tokens at the identity provider. */
export const REFRESH_SECONDS = (30 * DAY_MS) / SECOND_MS;
// Access tokens that a login through the API has issued are valid for this long.
const ACCESS_SECONDS = HOUR_MS / SECOND_MS;

const BROWSER_ACCESS_SECONDS = (15 * MINUTE_MS) / SECOND_MS;

/** The most sessions of a user. */
export const MAX_SESSIONS = 1_000;
// So that a user with the most sessions causes deletions with only some of their logins.
const DELETED_AT_ONCE = 25;
// More lists than refreshes of the same session can change while it is ended.
const MAX_END_ROUNDS = 5;
const MAX_AGENT_LENGTH = 200;

/** Returns a client's address and agent, as a session row has them. @param at Unix time in seconds */
export const useOf = ({ ipAddress, userAgent = '' }: Pick<Caller, 'ipAddress' | 'userAgent'>, at: number): StoredSession['last_use'] => ({
  at,
  ip_address: ipAddress,
  user_agent: cutText(userAgent, MAX_AGENT_LENGTH),
});

// Until its user ends it, it is too old, or it was not used for too long.
const isLive = ({ ended_at, ends_at, idle_seconds, last_use, renamed_at }: StoredSession, now: number): boolean =>
  ended_at === undefined &&
  now < ends_at &&
  (renamed_at === undefined || now < renamed_at + BROWSER_ACCESS_SECONDS) &&
  (idle_seconds === null || now <= last_use.at + idle_seconds);

const firstIdOf = ({ id, first_id }: StoredSession): string => first_id ?? id;

// Renaming keeps both times. Only for rows that an older release renamed: two logins can have the same times.
const areOfSameLogin = (one: StoredSession, other: StoredSession): boolean =>
  one.created_at === other.created_at && one.authenticated_at === other.authenticated_at;

/** True if tokens that were issued with the time of their login can be of this session. */
export const isOfLogin = ({ authenticated_at }: StoredSession, authenticatedAt: number): boolean =>
  authenticated_at === undefined || authenticated_at === authenticatedAt;

/**
 * True if a session is that of a request, whose access token can have another id of the session: an earlier one, or one
 * that a second tab has got.
 */
export const isSessionOf = (session: StoredSession, current: StoredSession): boolean =>
  firstIdOf(session) === firstIdOf(current) || (current.renamed_at !== undefined && areOfSameLogin(session, current));

/**
 * True if tokens of a login are accepted. A login through another release has no row: it is accepted unless all
 * sessions were ended since. The client `machine` has no sessions, and `browser` always has a row.
 * @param login the facts in the access token; times in Unix seconds
 */
export const isAccepted = (
  login: { client: PoolClient; authenticatedAt: number },
  { session, floor }: { session: StoredSession | undefined; floor: number },
  now: number,
): boolean => {
  if (login.client === 'machine') return true;
  if (session) return isLive(session, now);
  return login.client !== 'browser' && login.authenticatedAt >= floor;
};

// Without its row, a session of the client `api` counts as one of another release, so a row that limits the session
// stays as long as its refresh token.
const isLimited = ({ client, proof, ended_at }: StoredSession): boolean =>
  client === 'api' && (ended_at !== undefined || proof.startsWith('sso:'));

const isOver = (session: StoredSession, now: number): boolean => {
  const refreshableUntil = session.created_at + REFRESH_SECONDS + ACCESS_SECONDS;
  return isLimited(session) ? now >= refreshableUntil : now >= session.ends_at + ACCESS_SECONDS;
};

/**
 * Returns the row of a login.
 * @param login `seconds` is the longest time until the session ends, `idleSeconds` that without a refresh
 */
export const sessionOf = (
  id: string,
  caller: Pick<Caller, 'ipAddress' | 'userAgent' | 'receivedAtMs'>,
  login: Pick<StoredSession, 'client' | 'proof'> & {
    hasSecondFactor: boolean;
    authenticatedAt: number;
    seconds?: number;
    idleSeconds?: number | null;
  },
): StoredSession => {
  const { client, proof, hasSecondFactor, authenticatedAt, seconds = REFRESH_SECONDS, idleSeconds = null } = login;
  const now = unixSeconds(caller.receivedAtMs);
  return {
    id,
    created_at: now,
    authenticated_at: authenticatedAt,
    last_use: useOf(caller, now),
    client,
    proof,
    second_factor: hasSecondFactor,
    proved_at: now,
    ends_at: now + seconds,
    idle_seconds: idleSeconds,
  };
};

/** The sessions of users in the table `accounts`. */
export const createSessionStore = (table: RecordTable) => {
  const all = async (user: string): Promise<StoredSession[]> => {
    const sessions: StoredSession[] = [];
    for await (const row of table.all({ account: user, prefix: SESSION })) sessions.push(StoredSession.parse(row));
    return sessions;
  };

  const floorOf = async (user: string): Promise<number> => Number((await table.get(placeOfSessionFloor(user)))?.floor ?? 0);

  const raiseFloor = async (user: string, seconds: number): Promise<void> => {
    if (seconds > (await floorOf(user))) await table.put(placeOfSessionFloor(user), { floor: seconds });
  };

  const removeAll = async (user: string, sessions: readonly StoredSession[]): Promise<void> => {
    for (const batch of inBatches(sessions, DELETED_AT_ONCE))
      await Promise.all(batch.map(({ id }) => table.remove(placeOfSession(user, id))));
  };

  // Until none is left: one that gets another id meanwhile has a row that the first list lacks.
  const endAll = async (user: string, isMeant: (session: StoredSession) => boolean, now: number): Promise<void> => {
    for (let round = 0; round < MAX_END_ROUNDS; round++) {
      const left = (await all(user)).filter((session) => session.ended_at === undefined && isMeant(session));
      if (left.length === 0) return;
      for (const batch of inBatches(left, DELETED_AT_ONCE))
        await Promise.all(batch.map(({ id }) => table.set(placeOfSession(user, id), 'ended_at', now)));
    }
  };

  // Makes room for a session: removes those that are over, and then the ones that were used the longest time ago.
  const makeRoom = async (user: string, now: number): Promise<void> => {
    const sessions = await all(user);
    const over = sessions.filter((session) => isOver(session, now));
    const kept = sessions.filter((session) => !isOver(session, now)).sort((a, b) => a.last_use.at - b.last_use.at);
    const excess = kept.length < MAX_SESSIONS ? [] : kept.slice(0, kept.length - MAX_SESSIONS + DELETED_AT_ONCE);
    const limited = excess.filter(isLimited);
    if (limited.length > 0) await raiseFloor(user, Math.max(...limited.map(({ created_at }) => created_at)) + 1);
    await removeAll(user, [...over.slice(0, DELETED_AT_ONCE), ...excess]);
  };

  return {
    /** Stores a login. Removes rows of sessions that are over, and the least recently used ones of too many. */
    begin: async (user: string, session: StoredSession): Promise<void> => {
      await table.put(placeOfSession(user, session.id), session);
      await makeRoom(user, session.created_at);
    },

    /**
     * Stores a session that another release began.
     * @returns false if all sessions without a row were ended meanwhile
     */
    adopt: async (user: string, session: StoredSession): Promise<boolean> => {
      await table.put(placeOfSession(user, session.id), session);
      if (session.created_at >= (await floorOf(user))) return true;
      await table.set(placeOfSession(user, session.id), 'ended_at', session.last_use.at);
      return false;
    },

    /** Records a refresh. */
    use: (user: string, id: string, use: StoredSession['last_use']): Promise<void> => table.set(placeOfSession(user, id), 'last_use', use),

    /**
     * Gives a session another id, if the identity provider has given one to its tokens. The earlier id stays valid
     * until its access tokens expire, and a second tab can rename it too. Does nothing for tokens of another login:
     * `from` is the caller's, and with the id of a live session, an ended one would go on.
     * @param change `authenticatedAt` is the time of the login in the tokens
     */
    rename: async (
      user: string,
      { from, to, authenticatedAt }: { from: string; to: string; authenticatedAt: number },
      now: number,
    ): Promise<void> => {
      if (from === to) return;
      const rows = await table.getMany([placeOfSession(user, from), placeOfSession(user, to)]);
      const sessions = rows.map((row) => StoredSession.parse(row));
      const before = sessions.find(({ id }) => id === from);
      if (!before || !isLive(before, now) || before.client !== 'browser' || sessions.some(({ id }) => id === to)) return;
      if (!isOfLogin(before, authenticatedAt)) return;
      await table.put(placeOfSession(user, to), { ...before, id: to, first_id: firstIdOf(before), renamed_at: undefined });
      // Whoever ended it meanwhile can have listed its rows before this one was there.
      const after = await table.get(placeOfSession(user, from));
      if (after?.ended_at !== undefined) await table.set(placeOfSession(user, to), 'ended_at', after.ended_at);
      if (before.renamed_at === undefined) await table.set(placeOfSession(user, from), 'renamed_at', now);
    },

    /** Records that a user has proved again who they are. */
    prove: async (user: string, id: string, { at, withCode }: { at: number; withCode: boolean }): Promise<void> => {
      await table.set(placeOfSession(user, id), 'proved_at', at);
      if (withCode) await table.set(placeOfSession(user, id), 'second_factor', true);
    },

    /** Lists the live sessions of a user, the last used first. One with several ids has that which was used last. */
    list: async (user: string, now: number): Promise<StoredSession[]> => {
      const live = (await all(user))
        .filter((session) => isLive(session, now) && session.renamed_at === undefined)
        .sort((a, b) => b.last_use.at - a.last_use.at || (a.id < b.id ? -1 : 1));
      return [...Map.groupBy(live, firstIdOf).values()].flatMap(([lastUsed]) => lastUsed ?? []);
    },

    /** Returns a session that is live. */
    get: async (user: string, id: string, now: number): Promise<StoredSession | undefined> => {
      const row = await table.get(placeOfSession(user, id));
      const session = row && StoredSession.parse(row);
      return session && isLive(session, now) ? session : undefined;
    },

    /** Ends a session, also under its other ids. Its row stays until its tokens expire. */
    end: async (user: string, id: string, now: number): Promise<void> => {
      await table.set(placeOfSession(user, id), 'ended_at', now);
      const row = await table.get(placeOfSession(user, id));
      // Only browsers' sessions get another id.
      if (row?.client !== 'browser') return;
      const ended = StoredSession.parse(row);
      await endAll(user, (each) => isSessionOf(ended, each), now);
    },

    /** Ends all sessions of a user but one, also those without a row. The current one gets a row if it has none. */
    endOthers: async (user: string, current: StoredSession, now: number): Promise<void> => {
      await table.put(placeOfSession(user, current.id), current);
      await raiseFloor(user, now + 1);
      await endAll(user, (each) => !isSessionOf(each, current), now);
    },

    /** Removes all rows of a deleted user. */
    forget: async (user: string): Promise<void> => {
      await removeAll(user, await all(user));
      await table.remove(placeOfSessionFloor(user));
    },
  };
};

export type SessionStore = ReturnType<typeof createSessionStore>;
