import * as z from 'zod';
import { DeploymentToValidate } from '../../shared/deployments/validation.ts';
import { prefixes } from '../../shared/ids/id.ts';

/** Events of the function `deployments` besides its queue's: from other functions, SageMaker and the schedule. */
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

/** Parses an event. @throws ZodError if none of the function's callers sends it */
export const readEvent = (event: unknown): DeploymentsEvent => Event.parse(event);

/**
 * Parses a message of the function's queue. @returns the id of a deployment. @throws ZodError or SyntaxError if it
 * isn't one
 */
export const readMessage = (body: string): string => Reconcile.parse(JSON.parse(body)).reconcile;

/** The deployment of an endpoint, from its name; undefined if it belongs to no deployment of this installation. */
export const deploymentOf = (installation: string, endpoint: string): string | undefined => {
  const rest = endpoint.startsWith(`${installation}-`) ? endpoint.slice(installation.length + 1) : '';
  const [, id] = /^([0-9A-Za-z]{18})-g\d+$/.exec(rest) ?? [];
  return id === undefined ? undefined : prefixes.deployment + id;
};
