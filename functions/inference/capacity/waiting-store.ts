import { ConditionFailed, type Database } from '../../../shared/database/database.ts';
import { isWritten } from '../../../shared/database/is-written.ts';
import { WAITING } from '../../../shared/deployments/deployment-store.ts';
import type { HostScope } from '../../../shared/hosts/host.ts';
import type { Queue } from './may-wait.ts';

/** An entry that isn't renewed for this long belongs to a function that crashed. */
export const LEASE_MS = 45_000;
// Joining and releasing remove entries of crashed functions, and then try again.
const MAX_JOIN_ATTEMPTS = 3;

/** A request in a waiting list. */
export interface Waiter {
  /** The id of the deployment, or of the organization, whose list it is. */
  listId: string;
  requestId: string;
  /** Decides its place in the order. */
  joinedAtMs: number;
}

// `held`: all requests that wait or were released. `running`: those that were released. `served`: the number of
// released requests that have ended, and the total time that they ran.
interface Stored {
  held: Record<string, [joinedAtMs: number, expiresAtMs: number]>;
  running: Record<string, number>;
  served?: number;
  served_ms?: number;
}

/** The record of an organization's waiting list on a host: each host has its own environments. */
export const waitingOf = (host: HostScope): string => `${WAITING}#${host}`;

// In the order in which they are released.
const inOrder = ({ held, running }: Stored): string[] =>
  Object.entries(held)
    .filter(([id]) => running[id] === undefined)
    .sort(([one, [first]], [other, [second]]) => first - second || (one < other ? -1 : 1))
    .map(([id]) => id);

const split = ({ held, running }: Stored, nowMs: number): { live: Stored; expired: string[] } => {
  const isLive = (expiresAtMs: number): boolean => expiresAtMs > nowMs;
  const live = {
    held: Object.fromEntries(Object.entries(held).filter(([, [, expiresAtMs]]) => isLive(expiresAtMs))),
    running: Object.fromEntries(Object.entries(running).filter(([, expiresAtMs]) => isLive(expiresAtMs))),
  };
  const ids = new Set([...Object.keys(held), ...Object.keys(running)]);
  return { live, expired: [...ids].filter((id) => live.held[id] === undefined && live.running[id] === undefined) };
};

const queueOf = (stored: Stored, nowMs: number): Queue => {
  const { served = 0, served_ms = 0 } = stored;
  return {
    ahead: Object.keys(split(stored, nowMs).live.held).length - 1,
    meanMs: served === 0 ? undefined : served_ms / served,
  };
};

/**
 * The waiting lists of deployments or organizations. Each list is one item of the table `deployments`, so that a limit
 * holds across all environments. Released requests are in both maps: conditions can count the entries of a map, but not
 * add.
 * @param table the table's name
 * @param most the maximum number of requests in a list
 * @param record the sort key of the lists
 */
export const createWaitingStore = (database: Database, table: string, most: number, record: string = WAITING) => {
  const keyOf = (listId: string) => ({ account: listId, record });

  const read = async (listId: string): Promise<Stored | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: keyOf(listId), ConsistentRead: true });
    return Item as Stored | undefined;
  };

  const create = async (listId: string): Promise<void> => {
    await database.update({
      TableName: table,
      Key: keyOf(listId),
      UpdateExpression: 'SET held = if_not_exists(held, :none), running = if_not_exists(running, :none)',
      ExpressionAttributeValues: { ':none': {} },
    });
  };

  const removeExpired = async (listId: string, { held, running }: Stored, expired: readonly string[]): Promise<void> => {
    for (const id of expired) {
      const expiresAtMs = held[id]?.[1] ?? running[id];
      const place = held[id] === undefined ? 'running.#id' : 'held.#id[1]';
      await isWritten(
        database.update({
          TableName: table,
          Key: keyOf(listId),
          UpdateExpression: 'REMOVE held.#id, running.#id',
          ConditionExpression: `${place} = :expires`,
          ExpressionAttributeNames: { '#id': id },
          ExpressionAttributeValues: { ':expires': expiresAtMs },
        }),
      );
    }
  };

  const tryToJoin = async (
    { listId, requestId, joinedAtMs }: Waiter,
    nowMs: number,
  ): Promise<{ joined: Stored } | { full: Stored | undefined }> => {
    try {
      const { Attributes } = await database.update({
        TableName: table,
        Key: keyOf(listId),
        UpdateExpression: 'SET held.#id = :entry',
        ConditionExpression: 'attribute_exists(held) AND (attribute_exists(held.#id) OR size(held) < :most)',
        ExpressionAttributeNames: { '#id': requestId },
        ExpressionAttributeValues: { ':entry': [joinedAtMs, nowMs + LEASE_MS], ':most': most },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      return { joined: Attributes as unknown as Stored };
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return { full: error.item as unknown as Stored | undefined };
    }
  };

  return {
    most,

    /**
     * Takes a place, or renews the request's own.
     * @returns the requests before it; undefined if there is no place left
     */
    join: async (waiter: Waiter, nowMs: number): Promise<Queue | undefined> => {
      for (let attempt = 0; attempt < MAX_JOIN_ATTEMPTS; attempt++) {
        const result = await tryToJoin(waiter, nowMs);
        if ('joined' in result) return queueOf(result.joined, nowMs);
        if (result.full) {
          const { expired } = split(result.full, nowMs);
          if (expired.length === 0) return undefined;
          await removeExpired(waiter.listId, result.full, expired);
        } else {
          await create(waiter.listId);
        }
      }
      return undefined;
    },

    /** Releases the oldest request, while fewer than `mostRunning` run. @returns true if this request may run */
    release: async (waiter: Waiter, mostRunning: number, nowMs: number): Promise<boolean> => {
      const { listId, requestId } = waiter;
      const stored = await read(listId);
      if (!stored) return false;
      const { live, expired } = split(stored, nowMs);
      await removeExpired(listId, stored, expired);
      // An earlier attempt whose reply was lost.
      if (live.running[requestId] !== undefined) return true;
      const free = mostRunning - Object.keys(live.running).length;
      const turn = inOrder(live).indexOf(requestId);
      if (turn === -1 || turn >= free) return false;
      return isWritten(
        database.update({
          TableName: table,
          Key: keyOf(listId),
          UpdateExpression: 'SET running.#id = :expires',
          ConditionExpression: 'attribute_exists(held.#id) AND size(running) < :most',
          ExpressionAttributeNames: { '#id': requestId },
          ExpressionAttributeValues: { ':expires': nowMs + LEASE_MS, ':most': mostRunning },
        }),
      );
    },

    /** Renews the entries of a request that was released. */
    renewRunning: async ({ listId, requestId, joinedAtMs }: Waiter, nowMs: number): Promise<void> => {
      await database.update({
        TableName: table,
        Key: keyOf(listId),
        UpdateExpression: 'SET held.#id = :entry, running.#id = :expires',
        ExpressionAttributeNames: { '#id': requestId },
        ExpressionAttributeValues: { ':entry': [joinedAtMs, nowMs + LEASE_MS], ':expires': nowMs + LEASE_MS },
      });
    },

    /**
     * Gives the place up, also if the list was deleted with its deployment.
     * @param ranMs the time that the request ran, if it was released
     */
    leave: async ({ listId, requestId }: Waiter, ranMs?: number): Promise<void> => {
      await isWritten(
        database.update({
          TableName: table,
          Key: keyOf(listId),
          UpdateExpression: `REMOVE held.#id, running.#id${ranMs === undefined ? '' : ' ADD served :one, served_ms :ran'}`,
          ConditionExpression: 'attribute_exists(held)',
          ExpressionAttributeNames: { '#id': requestId },
          ...(ranMs !== undefined && { ExpressionAttributeValues: { ':one': 1, ':ran': ranMs } }),
        }),
      );
    },
  };
};

export type WaitingStore = ReturnType<typeof createWaitingStore>;
