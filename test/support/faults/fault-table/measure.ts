import { setTimeout as delay } from 'node:timers/promises';
import type { LimiterItem } from '../../../../shared/admission/item/limiter-item.ts';
import { ownerIdOf } from '../../../../shared/admission/item/shards.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import type { SignedIn } from '../../clients/control.ts';
import { eventually } from '../../eventually.ts';
import { sweepNow } from '../../fixtures/sweep-now.ts';
import { FAULTS } from '../fault-proxy.ts';
import { beginFault, endFault, TABLE_FAULTS } from './faults.ts';
import { CONTROL_ROUTES, INFERENCE_ROUTES, type TableCaller, type TableRoute } from './routes.ts';
import { type SeenReply, send } from './send.ts';
import type { FaultyRun, TableFault } from './table-fault.ts';

/** The outcome of one request during a fault, and the state of its key afterwards. */
export interface Cell {
  fault: TableFault;
  route: TableRoute;
  reply: SeenReply;
  /** Requests that the key's limiter admitted, and did not undo. */
  admitted: readonly string[];
  /** The events of the key after the sweep. */
  events: readonly UsageEvent[];
  /** True if the reservation was released before the sweep. */
  isReleased: boolean;
  inFlightAfterSweep: number;
  spent: bigint;
  /** The number of API keys with the name that the caller has sent. */
  createdKeys: number;
  /** The same request, with the same key, after the fault. */
  next: SeenReply;
}

const SETTLED_WITHIN_MS = 12_000;
const POLL_MS = 50;
// A key that can have so many requests at once has one limiter item.
const ONE_SHARD = 12;
const SWEPT_AFTER_MS = 12 * MINUTE_MS;

interface Sent {
  route: TableRoute;
  keyId: string;
  caller: TableCaller;
}

const ROUTES = { inference: INFERENCE_ROUTES, control: CONTROL_ROUTES, all: [...INFERENCE_ROUTES, ...CONTROL_ROUTES] };

/**
 * Sends one request of every route at once during a fault. Returns their cells.
 * @param again only these routes, after all of them: they may not make the calls that the fault is about
 */
export const measure = async (faulty: FaultyRun, fault: TableFault, again?: ReadonlySet<TableRoute>): Promise<Cell[]> => {
  const { run, keys } = faulty;
  const nowMs = (): number => Date.now() + (fault.clockOffsetMs ?? 0);
  const sent = await prepare(faulty, fault, again);
  await beginFault(faulty, fault);
  const failedBefore = failedCalls(faulty);
  let replies: SeenReply[];
  try {
    const sending = sent.map((request) => sendOne(faulty, request));
    const [all] = await Promise.all([
      Promise.all(sending.map(({ reply }) => reply)),
      fault.during?.(faulty, async () => void (await Promise.all(sending.map(({ held }) => held())))),
    ]);
    replies = all;
    const { emulator } = fault;
    if (emulator && !again) await eventually(async () => (await run.metCalls(emulator)) > 0, `a call meets the fault: ${fault.name}`);
  } finally {
    await endFault(faulty, fault);
  }
  if (fault.isOfDatabase && !again && failedCalls(faulty) === failedBefore) throw new Error(`No call met the fault: ${fault.name}.`);
  const released = await Promise.all(sent.map(({ keyId }) => isReleased(faulty, keyId, fault.isSwept ? 0 : SETTLED_WITHIN_MS)));
  await sweepLater(faulty, nowMs);
  const settled = await Promise.all(sent.map(({ keyId }) => stateOf(faulty, keyId, nowMs())));
  const created = fault.hosts ? await createdKeyNames(faulty) : [];
  const next = await Promise.all(sent.map(({ route, caller }) => send(run, route, caller)));
  await Promise.all(sent.map(({ keyId }) => keys.removeKey(keyId)));
  return sent.map(({ route, caller }, i) => ({
    fault,
    route,
    reply: replies[i] as SeenReply,
    isReleased: released[i] as boolean,
    createdKeys: created.filter((name) => name === caller.newKeyName).length,
    next: next[i] as SeenReply,
    ...(settled[i] as Awaited<ReturnType<typeof stateOf>>),
  }));
};

const prepare = async (
  { run, keys, users, identities }: FaultyRun,
  fault: TableFault,
  routes: ReadonlySet<TableRoute> = new Set(ROUTES[fault.hosts ?? 'inference']),
): Promise<Sent[]> => {
  const user = users[TABLE_FAULTS.indexOf(fault) % users.length] as SignedIn;
  const one = async (route: TableRoute): Promise<Sent> => {
    const { key_id: keyId, secret } = await keys.createKey({
      scope: route.host === 'on-demand' ? 'on_demand' : 'serverless',
      concurrency: ONE_SHARD,
      ...fault.keys,
    });
    return { route, keyId, caller: { secret, model: run.model, user, identities, newKeyName: keyId } };
  };
  return Promise.all([...routes].map(one));
};

const createdKeyNames = async ({ control, users: [user] }: FaultyRun): Promise<string[]> => {
  const { data, has_more } = await control.done('GET', '/v1/api-keys?limit=100', { token: user?.token });
  if (has_more) throw new Error('The organization has more API keys than one page lists.');
  return data.map(({ name }: { name: string }) => name);
};

// `held` resolves when the request is in flight, with the head of its reply if that is streamed. Without a charge, or
// if the model doesn't stream, it resolves when the request is over.
const sendOne = ({ run, keys }: FaultyRun, { route, caller, keyId }: Sent) => {
  const head = Promise.withResolvers<void>();
  const reply = send(run, route, caller, head.resolve);
  const held = async (): Promise<unknown> => {
    if (!route.isCharged || route.kind === 'pooling') return reply;
    if (route.stream) await head.promise;
    return eventually(async () => inFlight(await keys.limiters.whole(keyId)) > 0, `the model holds the answer of ${route.name}`);
  };
  return { reply, held };
};

const failedCalls = ({ proxy }: FaultyRun): number => FAULTS.reduce((sum, fault) => sum + proxy.seen[fault], 0);

// Settlements may be retried or come from the queue.
const isReleased = async ({ keys }: FaultyRun, keyId: string, limitMs: number): Promise<boolean> => {
  for (const start = performance.now(); ; await delay(POLL_MS)) {
    if (inFlight(await keys.limiters.whole(keyId)) === 0) return true;
    if (performance.now() - start >= limitMs) return false;
  }
};

const inFlight = (item: LimiterItem | undefined): number => Object.keys(item?.fl ?? {}).length;

const sweepLater = async ({ run }: FaultyRun, nowMs: () => number): Promise<void> => {
  const { complete } = await sweepNow({
    limiters: run.limiters,
    usage: run.usage,
    now: () => nowMs() + SWEPT_AFTER_MS,
    maxInFlightMs: SWEPT_AFTER_MS - MINUTE_MS,
    hasTime: () => true,
    database: run.database,
  });
  if (!complete) throw new Error('The sweep did not reach its end.');
};

const stateOf = async ({ keys, proxy }: FaultyRun, keyId: string, nowMs: number) => {
  const item = await keys.limiters.whole(keyId);
  const admitted = new Set<string>();
  for (const write of proxy.writes()) {
    if (write.kind === 'event' || ownerIdOf(write.limiterId) !== keyId) continue;
    if (write.kind === 'admitted') admitted.add(write.requestId);
    if (write.kind === 'undone') admitted.delete(write.requestId);
  }
  return {
    admitted: [...admitted],
    events: await keys.eventsOf(keyId, nowMs),
    inFlightAfterSweep: inFlight(item),
    spent: BigInt(item?.spent ?? 0),
  };
};
