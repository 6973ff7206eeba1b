import type { Deployment } from '../../../shared/deployments/deployment.ts';
import type { StartTimesStore } from '../../../shared/deployments/start-times-store.ts';
import { type DeploymentState, SERVING } from '../../../shared/deployments/state.ts';
import { OutOfCredit } from '../../../shared/gpu-time/start-credit.ts';
import type { Host } from '../../../shared/hosts/host.ts';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import { keptByOwner } from '../../../shared/models/kept-by-owner.ts';
import type { Model } from '../../../shared/models/model.ts';
import { type ModelReader, SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { createRefreshed } from '../../../shared/models/refreshed.ts';
import { DeploymentBusy, DeploymentStopped, DeploymentWaking, type NotWaiting, WakeUnpaid } from './errors.ts';
import { isServedBy, whyTooLate } from './may-wait.ts';
import { type Place, type PlaceDependencies, takePlace } from './place.ts';
import { predict } from './predict.ts';
import { createProgressComments } from './progress-comments.ts';
import { isAsleep, type WakeDependencies, wake } from './wake.ts';

// About how often a waiting request checks its deployment.
const POLL_MS = 1_000;
// Varies the interval by up to this share, so that waiting requests don't check all at once.
const JITTER = 0.25;

export interface CapacityDependencies extends WakeDependencies, PlaceDependencies {
  host: Host;
  models: ModelReader;
  startTimes: Pick<StartTimesStore, 'secondsOf'>;
}

/** An admitted request whose deployment has no capacity, as far as is known. */
export interface CapacityRequest {
  model: Model;
  /** True if it is a shared model that answers in place of an organization's deployment. */
  isShared?: boolean | undefined;
  organization: string;
  requestId: string;
  /** The maximum wait; 0 if the request doesn't wait. */
  waitMs: number;
  /** Aborted when the request ends, for instance because its caller has left. */
  signal: AbortSignal;
  onSettled: (then: () => Promise<void>) => void;
}

/** The capacity for one request. */
export interface CapacityOf {
  /** False after the time to wait is over. */
  canWait: () => boolean;
  /**
   * Wakes the deployment if it is asleep, and waits for the request's turn. Yields progress comments.
   * @param attempt the number of the invocation that follows; before a repeated one it waits a little longer
   * @returns the model with its current targets
   * @throws 503 `deployment_waking`, `deployment_not_ready`, `no_capacity`; 429 `insufficient_quota` if credit doesn't
   * pay for a wake
   */
  ready: (attempt: number) => AsyncGenerator<string, Model>;
}

/** Finds capacity for a request whose deployment has none. */
export type Capacity = (request: CapacityRequest) => CapacityOf;

const jittered = (ms: number): number => ms * (1 - JITTER + 2 * JITTER * Math.random());

// A deployment that should run stays in these states if it has a reason to.
const ENDED: readonly DeploymentState[] = ['stopping', 'stopped'];
const GONE: readonly DeploymentState[] = ['failed', 'deleting', 'deleted'];

const isUsable = ({ wanted, state, reason }: Deployment): boolean => {
  if (GONE.includes(state)) return false;
  return wanted === 'running' ? !ENDED.includes(state) || !reason : SERVING.includes(state);
};

// At most 30 s old, so that callers who come while a deployment starts don't each read them.
const cached = ({ startTimes, now }: Pick<CapacityDependencies, 'startTimes' | 'now'>): CapacityDependencies['startTimes'] => {
  const secondsOf = keptByOwner((instanceType) => createRefreshed(() => startTimes.secondsOf(instanceType), now, 'start_times_stale'));
  return { secondsOf: async (instanceType) => secondsOf(instanceType)() };
};

/** Creates the capacity of an environment. Docs: docs/api.md, "Cold starts"; the reasons are in decision 0035. */
export const createCapacity = (deps: CapacityDependencies): Capacity => {
  const { deployments, models, waiting, waitingInOrganization, now, wait } = deps;
  const startTimes = cached(deps);
  const limits = { ofDeployment: waiting.most, ofOrganization: waitingInOrganization.most };

  return ({ model, isShared, organization, requestId, waitMs, signal, onSettled }) => {
    const { name } = model;
    // The deployment of a shared model is not the caller's, on either host.
    const host: Host = isShared ? { scope: 'serverless' } : deps.host;
    const deploymentId = model.deployment?.id ?? '';
    const isOnDemand = host.scope === 'on_demand';
    const joinedAtMs = now();
    const untilMs = joinedAtMs + waitMs;
    const comments = createProgressComments(host, name, now);
    let place: Place | undefined;
    let seen: Deployment | undefined;

    // The inventory names the deployment; a row that doesn't belong to it must never be woken or used.
    const isOurs = (deployment: Deployment): boolean =>
      isOnDemand ? deployment.organization === organization : deployment.published_as === name;

    // An outage of the database doesn't end a wait: the next check tries again.
    const unlessOutage = async <Result>(work: () => Promise<Result>): Promise<Result | undefined> => {
      try {
        return await work();
      } catch (error) {
        if (!place || !(error instanceof ServiceUnavailable)) throw error;
        return undefined;
      }
    };

    const awaken = async (asleep: Deployment): Promise<Deployment | undefined> => {
      try {
        return await wake(deps, asleep);
      } catch (error) {
        if (!(error instanceof OutOfCredit)) throw error;
        logInfo('wake_unpaid', { deployment: asleep.id, org_id: asleep.organization });
        // On the serverless host, the caller is not of the organization whose credit it is.
        throw isOnDemand ? new WakeUnpaid(name, error) : new DeploymentStopped(host, name, asleep);
      }
    };

    // During an outage the deployment is used as last seen.
    const look = async (): Promise<Deployment> => {
      await unlessOutage(async () => {
        seen = await deployments.find(deploymentId);
        if (seen && isOurs(seen) && isAsleep(seen)) seen = await awaken(seen);
      });
      if (!seen || !isOurs(seen)) throw new DeploymentStopped(host, name, undefined);
      if (!isUsable(seen)) throw new DeploymentStopped(host, name, seen);
      return seen;
    };

    const refusal = async (deployment: Deployment, why: NotWaiting): Promise<Error> =>
      SERVING.includes(deployment.state)
        ? new DeploymentBusy(host, name, why, limits)
        : new DeploymentWaking(host, name, { start: await predict(startTimes, deployment, now()), why, limits, nowMs: now() });

    const join = async (deployment: Deployment): Promise<Place> => {
      const taken = await takePlace(deps, { deploymentId, organization, requestId, joinedAtMs });
      if (typeof taken === 'string') throw await refusal(deployment, taken);
      onSettled(taken.leave);
      const readyAtMs = SERVING.includes(deployment.state)
        ? now()
        : Math.max(now(), (await predict(startTimes, deployment, now())).earliestAtMs);
      if (!isServedBy(deployment, taken.queue, readyAtMs, untilMs)) throw await refusal(deployment, 'too_many_ahead');
      return taken;
    };

    const checkWait = async (deployment: Deployment): Promise<void> => {
      const start = await unlessOutage(() => predict(startTimes, deployment, now()));
      const why = start && whyTooLate(deployment, start, untilMs, now());
      if (why) throw await refusal(deployment, why);
      if (place?.isLost()) throw await refusal(deployment, 'too_many');
    };

    const currentModel = async (): Promise<Model> => {
      const current = (await models.list(isOnDemand ? organization : SERVERLESS_POOL)).get(name);
      if (current?.deployment?.id !== deploymentId) throw new DeploymentStopped(host, name, undefined);
      return current;
    };

    // Copies are counted for one generation. A deployment in service has at least one, perhaps of another generation.
    // An adapter is loaded a little later than its deployment's copies.
    const isLoaded = ({ adapters = [] }: Deployment): boolean =>
      adapters.every((adapter) => adapter.name !== name || adapter.state === 'ready');

    const mayRun = async (deployment: Deployment): Promise<boolean> => {
      const { state, progress, max_concurrency_per_copy } = deployment;
      if (!SERVING.includes(state) || !(isShared || isLoaded(deployment))) return false;
      return !place || (await place.release(Math.max(1, progress.ready) * max_concurrency_per_copy));
    };

    const comment = async (deployment: Deployment): Promise<string> =>
      comments.write(deployment, await predict(startTimes, deployment, now()));

    return {
      canWait: () => now() < untilMs,
      ready: async function* (attempt) {
        if (attempt > 1) await wait(Math.min(jittered(POLL_MS * attempt), Math.max(0, untilMs - now())), signal);
        for (;;) {
          const deployment = await look();
          const current = await unlessOutage(async () => ((await mayRun(deployment)) ? currentModel() : undefined));
          if (current) return current;
          const leftMs = untilMs - now();
          if (leftMs <= 0) throw await refusal(deployment, waitMs === 0 ? 'not_requested' : 'time_over');
          await checkWait(deployment);
          place ??= await join(deployment);
          const progress = comments.isDue(deployment) ? await unlessOutage(() => comment(deployment)) : undefined;
          if (progress) yield progress;
          await wait(Math.min(jittered(POLL_MS), leftMs), signal);
        }
      },
    };
  };
};
