import { IN_FLIGHT } from '../../../shared/admission/item/limiter-item.ts';
import { deploymentMark, type Entry, storedEntry } from '../../../shared/admission/item/reservation-entry.ts';
import type { LimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { logError } from '../../../shared/logging/log.ts';
import type { Admission } from '../admission/admit.ts';

// MARK as a DynamoDB update: writes the entry again with another deployment, while its request is in flight.
const toMark = (requestId: string, entry: Entry, deploymentId: string) => ({
  UpdateExpression: `SET ${IN_FLIGHT}.#id = :entry`,
  ConditionExpression: `${IN_FLIGHT}.#id[0] = :at`,
  ExpressionAttributeNames: { '#id': requestId },
  ExpressionAttributeValues: {
    ':entry': storedEntry({ ...entry, deployment: deploymentMark(deploymentId) }),
    ':at': entry.admittedAtMs,
  },
});

/**
 * Names a fallback's deployment in the reservation of a request, in place of the one that has failed, so that it
 * doesn't fall asleep while it answers. If this fails, the request goes on.
 */
export const markDeployment = async (
  store: Pick<LimiterStore, 'apply'>,
  { requestId, organization, reservations }: Pick<Admission, 'requestId' | 'organization' | 'reservations'>,
  deploymentId: string,
): Promise<void> => {
  const [own] = reservations;
  if (!own) return;
  try {
    await store.apply(own.limiterId, toMark(requestId, own.entry, deploymentId));
  } catch (error) {
    logError('deployment_not_marked', error, { request_id: requestId, org_id: organization, deployment: deploymentId });
  }
};
