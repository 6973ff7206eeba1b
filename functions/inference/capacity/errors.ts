import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { type PredictedStart, wakeOf } from '../../../shared/deployments/start-times.ts';
import type { OutOfCredit } from '../../../shared/gpu-time/start-credit.ts';
import type { Host } from '../../../shared/hosts/host.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { waitHeaders } from '../../../shared/http/wait-headers.ts';
import { WAIT_HEADER } from './wait-header.ts';

// OpenAI's clients ignore a longer `retry-after`, and retry within seconds, which can't help.
const MAX_CLIENT_WAIT_MS = 60_000;

const BUSY_RETRY_MS = 5_000;
// A deployment without an instance isn't ready sooner, even if it gets an instance at once.
const NO_INSTANCE_RETRY_MS = 60_000;

/** The noun for a model in messages: callers of the serverless host don't see that it is a deployment. */
export const kindOf = ({ scope }: Host): string => (scope === 'on_demand' ? 'deployment' : 'model');

/** The reason for which a request doesn't wait, or no longer. */
export type NotWaiting =
  | 'not_requested'
  | 'too_many'
  | 'too_many_of_organization'
  | 'too_many_ahead'
  | 'too_late'
  | 'no_instance'
  | 'time_over';

/** The maximum number of requests that wait for a deployment, and in an organization. */
export interface WaitingLimits {
  ofDeployment: number;
  ofOrganization: number;
}

const crowdedBy = (why: NotWaiting, { ofDeployment, ofOrganization }: WaitingLimits): string | undefined => {
  if (why === 'too_many') return `Too many requests wait for it already: at most ${ofDeployment} can.`;
  if (why === 'too_many_of_organization')
    return `Too many requests of your organization wait for capacity already: at most ${ofOrganization} can. Send fewer with '${WAIT_HEADER}'.`;
  return why === 'too_many_ahead'
    ? `The requests that wait for it already take longer than '${WAIT_HEADER}' allows. Send fewer at the same time, or allow more time.`
    : undefined;
};

const hintFor = (why: NotWaiting, limits: WaitingLimits): string => {
  const crowded = crowdedBy(why, limits);
  if (crowded) return `${crowded} Try again then.`;
  if (why === 'not_requested')
    return `Try again then, or send the header '${WAIT_HEADER}' with a number of seconds to have the request wait.`;
  return why === 'time_over'
    ? `It was not ready in the time that '${WAIT_HEADER}' allows. Try again then.`
    : `It can't be ready in the time that '${WAIT_HEADER}' allows. Try again then, or allow more time.`;
};

interface Starting {
  start: PredictedStart;
  why: NotWaiting;
  limits: WaitingLimits;
  nowMs: number;
}

/** The deployment is starting: 503, with the predicted time. */
export class DeploymentWaking extends ApiError {
  constructor(host: Host, name: string, { start, why, limits, nowMs }: Starting) {
    const isWithoutInstance = why === 'no_instance';
    const leftMs = Math.max(start.expectedAtMs - nowMs, isWithoutInstance ? NO_INSTANCE_RETRY_MS : 0);
    const headers = waitHeaders(leftMs);
    const message = isWithoutInstance
      ? `is starting, but no instance is free for it, so that requests can't wait for it. Try again in ${headers['retry-after']} s.`
      : `is starting, and is expected to be ready in ${headers['retry-after']} s. ${hintFor(why, limits)}`;
    super({
      status: 503,
      type: 'server_error',
      code: 'deployment_waking',
      param: 'model',
      message: `The ${kindOf(host)} '${name}' ${message}`,
      headers: { ...headers, ...(leftMs > MAX_CLIENT_WAIT_MS && { 'x-should-retry': 'false' }) },
      details: { wake: wakeOf({ ...start, expectedAtMs: nowMs + leftMs }) },
    });
  }
}

/** The deployment is in service, but its copies are busy with requests that came earlier: 503. */
export class DeploymentBusy extends ApiError {
  constructor(host: Host, name: string, why: NotWaiting, limits: WaitingLimits) {
    const crowded = crowdedBy(why, limits);
    const message = crowded
      ? `is in service, but busy with earlier requests. ${crowded}`
      : 'is in service, but was busy with earlier requests for as long as this one waited.';
    super({
      status: 503,
      type: 'server_error',
      code: 'no_capacity',
      param: 'model',
      message: `The ${kindOf(host)} '${name}' ${message} Try again shortly.`,
      headers: waitHeaders(BUSY_RETRY_MS),
    });
  }
}

/**
 * The deployment is asleep, and the organization's credit doesn't pay for a start: 429, as for a request that costs
 * more than what is left.
 */
export class WakeUnpaid extends ApiError {
  constructor(name: string, cause: OutOfCredit) {
    super({
      cause,
      status: 429,
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      param: 'model',
      message: `The deployment '${name}' sleeps, and can't be woken. ${cause.message}`,
      headers: { 'x-should-retry': 'false' },
    });
  }
}

type Ended = Pick<Deployment, 'wanted' | 'state' | 'reason'>;

const endOf = ({ wanted, state, reason }: Ended): string => {
  if (wanted === 'deleted' || state === 'deleting' || state === 'deleted') return 'is deleted. Use another deployment.';
  const why = reason ? `: ${reason.message} ${reason.action}` : '';
  if (state === 'failed') return `has failed${why || '. Ask your administrator.'}`;
  return `is stopped${why || '. Ask your administrator to start it.'}`;
};

/** The deployment is not in service and can't be woken by a request: 503. Only callers of its owner see the reason. */
export class DeploymentStopped extends ApiError {
  constructor(host: Host, name: string, deployment: Ended | undefined) {
    const isOwn = host.scope === 'on_demand';
    const why = isOwn && deployment ? endOf(deployment) : 'is not in service. Ask your administrator.';
    super({
      status: 503,
      type: 'server_error',
      code: 'deployment_not_ready',
      param: 'model',
      message: `The ${kindOf(host)} '${name}' ${why}`,
      headers: { 'x-should-retry': 'false' },
    });
  }
}
