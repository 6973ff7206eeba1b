import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import { systemOrigin } from '../../../shared/audit/origin.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import { AliasChanged, type AliasStore } from '../../../shared/models/alias-store.ts';
import type { ModelAlias } from '../../../shared/models/model-alias.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import type { ModelSplit } from '../../../shared/models/split.ts';
import { newNotification } from '../../../shared/notifications/notification.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { SideCount } from './count-sides.ts';
import type { SideStore } from './side-store.ts';

export interface SplitDependencies extends AuditDependencies {
  aliases: Pick<AliasStore, 'get' | 'toStopSplit'>;
  sides: SideStore;
  outbox: Outbox;
  /** ms since the epoch. */
  now: () => number;
}

interface OwnedSplit {
  owner: string;
  alias: ModelAlias;
  split: ModelSplit;
}

const findSplit = async (
  { aliases }: SplitDependencies,
  { organization, alias: name, splitId }: SideCount,
): Promise<OwnedSplit | undefined> => {
  for (const owner of [organization, SERVERLESS_POOL]) {
    const alias = await aliases.get(owner, name);
    if (alias?.split?.id === splitId) return { owner, alias, split: alias.split };
  }
  return undefined;
};

const isExceeded = (failed: number, requests: number, percent: number): boolean => failed * 100 > requests * percent;

const stop = async (
  deps: SplitDependencies,
  { owner, alias, split }: OwnedSplit,
  counts: Pick<SideCount, 'requests' | 'failed'>,
): Promise<void> => {
  const nowMs = deps.now();
  const stoppedAt = unixSeconds(nowMs);
  const organization = owner === SERVERLESS_POOL ? null : owner;
  const data = {
    alias: alias.alias,
    model: alias.model,
    new_model: split.model,
    requests: counts.requests,
    failed_requests: counts.failed,
    max_error_percent: split.max_error_percent ?? null,
  };
  const change = {
    action: 'model_alias.split_stopped',
    organization,
    target: { type: 'model_alias', id: alias.alias },
    before: { stopped_at: null },
    after: { stopped_at: stoppedAt },
  };
  // Only organizations are notified; for an alias for all, the log and the console show it.
  const notified = organization
    ? [deps.outbox.toEmit(newNotification({ type: 'sluice.split.stopped.v1', organization, subject: alias.alias, at: nowMs, data }))]
    : [];
  try {
    await commit(deps, systemOrigin('rollup', nowMs), change, [
      deps.aliases.toStopSplit(owner, alias.alias, { id: split.id, stoppedAt, ...counts }),
      ...notified,
    ]);
    logInfo('split_stopped', { owner, ...data });
  } catch (error) {
    // Another batch has stopped it, or its owner has changed it.
    if (!(error instanceof AliasChanged)) throw error;
  }
};

/**
 * Stops the split if too many of the newest requests of its new side have failed. It stops once, however often it is
 * called. An owner's change ends the count: the next start has another id.
 */
export const stopIfFailing = async (deps: SplitDependencies, count: SideCount): Promise<void> => {
  const found = await findSplit(deps, count);
  const { stopped_at, max_error_percent, min_requests = 0 } = found?.split ?? {};
  if (!found || stopped_at !== undefined || max_error_percent === undefined) return;
  const newest = await deps.sides.newest(count.splitId, min_requests);
  if (newest.requests >= min_requests && isExceeded(newest.failed, newest.requests, max_error_percent)) await stop(deps, found, newest);
};
