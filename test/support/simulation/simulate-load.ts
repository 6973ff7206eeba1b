import { type Admission, admit } from '../../../functions/inference/admission/admit.ts';
import { settleRequest } from '../../../functions/inference/pipeline/settle-request.ts';
import { shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import type { PresentedKey } from '../../../shared/admission/item/secret.ts';
import type { Database } from '../../../shared/database/database.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { prefixes, RANDOM_CHARACTERS, timeOfId } from '../../../shared/ids/id.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { eventOf } from '../fixtures/completed-event.ts';
import { createEnvironments, createSettlements, type Environment } from './environments.ts';
import type { Most } from './limit-auditor.ts';
import type { SimulatedLoad } from './load.ts';
import type { ThrottleCause, Throughput, Units } from './throughput.ts';
import { createCallers, createWorld, KEYS, type World } from './world.ts';

// An admission that takes longer is late: a call of DynamoDB takes some milliseconds.
const LATE_MS = 100;
const STATUS_LIMITED = 429;

export interface SimulatedResult {
  offered: number;
  admitted: number;
  /** By a limit: 429. */
  rejected: number;
  /** 503. */
  failed: number;
  /** Requests for which DynamoDB throttled a call, whatever became of them. */
  throttled: number;
  /** Admissions that took more than 100 ms. */
  late: number;
  /** Settlements that were made from the queue. */
  queued: number;
  environments: number;
  organizationId: string;
  organizationShards: number;
  /** The most that the organization and each key have had at any time, by id. */
  most: ReadonlyMap<string, Most>;
  inFlightAtEnd: number;
  events: number;
  /** Throttled calls by table or index, and by reason. */
  throttles: ReadonlyMap<string, number>;
  firstThrottle: { where: string; cause: ThrottleCause; atMs: number } | undefined;
  /** Units that the tables have served for each admitted request. */
  units: ReadonlyMap<string, Units>;
  /** The limiter items of the organization and its keys at the end. */
  items: readonly Record<string, unknown>[];
}

type Counts = Pick<SimulatedResult, 'offered' | 'admitted' | 'rejected' | 'failed' | 'throttled' | 'late'>;

// Calls back for each arrival: a random process whose rate rises evenly, and then stays.
const arrive = async (
  { clock, random }: World,
  { startMs, requestsPerSecond: rate, seconds, rampSeconds }: SimulatedLoad,
  serve: () => void,
): Promise<void> => {
  const inRamp = (rate * rampSeconds) / 2;
  for (let requests = 0; ; ) {
    requests -= Math.log(1 - random());
    const second = requests < inRamp ? Math.sqrt((2 * rampSeconds * requests) / rate) : rampSeconds + (requests - inRamp) / rate;
    if (second >= seconds) return;
    const waitMs = Math.floor(startMs + second * SECOND_MS) - clock.now();
    if (waitMs > 0) await clock.wait(waitMs);
    serve();
  }
};

const createServing = (world: World, load: SimulatedLoad, keys: readonly PresentedKey[], counts: Counts) => {
  const { clock, random, textOf } = world;
  const { request, answerMs, broken = (database: Database): Database => database } = load;
  const environments = createEnvironments(world, broken);
  const settlements = createSettlements(world);

  const admitOne = async ({ keys: limiters }: Environment, requestId: string): Promise<Admission | undefined> => {
    const startedMs = clock.now();
    const key = keys[Math.floor(random() * keys.length)] as PresentedKey;
    try {
      const admission = await admit(limiters, {
        key,
        model: 'm',
        requestId,
        tokens: request.tokens,
        maxCostNanos: () => request.holdNanos,
      });
      counts.admitted++;
      if (clock.now() - startedMs > LATE_MS) counts.late++;
      return admission;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === STATUS_LIMITED) counts.rejected++;
      else counts.failed++;
      return undefined;
    }
  };

  const serve = async (): Promise<void> => {
    counts.offered++;
    const environment = environments.take();
    const requestId = prefixes.request + timeOfId(clock.now()) + textOf(RANDOM_CHARACTERS);
    const admission = await admitOne(environment, requestId);
    if (admission) {
      await clock.wait((answerMs / 2) * (1 - Math.log(1 - random())));
      const event = { requestId, requestContext: { requestId } } as ApiEvent;
      const usageEvent = eventOf(admission, { tokens: request.usedTokens, costNanos: request.costNanos });
      await settleRequest({ ...environment, settlements }, { event, admission, usageEvent });
    }
    if (environment.throttles > 0) counts.throttled++;
    environments.giveBack(environment);
  };
  return { serve, environments, settlements };
};

const firstOf = (throughputs: ReadonlyMap<string, Throughput>, startMs: number): SimulatedResult['firstThrottle'] =>
  [...throughputs]
    .flatMap(([where, throughput]) => {
      const first = throughput.firstThrottle();
      return first ? [{ where, cause: first.cause, atMs: first.atMs - startMs }] : [];
    })
    .toSorted((one, other) => one.atMs - other.atMs)[0];

/**
 * Simulates an organization under load: the real admission and settlement, on environments of which each serves one
 * request at a time, against a model of DynamoDB. The same seed gives the same result, if the caller seeds
 * `Math.random`. The caller mutes the log.
 */
export const simulateLoad = async (load: SimulatedLoad): Promise<SimulatedResult> => {
  const world = createWorld(load);
  const { organizationId, keys, limiters } = await createCallers(world, load);
  const counts: Counts = { offered: 0, admitted: 0, rejected: 0, failed: 0, throttled: 0, late: 0 };
  const { serve, environments, settlements } = createServing(world, load, keys, counts);
  // Failures of the simulation, which must not be mistaken for those of a request.
  const faults: unknown[] = [];
  const collect = (error: unknown): void => void faults.push(error);
  void arrive(world, load, () => void serve().catch(collect)).catch(collect);
  await world.clock.run();
  if (faults.length > 0) throw new AggregateError(faults, `The simulation failed: ${String(faults[0])}`);

  const { auditor, throughputs, database } = world;
  const owners = [organizationId, ...keys.map(({ keyId }) => keyId)];
  const toThrottles = ([name, throughput]: [string, Throughput]): [string, number][] =>
    [...throughput.throttles()].map(([cause, count]) => [`${name} ${cause}`, count]);
  const toUnits = ([name, throughput]: [string, Throughput]): [string, Units] => {
    const { writes, reads } = throughput.used();
    return [name, { writes: writes / counts.admitted, reads: reads / counts.admitted }];
  };
  return {
    ...counts,
    queued: settlements.count(),
    environments: environments.count(),
    organizationId,
    organizationShards: shardsOf(await limiters.get(organizationId)),
    most: new Map(owners.map((id) => [id, auditor.mostOf(id)])),
    inFlightAtEnd: owners.reduce((sum, id) => sum + auditor.inFlightOf(id), 0),
    events: auditor.events(),
    throttles: new Map([...throughputs].flatMap(toThrottles)),
    firstThrottle: firstOf(throughputs, load.startMs),
    units: new Map([...throughputs].map(toUnits)),
    items: database.items(KEYS),
  };
};
