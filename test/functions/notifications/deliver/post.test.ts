import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createPost } from '../../../../functions/notifications/deliver/post.ts';
import { createNetworks } from '../../../../shared/network/networks.ts';
import { createResolveHost, type ResolveHost } from '../../../../shared/network/resolve-host.ts';
import { startDns } from '../../../support/emulators/dns-server.ts';
import { receiverCertificate } from '../../../support/emulators/receiver-certificate.ts';

const message = { headers: { 'webhook-id': 'evt_1', 'content-type': 'application/cloudevents+json' }, body: '{"a":"ä"}' };

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const listening = (server: Server | TcpServer, host: string, port = 0): Promise<number> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((done) => server.close(done));
    });
  });
};

const receiver = async ({
  host = '127.0.0.1',
  port,
  answer = (_, response) => response.end(),
  isTls = false,
}: {
  host?: string;
  port?: number;
  answer?: RequestListener;
  isTls?: boolean;
} = {}) => {
  const received: { headers: Record<string, unknown>; path: string; body: string }[] = [];
  const connections: string[] = [];
  const listener: RequestListener = async (request, response) => {
    received.push({ headers: request.headers, path: request.url ?? '', body: (await buffer(request)).toString() });
    answer(request, response);
  };
  const server = isTls ? createTlsServer(receiverCertificate, listener) : createServer(listener);
  server.on('connection', ({ remoteAddress }) => connections.push(String(remoteAddress)));
  return { received, connections, port: await listening(server, host, port) };
};

// `networks` are those that the deployer exempts.
const poster = (
  addresses: readonly string[] | ResolveHost = [],
  { exempt = '127.0.0.1/32', totalMs, ca }: { exempt?: string; totalMs?: number; ca?: string } = {},
) =>
  createPost({
    networks: createNetworks(exempt),
    resolveHost: typeof addresses === 'function' ? addresses : async () => [...addresses],
    random: () => 0,
    ca,
    ...(totalMs !== undefined && { totalMs }),
  });

// A busy machine needs some time until the head of a response has arrived.
const HEAD_MS = 2_000;

const at = (port: number): string => `http://receiver.test:${port}/hook?a=b`;
const LOCAL = ['127.0.0.1'];

describe('createPost', () => {
  test('sends a message unchanged, on a new connection', async () => {
    const { port, received, connections } = await receiver({ answer: (_, response) => response.writeHead(204).end() });
    const post = poster(LOCAL);
    for (let i = 0; i < 2; i++) expect(await post(at(port), message)).toEqual({ status: 204, error: null });
    expect(connections).toHaveLength(2);
    expect(received[0]).toMatchObject({ path: '/hook?a=b', body: message.body });
    expect(received[0]?.headers).toMatchObject({
      ...message.headers,
      host: `receiver.test:${port}`,
      'content-length': '10',
      connection: 'close',
    });
  });

  test('sends over TLS with the name of the host, and checks its certificate', async () => {
    const { port, received } = await receiver({ isTls: true });
    const { cert } = receiverCertificate;
    expect(await poster(LOCAL, { ca: cert })(`https://receiver.test:${port}/`, message)).toEqual({ status: 200, error: null });
    expect(received[0]?.headers.host).toBe(`receiver.test:${port}`);
    expect(await poster(LOCAL, { ca: cert })(`https://other.test:${port}/`, message)).toEqual({ status: null, error: 'tls_failed' });
    expect(await poster(LOCAL)(`https://receiver.test:${port}/`, message)).toEqual({ status: null, error: 'tls_failed' });
    expect(received).toHaveLength(1);
  });

  test('connects to the receiver, even if the environment names proxies', async () => {
    const proxy = await receiver();
    const { port, received } = await receiver();
    const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'all_proxy', 'NODE_USE_ENV_PROXY'];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${proxy.port}`;
    try {
      await poster(LOCAL)(at(port), message);
    } finally {
      names.forEach((name, i) => {
        if (before[i] === undefined) delete process.env[name];
        else process.env[name] = before[i];
      });
    }
    expect([proxy.connections.length, received.length]).toEqual([0, 1]);
  });
});

describe('createPost, for a receiver', () => {
  test('does not follow redirects', async () => {
    const target = await receiver();
    const answer: RequestListener = (_, response) => response.writeHead(307, { location: at(target.port) }).end();
    const { port } = await receiver({ answer });
    expect(await poster(LOCAL)(at(port), message)).toEqual({ status: 307, error: null });
    expect(target.connections).toEqual([]);
  });

  test('gives up if there is no reply', async () => {
    const { port } = await receiver({ answer: () => undefined });
    expect(await poster(LOCAL, { totalMs: 200 })(at(port), message)).toEqual({ status: null, error: 'timed_out' });
  });

  test('gives up if the headers arrive byte by byte', async () => {
    const server = createTcpServer((socket) => {
      const timer = setInterval(() => socket.write('x'), 5);
      socket.write('HTTP/1.1 200 OK\r\nx: ');
      for (const event of ['close', 'error']) socket.on(event, () => clearInterval(timer));
    });
    const port = await listening(server, '127.0.0.1');
    expect(await poster(LOCAL, { totalMs: 200 })(at(port), message)).toEqual({ status: null, error: 'timed_out' });
  });

  test.each([
    ['never ends', false],
    ['is endless', true],
  ])('whose response %s has answered', async (_, isLarge) => {
    let sent = 0;
    const { port } = await receiver({
      answer: (_request, response) => {
        response.writeHead(200);
        const more = (): void => {
          sent += 16_384;
          if (!response.destroyed && response.write(Buffer.alloc(16_384))) setImmediate(more);
        };
        if (isLarge) {
          response.on('drain', more);
          more();
        } else response.write('beginning');
      },
    });
    expect(await poster(LOCAL, { totalMs: isLarge ? 10_000 : HEAD_MS })(at(port), message)).toEqual({ status: 200, error: null });
    // Sockets buffer more than is read.
    expect(sent).toBeLessThan(20 * 1024 * 1024);
  });

  test('fails if it is down, closes the connection or does not speak HTTP', async () => {
    const closed = createTcpServer((socket) => socket.destroy());
    const other = createTcpServer((socket) => socket.end('220 mail.example.com ESMTP\r\n'));
    const post = poster(LOCAL);
    for (const server of [closed, other])
      expect(await post(at(await listening(server, '127.0.0.1')), message)).toEqual({ status: null, error: 'connection_failed' });
    // Nothing listens at the port of a connection's other end, and no process can begin to.
    const silent = createTcpServer(() => undefined);
    const client = connect(await listening(silent, '127.0.0.1'), '127.0.0.1');
    closing.push(() => client.destroy());
    await once(client, 'connect');
    expect(await post(at(client.localPort as number), message)).toEqual({ status: null, error: 'connection_failed' });
  });
});

describe('createPost, for an address', () => {
  test('refuses one that is not allowed, even beside others, and connects to none', async () => {
    const { port, connections } = await receiver({ host: '127.0.0.2' });
    for (const addresses of [['127.0.0.2'], ['127.0.0.1', '127.0.0.2'], ['127.0.0.1', '::ffff:127.0.0.2'], ['8.8.8.8', 'fd00:ec2::254']])
      expect(await poster(addresses)(at(port), message)).toEqual({ status: null, error: 'address_refused' });
    expect(connections).toEqual([]);
  });

  test('sends nothing to a public one without TLS', async () => {
    expect(await poster(['8.8.8.8'])('http://receiver.test/', message)).toEqual({ status: null, error: 'url_refused' });
    expect(await poster(['127.0.0.1', '8.8.8.8'])('http://receiver.test/', message)).toEqual({ status: null, error: 'url_refused' });
  });

  test('checks URLs with a tab or an empty user name, which earlier releases accepted', async () => {
    for (const url of ['https://rece\tiver.test/', 'https://@receiver.test/'])
      expect(await poster(['10.0.0.1'])(url, message)).toEqual({ status: null, error: 'address_refused' });
  });

  test.each([
    'https://[::1]/',
    'https://2852039166/',
    'ftp://127.0.0.1/',
    'https://u:p@receiver.test/',
    'not a url',
    'https://receiver.test:25/',
  ])('is not even looked up for %s', async (url) => {
    let lookups = 0;
    const post = poster(async () => {
      lookups++;
      return [];
    });
    expect(await post(url, message)).toEqual({ status: null, error: 'url_refused' });
    expect(lookups).toBe(0);
  });

  test('connects to the checked one if DNS then replies with another (DNS rebinding)', async () => {
    const first = await receiver();
    const second = await receiver({ host: '127.0.0.2', port: first.port });
    let lookups = 0;
    const dns = await startDns(() => [lookups++ < 2 ? '127.0.0.1' : '127.0.0.2']);
    closing.push(dns.close);
    const post = poster(createResolveHost([dns.server]));
    expect(await post(at(first.port), message)).toEqual({ status: 200, error: null });
    // One question for IPv4, one for IPv6, and none when the connection was made.
    expect(dns.asked).toEqual(['receiver.test', 'receiver.test']);
    expect(await post(at(first.port), message)).toEqual({ status: null, error: 'address_refused' });
    expect([first.connections.length, second.connections.length]).toEqual([1, 0]);
  });
});

describe('createPost, for a name', () => {
  const zone: Record<string, string[]> = {
    'metadata.test': ['169.254.169.254'],
    'loopback.test': ['127.0.0.1'],
    'private.test': ['8.8.8.8', '192.168.0.1'],
    'v6.test': ['fd00:ec2::254'],
    'mixed.test': ['8.8.8.8', '::1'],
    'mapped.test': ['::ffff:a00:1'],
    'empty.test': [],
  };

  test.each([
    ...['metadata.test', 'loopback.test', 'private.test', 'v6.test', 'mixed.test', 'mapped.test', 'METADATA.test', 'metadata.test.'],
    ...['localhost', 'localhost.', 'a.LOCALHOST'],
  ])('%s with an address that is not public is refused', async (name) => {
    const dns = await startDns((asked) => zone[asked.toLowerCase()]);
    closing.push(dns.close);
    const post = poster(createResolveHost([dns.server]), { exempt: '' });
    expect(await post(`https://${name}/`, message)).toEqual({ status: null, error: 'address_refused' });
  });

  test.each(['empty.test', 'unknown.test'])('%s without an address has failed', async (name) => {
    const dns = await startDns((asked) => zone[asked]);
    closing.push(dns.close);
    expect(await poster(createResolveHost([dns.server]))(`https://${name}/`, message)).toEqual({ status: null, error: 'dns_failed' });
  });

  test('gives up if its DNS server does not reply', async () => {
    const { createSocket } = await import('node:dgram');
    const silent = createSocket('udp4').bind(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    closing.push(() => silent.close());
    const post = poster(createResolveHost([`127.0.0.1:${silent.address().port}`]), { totalMs: 100 });
    expect(await post('https://receiver.test/', message)).toEqual({ status: null, error: 'timed_out' });
  });
});
