import type { BillingTasks } from '../../../shared/billing/billing-tasks.ts';
import { messageStep, type Rerate } from '../../../shared/billing/rerate.ts';
import type { RerateStore } from '../../../shared/billing/rerate-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { transact } from '../../../shared/database/transaction.ts';

export interface FanOutDependencies {
  database: Database;
  organizations: () => AsyncIterable<string>;
  rerates: RerateStore;
  tasks: BillingTasks;
  now: () => number;
}

const PARALLEL_SENDS = 16;

/** Sends a rerate's task for each organization, then stores their number. A task that is sent twice changes nothing. */
export const sendToAll = async ({ database, organizations, rerates, tasks, now }: FanOutDependencies, rerate: Rerate): Promise<void> => {
  const { id, phase } = rerate;
  if ((await rerates.extent(id, phase)) !== undefined) return;
  const all = await Array.fromAsync(organizations());
  const send = (organization: string): Promise<void> =>
    tasks.send({ task: 'rerate', organization, rerate: id }, now(), messageStep(phase, 0));
  throwFailures(await inParallel(all, PARALLEL_SENDS, send));
  await transact(database, [rerates.toSetExtent(id, phase, all.length)]);
};
