import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { OAuth2Server } from 'oauth2-mock-server';
import { createFederation } from '../../../shared/federation/federation.ts';
import { createFetchDocument, DOCUMENT_MS } from '../../../shared/federation/fetch-document.ts';
import { createGuardedRequest } from '../../../shared/network/guarded-request.ts';
import { createNetworks } from '../../../shared/network/networks.ts';
import { createResolveHost } from '../../../shared/network/resolve-host.ts';
import { FORBIDDEN_ADDRESSES } from '../../support/forbidden-addresses.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const LOOPBACK = '127.0.0.0/8,::1/128';
const fetcher = ({
  exempt = LOOPBACK,
  addresses,
  totalMs = DOCUMENT_MS,
}: {
  exempt?: string;
  addresses?: string[];
  totalMs?: number;
} = {}) =>
  createFetchDocument(
    createGuardedRequest({
      networks: createNetworks(exempt),
      resolveHost: addresses ? async () => addresses : createResolveHost(),
      random: () => 0,
      totalMs,
    }),
  );

const listening = async (listener: RequestListener): Promise<string> => {
  const server: Server = createServer(listener).listen(0, '127.0.0.1');
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

const urlOf = (address: string): string => `https://${address.includes(':') ? `[${address}]` : address}/`;

describe('fetchDocument', () => {
  test('verifies a token with the documents of a real issuer', async () => {
    const server = new OAuth2Server();
    await server.issuer.keys.generate('RS256');
    await server.start(0, 'localhost');
    closing.push(() => server.stop());
    const issuer = String(server.issuer.url);
    const token = await server.issuer.buildToken({
      scopesOrTransform: (_, payload) => Object.assign(payload, { sub: 'repo:a/b', aud: 'us' }),
    });
    const { verifyIdentityToken } = createFederation(LOOPBACK, Date.now);
    expect(await verifyIdentityToken(token, { issuer, audience: 'us', isIdToken: false })).toMatchObject({ iss: issuer, sub: 'repo:a/b' });
  });

  test.each<[string, RequestListener, string, number?]>([
    ['that is an error', (_, response) => response.writeHead(500).end('{}'), 'bad_status'],
    ['that is a redirect', (_, response) => response.writeHead(302, { location: '/b' }).end('{}'), 'bad_status'],
    ['that is not JSON', (_, response) => response.end('<html>'), 'not_json'],
    ['larger than 64 kB', (_, response) => response.end(JSON.stringify('a'.repeat(65_536))), 'body_too_long_or_cut'],
    ['that is never sent', () => undefined, 'timed_out', 200],
    // So long that its beginning arrives before, on a busy machine too.
    ['that never ends', (_, response) => response.write('{'), 'body_too_long_or_cut', 2_000],
  ])('rejects a document %s', async (_, listener, fault, totalMs = DOCUMENT_MS) => {
    await expect(fetcher({ totalMs })(await listening(listener))).rejects.toMatchObject({ fault });
  });

  test.each(FORBIDDEN_ADDRESSES)('refuses an address that is %s (%s), and a name that leads to it', async (_, address) => {
    if (isIP(address) !== 0) await expect(fetcher({ exempt: '' })(urlOf(address))).rejects.toMatchObject({ fault: 'url_refused' });
    for (const addresses of [[address], ['8.8.8.8', address]])
      await expect(fetcher({ exempt: '', addresses })('https://issuer.test/')).rejects.toMatchObject({ fault: 'address_refused' });
  });

  test('refuses http outside the exempt networks', async () => {
    for (const exempt of ['', LOOPBACK])
      await expect(fetcher({ exempt, addresses: ['8.8.8.8'] })('http://issuer.test/')).rejects.toMatchObject({ fault: 'url_refused' });
  });
});
