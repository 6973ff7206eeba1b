import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import type { ApiKeyStore } from './api-key-store.ts';
import { revokeApiKey } from './change-api-key.ts';
import type { ApiKeyDependencies } from './create-api-key.ts';

interface Creator {
  id: string;
  organization: string | null;
}

/** As many as an organization can have, with playground keys. Only an admin can have created more. */
export const MAX_OPEN_KEYS = 1_010;

/** Lists the ids of a user's active API keys, at most 1,010. */
export const openKeysOf = async ({ apiKeys, now }: { apiKeys: ApiKeyStore; now: () => number }, creator: Creator): Promise<string[]> => {
  const ids: string[] = [];
  for await (const id of apiKeys.listActiveOf(creator, unixSeconds(now()))) if (ids.push(id) === MAX_OPEN_KEYS) break;
  return ids;
};

// After this time since the request arrived, a repeated request continues. The function can run for 29 seconds.
const MAX_REVOKING_MS = 15_000;

/**
 * Revokes the active API keys that a user created, one after the other because each changes the organization's count of
 * keys. Repeat it after a crash. The user must not be able to create keys any more.
 * @returns the ids of those that are left
 */
export const revokeKeysOf = async (deps: ApiKeyDependencies & { now: () => number }, actor: Actor, creator: Creator): Promise<string[]> => {
  const left: string[] = [];
  for (const id of await openKeysOf(deps, creator)) {
    if (deps.now() - actor.origin.nowMs > MAX_REVOKING_MS) left.push(id);
    else
      await revokeApiKey(deps, actor, id).catch((error: unknown) => {
        // A concurrent request has changed this key.
        if (!(error instanceof PreconditionFailed)) throw error;
        left.push(id);
      });
  }
  return left;
};
