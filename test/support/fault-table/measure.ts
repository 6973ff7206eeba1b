import { setTimeout as delay } from 'node:timers/promises';
import type { LimiterItem } from '../../../shared/admission/limiter-item.ts';
import { ownerIdOf } from '../../../shared/admission/shards.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { eventually } from '../eventually.ts';
import { FAULTS } from '../fault-proxy.ts';
import { sweepNow } from '../sweep-now.ts';
import { beginFault, endFault } from './faults.ts';
import { TABLE_ROUTES, type TableRoute } from './routes.ts';
import { type SeenReply, send } from './send.ts';
import type { FaultyRun, TableFault } from './table-fault.ts';

/** What happened to one request during a fault, and to its key afterwards. */
export interface Cell {
  fault: TableFault;
  route: TableRoute;
  reply: SeenReply;
  /** Requests that the key's limiter admitted, and did not undo. */
  admitted: readonly string[];
  /** The events of the key after the sweep. */
  events: readonly UsageEvent[];
  /** Whether the reservation was released before the sweep. */
  isReleased: boolean;
  inFlightAfterSweep: number;
  spent: bigint;
  /** The same request, with the same key, after the fault. */
  next: SeenReply;
}

const SETTLED_WITHIN_MS = 12_000;
const POLL_MS = 50;
const MINUTE_MS = 60_000;
const SWEPT_AFTER_MS = 12 * MINUTE_MS;

/** Sends one request of every route at once during a fault. Returns their cells. */
export const measure = async (faulty: FaultyRun, fault: TableFault): Promise<Cell[]> => {
  const { run } = faulty;
  const keys = await Promise.all(
    TABLE_ROUTES.map(({ host }) => run.createKey({ scope: host === 'serverless' ? host : 'on_demand', ...fault.keys })),
  );
  const sent = TABLE_ROUTES.map((route, i) => ({ route, keyId: keys[i]?.key_id as string, secret: keys[i]?.secret as string }));
  await beginFault(faulty, fault);
  const failedBefore = failedCalls(faulty);
  let replies: SeenReply[];
  try {
    replies = await Promise.all(sent.map(({ route, secret }) => send(run, route, secret)));
    const { emulator } = fault;
    if (emulator) await eventually(async () => (await run.metCalls(emulator)) > 0, `a call meets the fault: ${fault.name}`);
  } finally {
    await endFault(faulty, fault);
  }
  if (fault.isOfDatabase && failedCalls(faulty) === failedBefore) throw new Error(`No call met the fault: ${fault.name}.`);
  const released = await Promise.all(sent.map(({ keyId }) => isReleased(faulty, keyId, fault.isSwept ? 0 : SETTLED_WITHIN_MS)));
  await sweepLater(faulty);
  const settled = await Promise.all(sent.map(({ keyId }) => stateOf(faulty, keyId)));
  const next = await Promise.all(sent.map(({ route, secret }) => send(run, route, secret)));
  return sent.map(({ route }, i) => ({
    fault,
    route,
    reply: replies[i] as SeenReply,
    isReleased: released[i] as boolean,
    next: next[i] as SeenReply,
    ...(settled[i] as Awaited<ReturnType<typeof stateOf>>),
  }));
};

const failedCalls = ({ proxy }: FaultyRun): number => FAULTS.reduce((sum, fault) => sum + proxy.seen[fault], 0);

/** Waits for settlements that are retried or come from the queue. */
const isReleased = async ({ run }: FaultyRun, keyId: string, limitMs: number): Promise<boolean> => {
  for (const start = performance.now(); ; await delay(POLL_MS)) {
    if (inFlight(await run.limiters.whole(keyId)) === 0) return true;
    if (performance.now() - start >= limitMs) return false;
  }
};

const inFlight = (item: LimiterItem | undefined): number => Object.keys(item?.fl ?? {}).length;

const sweepLater = async ({ run }: FaultyRun): Promise<void> => {
  const { complete } = await sweepNow({
    limiters: run.limiters,
    usage: run.usage,
    now: () => Date.now() + SWEPT_AFTER_MS,
    maxInFlightMs: SWEPT_AFTER_MS - MINUTE_MS,
    hasTime: () => true,
    database: run.database,
  });
  if (!complete) throw new Error('The sweep did not reach its end.');
};

const stateOf = async ({ run, proxy }: FaultyRun, keyId: string) => {
  const item = await run.limiters.whole(keyId);
  const admitted = new Set<string>();
  for (const write of proxy.writes()) {
    if (write.kind === 'event' || ownerIdOf(write.limiterId) !== keyId) continue;
    if (write.kind === 'admitted') admitted.add(write.requestId);
    if (write.kind === 'undone') admitted.delete(write.requestId);
  }
  return {
    admitted: [...admitted],
    events: await run.eventsOf(keyId),
    inFlightAfterSweep: inFlight(item),
    spent: BigInt(item?.spent ?? 0),
  };
};
