import { OAuth2Server } from 'oauth2-mock-server';

/** An OpenID provider on this machine, with a discovery document and a key. */
export interface OpenIdIssuer {
  url: string;
  close: () => Promise<void>;
}

/** Starts an OpenID provider. */
export const startOpenIdIssuer = async (): Promise<OpenIdIssuer> => {
  const server = new OAuth2Server();
  await server.issuer.keys.generate('RS256');
  await server.start(0, '127.0.0.1');
  return { url: String(server.issuer.url), close: () => server.stop() };
};
