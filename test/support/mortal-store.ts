import type { LimiterStore } from '../../shared/admission/limiter-store.ts';
import type { Ending } from '../../shared/admission/reservation-end.ts';
import type { ReservationPlan } from '../../shared/admission/reservation-plan.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';
import { Crash } from './faulty-database.ts';

/** The writes of a request, in their order. */
export const WRITES = ['admit key', 'admit organization', 'event', 'end organization', 'end key'] as const;
export type WriteOfARequest = (typeof WRITES)[number];

/** Where a function dies: before one of its writes, or after it was done and before it knew. */
export interface Death {
  write: WriteOfARequest;
  when: 'before' | 'after';
}

/** The stores of one function process, which may die: from then on none of its calls happens. */
export const mortalStores = <Store extends LimiterStore>(limiters: Store, usage: UsageStore, death: Death | undefined) => {
  let isDead = false;
  const alive = (): void => {
    if (isDead) throw new Crash();
  };
  const die = (): never => {
    isDead = true;
    throw new Crash();
  };
  const writing = async <Result>(write: WriteOfARequest, work: () => Promise<Result>): Promise<Result> => {
    alive();
    if (death?.write === write && death.when === 'before') die();
    const result = await work();
    if (death?.write === write) die();
    return result;
  };
  const ownerOf = (limiterId: string): 'key' | 'organization' => (limiterId.startsWith('org_') ? 'organization' : 'key');
  return {
    isDead: (): boolean => isDead,
    store: {
      ...limiters,
      get: async (id: string) => {
        alive();
        return limiters.get(id);
      },
      admit: (plan: ReservationPlan) => writing(`admit ${ownerOf(plan.limiterId)}`, () => limiters.admit(plan)),
      end: (ending: Ending) => writing(`end ${ownerOf(ending.limiterId)}`, () => limiters.end(ending)),
    },
    usage: { ...usage, putIfAbsent: (event, shards) => writing('event', () => usage.putIfAbsent(event, shards)) } satisfies UsageStore,
  };
};
