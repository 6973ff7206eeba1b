import { cutText } from '../../../shared/database/cut-text.ts';
import { invalidTokenRequest, noApiKey } from '../errors.ts';
import type { TokenGrant } from '../grant.ts';
import { refuse } from '../refuse.ts';
import type { TokenRequest } from '../token-request.ts';
import { proveByToken, type TokenProof } from './prove-by-token.ts';

/** https://www.rfc-editor.org/rfc/rfc8693#section-2.1 */
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
/** The type of an API key for inference, which an exchange can request. */
export const API_KEY = 'urn:sluice:params:oauth:token-type:api_key';
// They ask for something else than an access token of the service account, with all of its rights.
const UNSUPPORTED = ['actor_token', 'actor_token_type', 'resource', 'audience', 'client_secret'];

// Those of GitHub and GitLab, which tell an owner which job it was.
const RECORDED_CLAIMS = ['repository', 'ref', 'run_id', 'workflow_ref', 'project_path', 'job_id'];
const MAX_RECORDED_CHARACTERS = 200;

const required = ({ parameters }: TokenRequest, name: string, isOf: string): string => {
  const value = parameters.get(name);
  if (value === undefined) throw invalidTokenRequest(`'${name}' is required. Set it to ${isOf}.`, name);
  return value;
};

const read = (request: TokenRequest): { token: string; ruleId: string; requested: string } => {
  const unsupported = UNSUPPORTED.find((name) => request.parameters.has(name));
  if (unsupported ?? request.clientSecret)
    throw invalidTokenRequest(`This grant takes no '${unsupported ?? 'client_secret'}'. Leave it out.`, unsupported ?? 'client_secret');
  const type = required(request, 'subject_token_type', `'${JWT}'`);
  if (type !== JWT && type !== ID_TOKEN)
    throw invalidTokenRequest(`This type of token is not supported. Set 'subject_token_type' to '${JWT}'.`, 'subject_token_type');
  const requested = request.parameters.get('requested_token_type') ?? ACCESS_TOKEN;
  if (requested !== ACCESS_TOKEN && requested !== API_KEY)
    throw invalidTokenRequest(
      `This type of token can't be requested. Leave out 'requested_token_type', or set it to '${API_KEY}'.`,
      'requested_token_type',
    );
  const ruleId = required(request, 'federation_rule', 'the id of a federation rule of the service account');
  return { token: required(request, 'subject_token', 'the token of your workload'), ruleId, requested };
};

const factsOf = ({ claims }: TokenProof): Record<string, string> => {
  const named = ['sub', ...RECORDED_CLAIMS].filter((name) => typeof claims[name] === 'string');
  return Object.fromEntries(named.map((name) => [name, cutText(String(claims[name]), MAX_RECORDED_CHARACTERS)]));
};

/** The grant `token-exchange`: a token of an issuer that matches the named rule of the service account. */
export const proveByExchange: TokenGrant = async (deps, request, caller) => {
  const { token, ruleId, requested } = read(request);
  const { account, rule } = await deps.exchange.findRule(request.clientId, ruleId);
  if (!account || !rule) return refuse(deps, caller, account, 'no_such_rule');
  const isAccountActive = account.status === 'active';
  const proof = await proveByToken(deps.exchange, { token, rule, organization: account.organization, isAccountActive }, caller);
  if (!proof) return refuse(deps, caller, account, 'token_refused');
  // Only for those whose token was accepted, which is not used up.
  if (requested === API_KEY && !rule.api_key) throw noApiKey();
  return {
    account,
    name: `rule:${rule.id}`,
    facts: factsOf(proof),
    use: async () => {
      if (!(await proof.use())) await refuse(deps, caller, account, 'token_already_used');
    },
    release: proof.release,
    noteSession: proof.noteSession,
    issuedTokenType: requested,
    ...(requested === API_KEY && { keyOfRule: rule.id }),
  };
};
