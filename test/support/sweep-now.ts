import { settleQueued } from '../../functions/metering/settle-queued.ts';
import { type SweepReport, sweep } from '../../functions/metering/sweep.ts';
import type { Database } from '../../shared/database/database.ts';
import { readMessage, toMessage } from '../../shared/usage/settlement-queue.ts';

interface SweepNow extends Omit<Parameters<typeof sweep>[0], 'settlements'> {
  database: Database;
  /** Called for each request that got an `orphaned` event. */
  onOrphan?: (orphan: { requestId: string; keyId: string }) => void;
}

/** Sweeps with a queue that delivers each settlement at once. */
export const sweepNow = ({ database, onOrphan, ...deps }: SweepNow): Promise<SweepReport> =>
  sweep({
    ...deps,
    settlements: {
      send: async (settlement) => {
        const { event } = settlement;
        const settled = await settleQueued({ ...deps, database }, readMessage(toMessage(settlement)));
        if (settled === 'settled') onOrphan?.({ requestId: event.request_id, keyId: event.key_id });
      },
    },
  });
