import type { Keys } from '../../../functions/inference/admission/admit.ts';
import { settleQueued } from '../../../functions/metering/settle-queued.ts';
import { createLimiterCache } from '../../../shared/admission/stores/limiter-cache.ts';
import { createLimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import type { QueuedSettlement, SettlementQueue } from '../../../shared/usage/settlement-queue.ts';
import { createUsageStore, type UsageStore } from '../../../shared/usage/usage-store.ts';
import { KEYS, USAGE, type World } from './world.ts';

// As in `direct-database.ts`.
const MAX_CALL_ATTEMPTS = 3;
const DELIVERY_MS = 1_000;
// The runs of `metering` at the same time.
const MAX_RUNS = 2;

/** An environment of the function, which serves one request at a time, with its own cache. */
export interface Environment {
  keys: Keys;
  usage: UsageStore;
  /** Calls that DynamoDB throttled since the request began. */
  throttles: number;
}

/** Lambda: a request gets an idle environment, or a new one. */
export const createEnvironments = ({ database, clock }: World, broken: (database: Database) => Database) => {
  const idle: Environment[] = [];
  let count = 0;
  const start = (): Environment => {
    count++;
    const opened = { onThrottle: (): void => void environment.throttles++ };
    const once = broken(database.open(1, opened));
    const retried = broken(database.open(MAX_CALL_ATTEMPTS, opened));
    const environment: Environment = {
      keys: { store: createLimiterStore(retried, KEYS, once), cache: createLimiterCache(), now: clock.now },
      usage: createUsageStore(retried, USAGE),
      throttles: 0,
    };
    return environment;
  };
  return {
    take: (): Environment => {
      const environment = idle.pop() ?? start();
      environment.throttles = 0;
      return environment;
    },
    giveBack: (environment: Environment): void => void idle.push(environment),
    count: (): number => count,
  };
};

/** The queue of settlements that failed, and the function `metering` behind it. */
export const createSettlements = ({ database, clock }: World): SettlementQueue & { count: () => number } => {
  const opened = database.open(MAX_CALL_ATTEMPTS);
  const settling = {
    database: opened,
    limiters: createLimiterStore(opened, KEYS),
    usage: createUsageStore(opened, USAGE),
    now: clock.now,
  };
  const waiting: QueuedSettlement[] = [];
  let count = 0;
  let working = 0;
  const isSettled = (queued: QueuedSettlement): Promise<boolean> =>
    settleQueued(settling, queued).then(
      () => true,
      () => false,
    );
  // Several runs of the function, until nothing waits.
  const work = async (): Promise<void> => {
    working++;
    await clock.wait(DELIVERY_MS);
    for (let queued = waiting.shift(); queued; queued = waiting.shift()) {
      if (await isSettled(queued)) continue;
      waiting.push(queued);
      await clock.wait(DELIVERY_MS);
    }
    working--;
  };
  return {
    send: async (queued) => {
      count++;
      waiting.push(queued);
      if (working < MAX_RUNS) void work();
    },
    count: () => count,
  };
};
