import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { type Notification, newNotification } from '../../../shared/notifications/notification.ts';

/** The notification of a deployment's new state, without AWS's message. Undefined if the state is the same. */
export const stateNotification = (
  before: Deployment,
  { id, organization, name, state, state_since, reason }: Deployment,
): Notification | undefined => {
  if (state === before.state) return undefined;
  const why = reason && { code: reason.code, message: reason.message, action: reason.action };
  return newNotification({
    type: 'sluice.deployment.state_changed.v1',
    organization,
    subject: id,
    at: state_since,
    data: { deployment: id, name, from: before.state, to: state, reason: why ?? null },
  });
};
