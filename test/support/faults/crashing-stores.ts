import type { Move } from '../../../shared/admission/plans/move-money.ts';
import type { Ending } from '../../../shared/admission/plans/reservation-end.ts';
import type { ReservationPlan } from '../../../shared/admission/plans/reservation-plan.ts';
import type { LimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import type { UsageStore } from '../../../shared/usage/usage-store.ts';
import { Crash } from './unreliable-database.ts';

/** The writes of a request, in order; the last one does not belong to a single request. */
export const WRITES = [
  'admit key',
  'create user',
  'admit user',
  'admit project',
  'admit organization',
  'move',
  'event',
  'end organization',
  'end project',
  'end user',
  'end key',
  'split',
] as const;
export type RequestWrite = (typeof WRITES)[number];

/**
 * Where a function process crashes: before one of its writes, or after the write was done and before its reply
 * arrived.
 */
export interface CrashPoint {
  write: RequestWrite;
  when: 'before' | 'after';
}

/** The stores of one function process, which may crash: from then on none of its calls happens. */
export const crashingStores = <Store extends LimiterStore>(limiters: Store, usage: UsageStore, crashPoint: CrashPoint | undefined) => {
  let hasCrashed = false;
  const checkAlive = (): void => {
    if (hasCrashed) throw new Crash();
  };
  const crash = (): never => {
    hasCrashed = true;
    throw new Crash();
  };
  const writing = async <Result>(write: RequestWrite, work: () => Promise<Result>): Promise<Result> => {
    checkAlive();
    if (crashPoint?.write === write && crashPoint.when === 'before') crash();
    const result = await work();
    if (crashPoint?.write === write) crash();
    return result;
  };
  const ownerOf = (limiterId: string): 'key' | 'user' | 'project' | 'organization' => {
    if (limiterId.startsWith('org_')) return 'organization';
    if (limiterId.startsWith('prj_')) return 'project';
    return limiterId.includes('@') ? 'user' : 'key';
  };
  return {
    hasCrashed: (): boolean => hasCrashed,
    store: {
      ...limiters,
      get: async (id: string) => {
        checkAlive();
        return limiters.get(id);
      },
      getMany: async (ids: readonly string[]) => {
        checkAlive();
        return limiters.getMany(ids);
      },
      move: (move: Move) => writing('move', () => limiters.move(move)),
      split: (...parameters: Parameters<LimiterStore['split']>) => writing('split', () => limiters.split(...parameters)),
      createUser: (id: string, deleteAt: number) => writing('create user', () => limiters.createUser(id, deleteAt)),
      admit: (plan: ReservationPlan) => writing(`admit ${ownerOf(plan.limiterId)}`, () => limiters.admit(plan)),
      end: (ending: Ending) => writing(`end ${ownerOf(ending.limiterId)}`, () => limiters.end(ending)),
    },
    usage: { ...usage, putIfAbsent: (event, shards) => writing('event', () => usage.putIfAbsent(event, shards)) } satisfies UsageStore,
  };
};
