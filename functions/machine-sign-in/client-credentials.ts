import { sameHash } from '../../shared/ids/checked-secret.ts';
import { parseServiceAccountSecret } from '../../shared/service-accounts/secret.ts';
import { SECOND_MS, unixSeconds } from '../../shared/time/units.ts';
import { InvalidClient, invalidTokenRequest } from './errors.ts';
import type { TokenGrant } from './grant.ts';
import { refuse } from './refuse.ts';

/** The grant `client_credentials`: a service account and one of its secrets. */
export const proveBySecret: TokenGrant = async (deps, { clientId, clientSecret }, caller) => {
  if (clientSecret === undefined)
    throw invalidTokenRequest("'client_secret' is required. Send it in the body, or in the header Authorization.", 'client_secret');
  const presented = parseServiceAccountSecret(clientSecret);
  if (!presented) throw new InvalidClient();
  const { account, secret } = await deps.serviceAccounts.findWithSecret(clientId, presented.id);
  if (!account || !secret || !sameHash(secret.hash, presented.hash)) return refuse(deps, caller, account, 'wrong_secret');
  if (secret.expires_at * SECOND_MS <= caller.receivedAtMs) return refuse(deps, caller, account, 'secret_expired');
  if (account.status !== 'active') return refuse(deps, caller, account, 'service_account_disabled');
  const use = { at: unixSeconds(caller.receivedAtMs), ip_address: caller.ipAddress };
  return { account, name: `secret:${secret.id}`, noteSession: () => deps.serviceAccounts.noteUse(account.id, secret.id, use) };
};
