import * as z from 'zod';
import { commit } from '../../shared/audit/commit.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { countWithin } from '../../shared/identity/count-within.ts';
import { type Caller, callerOf, originOf } from '../../shared/identity/request-origin.ts';
import type { StoredServiceAccount } from '../../shared/service-accounts/service-account-store.ts';
import { proveBySecret } from './client-credentials.ts';
import { unsupportedGrantType } from './errors.ts';
import type { MachineSignInDependencies, Proof, TokenGrant } from './grant.ts';
import { issueKey } from './mint-key.ts';
import { refuse } from './refuse.ts';
import { ACCESS_TOKEN, API_KEY, proveByExchange, TOKEN_EXCHANGE } from './token-exchange/exchange-grant.ts';
import { readTokenRequest } from './token-request.ts';

const GRANTS: ReadonlyMap<string, TokenGrant> = new Map([
  ['client_credentials', proveBySecret],
  [TOKEN_EXCHANGE, proveByExchange],
]);

export const GRANT_TYPES = [...GRANTS.keys()];

/**
 * The reply of https://www.rfc-editor.org/rfc/rfc6749#section-5.1, and of
 * https://www.rfc-editor.org/rfc/rfc8693#section-2.2.1 for an exchange.
 */
export const IssuedToken = z.object({
  access_token: z.string().meta({
    description:
      'Send it in the header `Authorization: Bearer <access token>`. An API key is for the inference hosts, and an access token for this one.',
  }),
  token_type: z.literal('Bearer'),
  expires_in: z
    .int()
    .meta({ description: 'Seconds until the access token expires. There is no refresh token: request another access token.' }),
  issued_token_type: z
    .string()
    .optional()
    .meta({
      description: `The type of the token, for a token exchange: \`${ACCESS_TOKEN}\` or \`${API_KEY}\`.`,
    }),
});
export type IssuedToken = z.infer<typeof IssuedToken>;

// In any minute. Cognito's quota of sign-ins is shared with people and with all organizations.
const MAX_SIGN_INS_OF_ACCOUNT = 120;
const MAX_SIGN_INS_OF_ORGANIZATION = 240;
const PLATFORM = 'platform';

const countSignIn = async (
  { quotas }: MachineSignInDependencies,
  { id, organization }: Pick<StoredServiceAccount, 'id' | 'organization'>,
  nowMs: number,
): Promise<void> => {
  const ofEach = { kind: 'machine_sign_in', span: 'minute' } as const;
  const ofAccount = { ...ofEach, account: id, max: MAX_SIGN_INS_OF_ACCOUNT };
  const ofOrganization = { ...ofEach, account: organization ?? PLATFORM, max: MAX_SIGN_INS_OF_ORGANIZATION };
  await countWithin(quotas, [ofAccount, ofOrganization], nowMs);
};

const openSession = async (deps: MachineSignInDependencies, caller: Caller, { account, name, facts }: Proof): Promise<IssuedToken> => {
  const { id, subject, organization } = account;
  const ticket = await deps.tickets.issue(subject, caller.receivedAtMs);
  const answer = await deps.userPool.signInWithTicket({ subject, ticket, client: 'machine', caller });
  if (!answer || 'challenge' in answer || answer.tokens.subject !== subject) return refuse(deps, caller, account, 'not_signed_in');
  const { accessToken, expiresInSeconds } = answer.tokens;
  const change = { action: 'session.created', organization, target: { type: 'service_account', id }, after: { proof: name, ...facts } };
  await commit(deps, originOf(caller, account), change, []);
  return { access_token: accessToken, token_type: 'Bearer', expires_in: expiresInSeconds };
};

const issue = async (deps: MachineSignInDependencies, caller: Caller, proof: Proof): Promise<{ token: IssuedToken; apiKey?: string }> => {
  if (proof.keyOfRule === undefined) return { token: await openSession(deps, caller, proof) };
  const { id, secret, expires_in } = await issueKey(deps, caller, proof, proof.keyOfRule);
  return { token: { access_token: secret, token_type: 'Bearer', expires_in }, apiKey: id };
};

const issueNoted = async (deps: MachineSignInDependencies, caller: Caller, proof: Proof): Promise<IssuedToken> => {
  const { token, apiKey } = await issue(deps, caller, proof);
  await proof.noteSession?.(apiKey);
  return token;
};

const issueSession = async (deps: MachineSignInDependencies, caller: Caller, proof: Proof): Promise<IssuedToken> => {
  await countSignIn(deps, proof.account, caller.receivedAtMs);
  await proof.use?.();
  // A session or a key that no caller got does no harm, so the proof can be used again.
  const token = await issueNoted(deps, caller, proof).catch(async (error: unknown) => {
    await proof.release?.();
    throw error;
  });
  return { ...token, ...(proof.issuedTokenType !== undefined && { issued_token_type: proof.issuedTokenType }) };
};

/** Signs a program in as a service account. Every failed proof is the same 401. @throws 400, 401, 429, 503 */
export const issueToken = async (deps: MachineSignInDependencies, event: ApiEvent): Promise<IssuedToken> => {
  const caller = callerOf(event);
  const request = readTokenRequest(event);
  const grant = GRANTS.get(request.grantType);
  if (!grant) throw unsupportedGrantType(GRANT_TYPES);
  const attempt = { kind: 'token', ipAddress: caller.ipAddress, account: request.clientId } as const;
  await deps.attempts.count(attempt, caller.receivedAtMs);
  const proof = await grant(deps, request, caller);
  event.sender = { user: proof.account.id, org_id: proof.account.organization };
  await deps.attempts.forget(attempt, caller.receivedAtMs);
  return issueSession(deps, caller, proof);
};
