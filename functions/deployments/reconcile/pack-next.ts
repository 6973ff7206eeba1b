import { transact } from '../../../shared/database/transaction.ts';
import type { WorkShares } from '../../../shared/database/work-shares.ts';
import type { Adapter } from '../../../shared/deployments/adapter.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { archiveKeyOf } from '../../../shared/deployments/names.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import { type AdapterFiles, FilesChanged, FilesUnreadable } from '../adapters/adapter-files.ts';
import { AdapterRefused } from '../adapters/refused.ts';
import { isRetryable } from '../aws/errors.ts';
import { reasonOfRefusal } from '../reasons.ts';
import { type AdapterToPack, adapterToPack } from './adapters.ts';
import type { ScheduleDependencies } from './apply-schedule.ts';
import { LATE_CALL_MS } from './generations.ts';

interface PackDependencies extends Pick<ScheduleDependencies, 'database' | 'now'> {
  deployments: Pick<DeploymentStore, 'find' | 'toReplace'>;
  aws: { files: AdapterFiles };
  packingShares: WorkShares;
}

// An archive that is stored later than this after the pass has begun would be a late call.
const MAX_PACK_MS = LATE_CALL_MS - 5_000;
// With less time, a large adapter can't be packed.
const MIN_PACK_MS = 20_000;
// Requests and other passes can write the row first.
const MAX_WRITES = 5;

type Outcome = Pick<Adapter, 'state' | 'packed' | 'reason'>;

const PREFIX = /^s3:\/\/[^/]+\/(.+)$/;

// Undefined if it is to be tried again.
const pack = async (
  { aws: { files } }: PackDependencies,
  { id: deployment, organization }: Deployment,
  { adapter: { id, source }, maxRank }: AdapterToPack,
  timeoutMs: number,
): Promise<Outcome | undefined> => {
  const [, prefix = ''] = PREFIX.exec(source) ?? [];
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const packed = await files.pack(prefix, archiveKeyOf(organization, deployment, id), maxRank, signal);
    logInfo('adapter_packed', { deployment, adapter: id, ...packed });
    return { state: 'pending', packed };
  } catch (error) {
    if (error instanceof AdapterRefused) return { state: 'failed', reason: reasonOfRefusal(error) };
    const isOwners = error instanceof FilesChanged || error instanceof FilesUnreadable;
    if (!isOwners && !signal.aborted && !isRetryable(error)) throw error;
    logError('adapter_not_packed', error, { deployment, adapter: id });
    return undefined;
  }
};

const withOutcome = (deployment: Deployment, id: string, outcome: Outcome): Deployment => ({
  ...deployment,
  adapters: (deployment.adapters ?? []).map((adapter) =>
    adapter.id === id && adapter.state === 'pending' ? { ...adapter, ...outcome } : adapter,
  ),
});

const packAndStore = async (deps: PackDependencies, stored: Deployment, next: AdapterToPack, timeoutMs: number): Promise<void> => {
  const outcome = await pack(deps, stored, next, timeoutMs);
  for (let write = 0; outcome && write < MAX_WRITES; write++) {
    const row = await deps.deployments.find(stored.id);
    if (!row) return;
    try {
      return await transact(deps.database, [deps.deployments.toReplace(withOutcome(row, next.adapter.id, outcome))]);
    } catch (error) {
      if (!(error instanceof PreconditionFailed)) throw error;
    }
  }
};

/**
 * Checks the files of one of the deployment's adapters that are `pending` and stores its archive. It can be repeated:
 * the archive has a fixed key. The adapter stays `pending` until the next pass puts it into the inventory.
 * Does nothing while the organization's share of packing is in use; a later pass tries again.
 * @param startMs when the pass began
 */
export const packNext = async (deps: PackDependencies, stored: Deployment, startMs: number): Promise<void> => {
  const next = adapterToPack(stored, startMs);
  const timeoutMs = startMs + MAX_PACK_MS - deps.now();
  if (!next || timeoutMs < MIN_PACK_MS) return;
  await deps.packingShares.use(stored.organization, () => packAndStore(deps, stored, next, timeoutMs));
};
