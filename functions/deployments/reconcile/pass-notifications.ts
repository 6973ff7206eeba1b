import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { type Notification, newNotification } from '../../../shared/notifications/notification.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { reasonFor } from '../reasons.ts';

// Without AWS's message.
const stateNotification = (
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

const windowNotification = (before: Deployment, next: Deployment, nowMs: number): Notification | undefined => {
  const { id, organization, name, unpaid_window: opensMs } = next;
  if (opensMs === undefined || opensMs === before.unpaid_window) return undefined;
  const { message, action } = reasonFor('window_unpaid');
  return newNotification({
    type: 'sluice.deployment.window_unpaid.v1',
    organization,
    subject: id,
    at: nowMs,
    data: { deployment: id, name, opens_at: unixSeconds(opensMs), message, action },
  });
};

/** The notifications of a pass: of a new state, and of a window for which the credit doesn't pay, once for each. */
export const notificationsOf = (before: Deployment, next: Deployment, nowMs: number): Notification[] =>
  [stateNotification(before, next), windowNotification(before, next, nowMs)].filter((each) => each !== undefined);
