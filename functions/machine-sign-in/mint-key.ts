import type { InvokeFunction } from '../../shared/aws/invoke-function.ts';
import { type MintKey, MintKeyResult } from '../../shared/federation/mint-key.ts';
import type { Caller } from '../../shared/identity/request-origin.ts';
import { noApiKey, suspendedTarget, TooManyRuleKeys } from './errors.ts';
import type { MachineSignInDependencies, Proof } from './grant.ts';
import { refuse } from './refuse.ts';

/** @param functionName the name of `control` */
export const createMintKey =
  (invoke: InvokeFunction, functionName: string): MintKey =>
  async (call) =>
    MintKeyResult.parse(await invoke(functionName, call));

type IssuedKey = Extract<MintKeyResult, { outcome: 'created' }>;

// How long to wait if `control` doesn't say.
const WAIT_SECONDS = 60;

/** Issues an API key for an accepted token. @throws 400, 401, 429, 503 */
export const issueKey = async (
  deps: MachineSignInDependencies,
  caller: Caller,
  { account, facts = {} }: Proof,
  rule: string,
): Promise<IssuedKey> => {
  const { ipAddress: ip_address, requestId: request_id } = caller;
  const result = await deps.mintKey({ mint_key: { service_account: account.id, federation_rule: rule, facts, ip_address, request_id } });
  if (result.outcome === 'created') return result;
  if (result.reason === 'no_api_key') throw noApiKey();
  if (result.reason === 'organization_suspended') throw suspendedTarget();
  if (result.reason === 'too_many_keys') throw new TooManyRuleKeys(result.retry_after_seconds ?? WAIT_SECONDS);
  return refuse(deps, caller, account, result.reason);
};
