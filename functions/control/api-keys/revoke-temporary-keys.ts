import { inParallel } from '../../../shared/database/in-parallel.ts';
import { retryChanged } from '../../../shared/http/precondition.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import { revokeApiKey } from './change-api-key.ts';
import type { ApiKeyDependencies } from './create-api-key.ts';

const PARALLEL = 8;
// Each time, a concurrent request has changed the key: it has revoked it.
const MAX_TRIES = 3;

const revoke = async (deps: ApiKeyDependencies, actor: Actor, id: string): Promise<void> => {
  await retryChanged(MAX_TRIES, () => revokeApiKey(deps, actor, id));
};

/**
 * Revokes the temporary keys of a creator that have not ended: those of one series, or all. Nothing may create them any
 * more. Repeat it after a crash.
 * @param series the id of a federation rule
 * @throws the error of the first one that could not be revoked; all others are
 */
export const revokeTemporaryKeys = async (deps: ApiKeyDependencies, actor: Actor, creator: string, series?: string): Promise<void> => {
  const live: string[] = [];
  const nowSeconds = unixSeconds(actor.origin.nowMs);
  for await (const { id, name, endsAt } of deps.apiKeys.temporary.listOf(creator))
    if (endsAt > nowSeconds && (series === undefined || name === series)) live.push(id);
  const [failure] = await inParallel(live, PARALLEL, (id) => revoke(deps, actor, id));
  if (failure !== undefined) throw failure;
};

/**
 * Revokes the temporary keys of a creator, or those of one series, and forgets the series: for a creator or a
 * federation rule that was deleted.
 */
export const endSeries = async (deps: ApiKeyDependencies, actor: Actor, creator: string, series?: string): Promise<void> => {
  await revokeTemporaryKeys(deps, actor, creator, series);
  await deps.apiKeys.temporary.forget(creator, series);
};
