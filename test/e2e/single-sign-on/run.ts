import { shareInSuite } from '../../support/clients/suite-run.ts';
import { startWalk, type Walk } from '../../support/clients/walk-through.ts';
import { startDns } from '../../support/emulators/dns-server.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../../support/emulators/openid-provider.ts';

interface SingleSignOn {
  walk: Walk;
  /** The texts of names in the DNS that the control plane asks. */
  zone: Map<string, string[]>;
  openId: OpenIdProvider;
  close: () => Promise<void>;
}

const start = async (): Promise<SingleSignOn> => {
  const zone = new Map<string, string[]>();
  const dns = await startDns((name) => zone.get(name));
  process.env.SLUICE_DNS_SERVERS = dns.server;
  const walk = await startWalk();
  delete process.env.SLUICE_DNS_SERVERS;
  const openId = await startOpenIdProvider(`${walk.run.control_url}/v1/auth/sso/callback`);
  const close = async (): Promise<void> => {
    await walk.close();
    await Promise.all([dns.close(), openId.close()]);
  };
  return { walk, zone, openId, close };
};

/** A local run with a DNS server and an OpenID provider of its own, for all parts of the suite. */
export const singleSignOn = shareInSuite(start, ({ close }) => close());
