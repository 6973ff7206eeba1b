import type { Database } from '../../../shared/database/database.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import { newNotification } from '../../../shared/notifications/notification.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import type { SecretExpiries, SecretExpiry } from '../../../shared/service-accounts/secret-expiries.ts';
import type { ServiceAccountStore, StoredSecret, StoredServiceAccount } from '../../../shared/service-accounts/service-account-store.ts';
import { SECOND_MS, unixSeconds } from '../../../shared/time/units.ts';

export interface ExpiringSecretDependencies {
  database: Database;
  secretExpiries: Pick<SecretExpiries, 'listDue' | 'toEnd'>;
  serviceAccounts: Pick<ServiceAccountStore, 'findWithSecret'>;
  outbox: Outbox;
  now: () => number;
  hasTime: () => boolean;
}

const PARALLEL_NOTICES = 25;

const notificationOf = (expiry: SecretExpiry, { id, name }: StoredServiceAccount, { hint }: StoredSecret, nowMs: number) =>
  newNotification({
    type: 'sluice.service_account.secret_expiring.v1',
    organization: expiry.organization,
    subject: id,
    at: nowMs,
    data: { service_account: id, name, secret: expiry.secret, hint, expires_at: expiry.expires_at },
  });

const notify = async (deps: ExpiringSecretDependencies, expiry: SecretExpiry): Promise<void> => {
  const { account, secret } = await deps.serviceAccounts.findWithSecret(expiry.service_account, expiry.secret);
  const nowMs = deps.now();
  // Somebody can enable the account again while the secret still works.
  if (account?.status === 'disabled' && expiry.expires_at > nowMs / SECOND_MS) return;
  const notification = account?.status === 'active' && secret ? notificationOf(expiry, account, secret, nowMs) : undefined;
  try {
    await transact(deps.database, [deps.secretExpiries.toEnd(expiry), ...(notification ? [deps.outbox.toEmit(notification)] : [])]);
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
    return;
  }
  if (notification) logInfo('secret_expiring', { organization: expiry.organization, secret: expiry.secret });
};

/**
 * Notifies organizations of the secrets of their service accounts that expire within 14 days, once of each secret. A
 * late run notifies of secrets that have expired in the meantime, too; nobody is notified of secrets that were deleted.
 * @throws AggregateError if a notification failed; the next run repeats it
 */
export const notifyExpiringSecrets = async (deps: ExpiringSecretDependencies): Promise<void> => {
  const due = await Array.fromAsync(deps.secretExpiries.listDue(unixSeconds(deps.now())));
  throwFailures(await inParallel(due, PARALLEL_NOTICES, (expiry) => notify(deps, expiry), deps.hasTime));
};
