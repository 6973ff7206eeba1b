import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

const CLIENT = { id: 'sluice', secret: 'a-secret-of-the-client' };

/** A real OpenID provider with one client. Everyone signs in with the name of their account and any password. */
export interface OpenIdProvider {
  issuer: string;
  client: typeof CLIENT;
  /** The groups of the accounts, whose names are their email addresses. */
  groups: Map<string, readonly string[]>;
  close: () => Promise<void>;
}

/** Starts an OpenID provider without TLS on this machine. @param redirectUri of its client */
export const startOpenIdProvider = async (redirectUri: string): Promise<OpenIdProvider> => {
  const groups = new Map<string, readonly string[]>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
    cookies: { keys: ['a-key-of-the-cookies'] },
    claims: { email: ['email', 'email_verified'], groups: ['groups'], openid: ['sub'] },
    // Otherwise, only the endpoint `userinfo` has them.
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, email_verified: true, groups: [...(groups.get(id) ?? [])] }),
    }),
  });
  server.on('request', provider.callback());
  return {
    issuer,
    client: CLIENT,
    groups,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
