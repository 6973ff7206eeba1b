import * as z from 'zod';
import type { IssuerMetadata } from '../../shared/federation/discovery.ts';
import type { GuardedRequest } from '../../shared/network/guarded-request.ts';
import type { IdentityProvider } from '../../shared/single-sign-on/identity-provider.ts';
import { LoginFailed } from './login-fault.ts';

const HTTP_OK = 200;

const TokenReply = z.object({ id_token: z.string().min(1) });

interface CodeExchange {
  provider: Pick<IdentityProvider, 'client_id'>;
  /** undefined: a public client. */
  clientSecret: string | undefined;
  metadata: Pick<IssuerMetadata, 'token_endpoint' | 'token_endpoint_auth_methods_supported'>;
  code: string;
  codeVerifier: string;
  redirectUri: string;
}

// RFC 6749, section 2.3.1: id and secret are form-encoded before they are joined.
const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`;

/** The request to the token endpoint: RFC 6749, section 4.1.3. Basic credentials are the default of OpenID Connect. */
export const tokenRequest = ({ provider, clientSecret, metadata, code, codeVerifier, redirectUri }: CodeExchange) => {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const isPosted = !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
    ...((clientSecret === undefined || isPosted) && { client_id: provider.client_id }),
    ...(clientSecret !== undefined && isPosted && { client_secret: clientSecret }),
  });
  return {
    method: 'POST' as const,
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(clientSecret !== undefined && !isPosted && { authorization: basic(provider.client_id, clientSecret) }),
    },
    body: body.toString(),
  };
};

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
};

/** Exchanges a code for an ID token. @throws LoginFailed */
export const exchangeCode = async (request: GuardedRequest, exchange: CodeExchange): Promise<string> => {
  const { token_endpoint } = exchange.metadata;
  if (token_endpoint === undefined) throw new LoginFailed('provider_unreachable', 'token_endpoint_missing');
  const reply = await request(token_endpoint, tokenRequest(exchange));
  if (reply.error !== null) throw new LoginFailed('provider_unreachable', reply.error);
  if (reply.status !== HTTP_OK) throw new LoginFailed('code_refused', `status_${reply.status}`);
  const parsed = TokenReply.safeParse(reply.isComplete ? parse(reply.body) : undefined);
  if (!parsed.success) throw new LoginFailed('code_refused', 'id_token_missing');
  return parsed.data.id_token;
};
