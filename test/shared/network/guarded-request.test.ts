import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createGuardedRequest } from '../../../shared/network/guarded-request.ts';
import { createNetworks } from '../../../shared/network/networks.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const listening = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://issuer.test:${(server.address() as AddressInfo).port}/a?b=c`;
};

const requester = (totalMs = 5_000, exempt = '127.0.0.1/32') =>
  createGuardedRequest({ networks: createNetworks(exempt), resolveHost: async () => ['127.0.0.1'], random: () => 0, totalMs });

describe('createGuardedRequest', () => {
  test('returns the status, the headers and the body', async () => {
    const seen: unknown[] = [];
    const url = await listening((request, response) => {
      seen.push(request.method, request.url, request.headers.host, request.headers.accept, request.headers['content-length']);
      response.writeHead(201, { 'x-a': 'b' }).end('ä');
    });
    const reply = await requester()(url, { method: 'GET', headers: { accept: 'application/json' } });
    expect(reply).toMatchObject({ error: null, status: 201, headers: { 'x-a': 'b' }, body: Buffer.from('ä'), isComplete: true });
    expect(seen).toEqual(['GET', '/a?b=c', new URL(url).host, 'application/json', undefined]);
  });

  test('returns the redirect itself', async () => {
    let requests = 0;
    const url = await listening((_, response) => {
      requests++;
      response.writeHead(302, { location: '/other' }).end();
    });
    expect(await requester()(url, { method: 'GET', headers: {} })).toMatchObject({ status: 302, headers: { location: '/other' } });
    expect(requests).toBe(1);
  });

  test('returns a switch to another protocol, after which no response would come', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n';
    const url = await listening((_, response) => response.socket?.write(head));
    const reply = await requester()(url, { method: 'GET', headers: {} });
    expect(reply).toMatchObject({ error: null, status: 101, headers: { upgrade: 'other' }, isComplete: false });
  });

  test.each([
    ['too long', 65_537, true],
    ['cut off', 10, false],
  ])('says that a body is %s', async (_, bytes, isEnded) => {
    const url = await listening((_request, response) => {
      response.writeHead(200, { 'content-length': String(isEnded ? bytes : bytes + 1) });
      response.write(Buffer.alloc(bytes), () => (isEnded ? response.end() : response.destroy()));
    });
    const reply = await requester()(url, { method: 'GET', headers: {} });
    expect(reply).toMatchObject({ error: null, status: 200, isComplete: false });
  });

  test('reads a body of 64 kB', async () => {
    const url = await listening((_, response) => response.end(Buffer.alloc(65_536)));
    expect(await requester()(url, { method: 'GET', headers: {} })).toMatchObject({ isComplete: true, body: Buffer.alloc(65_536) });
  });

  test('gives up on a body that never ends', async () => {
    const url = await listening((_, response) => response.write('a'));
    // So long that the head arrives before, on a busy machine too.
    expect(await requester(2_000)(url, { method: 'GET', headers: {} })).toMatchObject({ status: 200, isComplete: false });
  });

  test('connects to no address outside the allowed networks', async () => {
    let requests = 0;
    const url = await listening((_, response) => {
      requests++;
      response.end();
    });
    expect(await requester(5_000, '10.0.0.0/8')(url, { method: 'GET', headers: {} })).toEqual({ error: 'address_refused' });
    expect(requests).toBe(0);
  });
});
