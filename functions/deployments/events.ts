import * as z from 'zod';
import { DeploymentToValidate } from '../../shared/deployments/validation.ts';
import { prefixes } from '../../shared/ids/id.ts';

/**
 * What the function `deployments` is invoked with, besides its queue: by other functions, by SageMaker's events and
 * by its schedule.
 */
export type DeploymentsEvent =
  | { kind: 'reconcile'; id: string }
  | { kind: 'validate'; question: DeploymentToValidate }
  | { kind: 'endpoint_changed'; endpoint: string }
  | { kind: 'schedule' };

const Reconcile = z.object({ reconcile: z.string().startsWith(prefixes.deployment) });
const Validate = z.object({ validate: DeploymentToValidate });
const EndpointChanged = z.object({
  'detail-type': z.literal('SageMaker Endpoint State Change'),
  detail: z.object({ EndpointName: z.string() }),
});
const Schedule = z.object({ 'detail-type': z.literal('Scheduled Event') });

const Event = z.union([
  Reconcile.transform(({ reconcile: id }): DeploymentsEvent => ({ kind: 'reconcile', id })),
  Validate.transform(({ validate: question }): DeploymentsEvent => ({ kind: 'validate', question })),
  EndpointChanged.transform(({ detail }): DeploymentsEvent => ({ kind: 'endpoint_changed', endpoint: detail.EndpointName })),
  Schedule.transform((): DeploymentsEvent => ({ kind: 'schedule' })),
]);

/** @throws Error for an event that none of the function's callers sends */
export const readEvent = (event: unknown): DeploymentsEvent => Event.parse(event);

/**
 * Reads a message of the function's queue. @returns the id of a deployment. @throws ZodError, SyntaxError for
 * anything else
 */
export const readMessage = (body: string): string => Reconcile.parse(JSON.parse(body)).reconcile;

/** The deployment to which an endpoint belongs by its name; undefined: it is none of this installation's. */
export const deploymentOf = (installation: string, endpoint: string): string | undefined => {
  const rest = endpoint.startsWith(`${installation}-`) ? endpoint.slice(installation.length + 1) : '';
  const [, id] = /^([0-9A-Za-z]{18})-g\d+$/.exec(rest) ?? [];
  return id === undefined ? undefined : prefixes.deployment + id;
};
