import { challengeOf } from './pkce.ts';

interface AuthorizationRequest {
  /** From the issuer's discovery document. */
  endpoint: string;
  clientId: string;
  redirectUri: string;
  scopes: readonly string[];
  /** The connection asks for one of these. */
  requiredAcr: readonly string[];
  state: string;
  nonce: string;
  codeVerifier: string;
}

/**
 * The URL at which a user signs in with their identity provider: the code flow of OpenID Connect with PKCE. Parameters
 * of the endpoint itself stay, unless they would replace one of these.
 */
export const authorizationUrl = (request: AuthorizationRequest): string => {
  const url = new URL(request.endpoint);
  const parameters = {
    response_type: 'code',
    response_mode: 'query',
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    scope: [...new Set(['openid', ...request.scopes])].join(' '),
    state: request.state,
    nonce: request.nonce,
    code_challenge: challengeOf(request.codeVerifier),
    code_challenge_method: 'S256',
    ...(request.requiredAcr.length > 0 && { acr_values: request.requiredAcr.join(' ') }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
};
