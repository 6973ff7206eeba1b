import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { type PredictedStart, wakeOf } from '../../../shared/deployments/start-times.ts';
import type { OutOfCredit } from '../../../shared/gpu-time/start-credit.ts';
import type { Host } from '../../../shared/hosts/host.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { waitHeaders } from '../../../shared/http/wait-headers.ts';
import { WAIT_HEADER } from './wait-header.ts';

/** OpenAI's clients ignore a longer `retry-after`, and retry within seconds, which can't help. */
const MAX_CLIENT_WAIT_MS = 60_000;

const BUSY_RETRY_MS = 5_000;

/** What a model is called on a host: on the serverless host, its callers don't see that it is a deployment. */
export const kindOf = ({ scope }: Host): string => (scope === 'on_demand' ? 'deployment' : 'model');

/** Why a request doesn't wait any longer. */
export type NotWaiting = 'not_requested' | 'too_many' | 'time_over';

const hints: Record<NotWaiting, string> = {
  not_requested: `Try again then, or send the header '${WAIT_HEADER}' with a number of seconds to have the request wait.`,
  too_many: 'Too many requests wait for it already. Try again then.',
  time_over: `It was not ready in the time that '${WAIT_HEADER}' allows. Try again then.`,
};

/** The deployment is starting: 503, with the predicted time. */
export class DeploymentWaking extends ApiError {
  constructor(host: Host, name: string, start: PredictedStart, nowMs: number, why: NotWaiting) {
    const leftMs = start.expectedAtMs - nowMs;
    const headers = waitHeaders(leftMs);
    super({
      status: 503,
      type: 'server_error',
      code: 'deployment_waking',
      param: 'model',
      message: `The ${kindOf(host)} '${name}' is starting, and is expected to be ready in ${headers['retry-after']} s. ${hints[why]}`,
      headers: { ...headers, ...(leftMs > MAX_CLIENT_WAIT_MS && { 'x-should-retry': 'false' }) },
      details: { wake: wakeOf(start) },
    });
  }
}

/** The deployment is in service, but its copies were busy with requests that waited longer: 503. */
export class DeploymentBusy extends ApiError {
  constructor(host: Host, name: string) {
    super({
      status: 503,
      type: 'server_error',
      code: 'no_capacity',
      param: 'model',
      message: `The ${kindOf(host)} '${name}' is in service, but was busy with earlier requests for as long as this one waited. Try again shortly.`,
      headers: waitHeaders(BUSY_RETRY_MS),
    });
  }
}

/** The deployment sleeps, and the credit of its organization does not pay for a start: 429, as for a request that costs more than what is left. */
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

/** What became of a deployment that requests don't wake, and what to do. */
const endOf = ({ wanted, state, reason }: Ended): string => {
  if (wanted === 'deleted' || state === 'deleting' || state === 'deleted') return 'is deleted. Use another deployment.';
  const why = reason ? `: ${reason.message} ${reason.action}` : '';
  if (state === 'failed') return `has failed${why || '. Ask your administrator.'}`;
  return `is stopped${why || '. Ask your administrator to start it.'}`;
};

/** The deployment is not in service, and no request wakes it: 503. Only its owner's callers are told why. */
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
