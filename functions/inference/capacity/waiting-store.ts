import { ConditionFailed, type Database } from '../../../shared/database/database.ts';
import { WAITING } from '../../../shared/deployments/deployment-store.ts';

/** An entry that is not renewed for so long belongs to a function that crashed. */
export const LEASE_MS = 45_000;
/** Joining and releasing remove entries of crashed functions, and are tried again so often. */
const MAX_ATTEMPTS = 3;

/** A request in the waiting list of a deployment. */
export interface Waiter {
  deploymentId: string;
  requestId: string;
  /** Its place in the order. */
  joinedAtMs: number;
}

/** `held`: all who wait or have been released, by request. `running`: those of them that were released. */
interface Stored {
  held: Record<string, [joinedAtMs: number, expiresAtMs: number]>;
  running: Record<string, number>;
}

/** The requests whose time to wait has not come yet, in the order in which they are released. */
const inOrder = ({ held, running }: Stored): string[] =>
  Object.entries(held)
    .filter(([id]) => running[id] === undefined)
    .sort(([one, [first]], [other, [second]]) => first - second || (one < other ? -1 : 1))
    .map(([id]) => id);

/** The item without entries that have expired, and those entries. */
const split = ({ held, running }: Stored, nowMs: number): { live: Stored; expired: string[] } => {
  const isLive = (expiresAtMs: number): boolean => expiresAtMs > nowMs;
  const live = {
    held: Object.fromEntries(Object.entries(held).filter(([, [, expiresAtMs]]) => isLive(expiresAtMs))),
    running: Object.fromEntries(Object.entries(running).filter(([, expiresAtMs]) => isLive(expiresAtMs))),
  };
  const ids = new Set([...Object.keys(held), ...Object.keys(running)]);
  return { live, expired: [...ids].filter((id) => live.held[id] === undefined && live.running[id] === undefined) };
};

/**
 * Who waits for a deployment, in one item of the table `deployments`, so that a limit holds across all environments. DynamoDB's conditions count the
 * entries of a map, but add nothing, so the released ones are in both maps.
 * @param table the table's name
 * @param most so many requests are held a deployment
 */
export const createWaitingStore = (database: Database, table: string, most: number) => {
  const keyOf = (deploymentId: string) => ({ account: deploymentId, record: WAITING });

  const read = async (deploymentId: string): Promise<Stored | undefined> => {
    const { Item } = await database.get({ TableName: table, Key: keyOf(deploymentId), ConsistentRead: true });
    return Item as Stored | undefined;
  };

  const create = async (deploymentId: string): Promise<void> => {
    await database.update({
      TableName: table,
      Key: keyOf(deploymentId),
      UpdateExpression: 'SET held = if_not_exists(held, :none), running = if_not_exists(running, :none)',
      ExpressionAttributeValues: { ':none': {} },
    });
  };

  /** Removes entries that have expired, unless they were renewed meanwhile. */
  const removeExpired = async (deploymentId: string, { held, running }: Stored, expired: readonly string[]): Promise<void> => {
    for (const id of expired) {
      const expiresAtMs = held[id]?.[1] ?? running[id];
      const place = held[id] === undefined ? 'running.#id' : 'held.#id[1]';
      const write = database.update({
        TableName: table,
        Key: keyOf(deploymentId),
        UpdateExpression: 'REMOVE held.#id, running.#id',
        ConditionExpression: `${place} = :expires`,
        ExpressionAttributeNames: { '#id': id },
        ExpressionAttributeValues: { ':expires': expiresAtMs },
      });
      await write.catch((error: unknown) => {
        if (!(error instanceof ConditionFailed)) throw error;
      });
    }
  };

  /** Joins, or renews an entry that exists. */
  const tryToJoin = async ({ deploymentId, requestId, joinedAtMs }: Waiter, nowMs: number): Promise<'joined' | Stored | undefined> => {
    try {
      await database.update({
        TableName: table,
        Key: keyOf(deploymentId),
        UpdateExpression: 'SET held.#id = :entry',
        ConditionExpression: 'attribute_exists(held) AND (attribute_exists(held.#id) OR size(held) < :most)',
        ExpressionAttributeNames: { '#id': requestId },
        ExpressionAttributeValues: { ':entry': [joinedAtMs, nowMs + LEASE_MS], ':most': most },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      return 'joined';
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return error.item as unknown as Stored | undefined;
    }
  };

  return {
    /** Takes a place, or renews the one that the request has. @returns false if there is none left */
    join: async (waiter: Waiter, nowMs: number): Promise<boolean> => {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const result = await tryToJoin(waiter, nowMs);
        if (result === 'joined') return true;
        if (result) {
          const { expired } = split(result, nowMs);
          if (expired.length === 0) return false;
          await removeExpired(waiter.deploymentId, result, expired);
        } else {
          await create(waiter.deploymentId);
        }
      }
      return false;
    },

    /**
     * Releases the request if it is its turn: the oldest first, while fewer than `mostRunning` run.
     * @returns whether it may run
     */
    release: async (waiter: Waiter, mostRunning: number, nowMs: number): Promise<boolean> => {
      const { deploymentId, requestId } = waiter;
      const stored = await read(deploymentId);
      if (!stored) return false;
      const { live, expired } = split(stored, nowMs);
      await removeExpired(deploymentId, stored, expired);
      // An earlier attempt whose reply was lost.
      if (live.running[requestId] !== undefined) return true;
      const free = mostRunning - Object.keys(live.running).length;
      const turn = inOrder(live).indexOf(requestId);
      if (turn === -1 || turn >= free) return false;
      try {
        await database.update({
          TableName: table,
          Key: keyOf(deploymentId),
          UpdateExpression: 'SET running.#id = :expires',
          ConditionExpression: 'attribute_exists(held.#id) AND size(running) < :most',
          ExpressionAttributeNames: { '#id': requestId },
          ExpressionAttributeValues: { ':expires': nowMs + LEASE_MS, ':most': mostRunning },
        });
        return true;
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
        return false;
      }
    },

    /** Renews the entries of a request that was released. */
    renewRunning: async ({ deploymentId, requestId, joinedAtMs }: Waiter, nowMs: number): Promise<void> => {
      await database.update({
        TableName: table,
        Key: keyOf(deploymentId),
        UpdateExpression: 'SET held.#id = :entry, running.#id = :expires',
        ExpressionAttributeNames: { '#id': requestId },
        ExpressionAttributeValues: { ':entry': [joinedAtMs, nowMs + LEASE_MS], ':expires': nowMs + LEASE_MS },
      });
    },

    /** Gives the place up. The list is gone if the deployment is deleted. */
    leave: async ({ deploymentId, requestId }: Waiter): Promise<void> => {
      const write = database.update({
        TableName: table,
        Key: keyOf(deploymentId),
        UpdateExpression: 'REMOVE held.#id, running.#id',
        ConditionExpression: 'attribute_exists(held)',
        ExpressionAttributeNames: { '#id': requestId },
      });
      await write.catch((error: unknown) => {
        if (!(error instanceof ConditionFailed)) throw error;
      });
    },
  };
};

export type WaitingStore = ReturnType<typeof createWaitingStore>;
