import { commit } from '../../../shared/audit/commit.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { newServiceAccountSecret } from '../../../shared/service-accounts/secret.ts';
import type { StoredSecret } from '../../../shared/service-accounts/service-account-store.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import type { ServiceAccountDependencies } from './manage-service-accounts.ts';
import { type NewSecret, type ServiceAccountSecret, secretToWire } from './service-account.ts';
import { checkGivenRights, visibleServiceAccount } from './service-account-rights.ts';

/** Creates a secret. Only its SHA-256 is stored. @throws 403, 404, 409 if there are two, 412 */
export const createSecret = async (
  deps: ServiceAccountDependencies,
  actor: Actor,
  id: string,
  { expires_in_seconds }: NewSecret,
): Promise<ServiceAccountSecret & { secret: string }> => {
  const account = await visibleServiceAccount(deps, actor, id);
  // With a secret, the actor can do what the account can.
  checkGivenRights(actor, account);
  const secretId = newTimedId('serviceAccountSecret', actor.origin.nowMs);
  const { secret, hash, hint } = newServiceAccountSecret(secretId);
  const created_at = unixSeconds(actor.origin.nowMs);
  const expires_at = created_at + expires_in_seconds;
  const stored: StoredSecret = { id: secretId, hash, hint, created_at, created_by: actor.userId, expires_at, version: 1 };
  const wire = secretToWire(id, stored);
  const target = { type: 'service_account', id };
  await commit(deps, actor.origin, { action: 'service_account.secret_created', organization: account.organization, target, after: wire }, [
    ...deps.users.toCheckActor(actor),
    ...(await deps.serviceAccounts.toAddSecret(account, stored)),
  ]);
  return { ...wire, secret };
};

/** Lists the secrets of a service account, oldest first. @throws 404 */
export const listSecrets = async (
  deps: Pick<ServiceAccountDependencies, 'serviceAccounts'>,
  actor: Actor,
  id: string,
): Promise<{ object: 'list'; data: ServiceAccountSecret[] }> => {
  await visibleServiceAccount(deps, actor, id);
  const secrets = await deps.serviceAccounts.secretsOf(id);
  return { object: 'list', data: secrets.map((secret) => secretToWire(id, secret)) };
};

/** Deletes a secret. @param endsSessions true: also ends the sessions of the service account @throws 404, 412 */
export const deleteSecret = async (
  deps: ServiceAccountDependencies,
  actor: Actor,
  { id, secretId }: { id: string; secretId: string },
  { endsSessions }: { endsSessions: boolean },
): Promise<void> => {
  const account = await visibleServiceAccount(deps, actor, id);
  const secret = (await deps.serviceAccounts.secretsOf(id)).find((each) => each.id === secretId);
  if (!secret) throw new ResourceNotFound('secret', secretId);
  const target = { type: 'service_account', id };
  const change = { action: 'service_account.secret_deleted', organization: account.organization, target, before: secretToWire(id, secret) };
  const nextSecond = () => unixSeconds(deps.now()) + 1;
  await commit(deps, actor.origin, change, [
    ...deps.users.toCheckActor(actor),
    ...deps.serviceAccounts.toDeleteSecret(id, secret),
    // A repeated request would not find the secret, and so could not end them.
    ...(endsSessions ? [deps.serviceAccounts.toEndSessions(id, nextSecond())] : []),
  ]);
  // Again, for those that the secret opened until it was deleted.
  if (endsSessions) await deps.serviceAccounts.endSessions(id, nextSecond());
};
