import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { aCall, callerOf, SHORT_MS, textOf } from './caller-fixtures.ts';
import { localhostCertificate } from './localhost-certificate.ts';

const own = getCACertificates('default');
const seen: { socket: TLSSocket; facts: unknown[] }[] = [];
const server = createHttpsServer({ ...localhostCertificate, ALPNProtocols: ['http/1.1'] }, (request, response) => {
  const socket = request.socket as TLSSocket;
  seen.push({ socket, facts: [socket.isSessionReused(), socket.alpnProtocol, socket.servername] });
  response.setHeader('connection', request.url === '/last' ? 'close' : 'keep-alive').end('{}');
});

const urlOf = (listening: Server, host = 'localhost'): string => `https://${host}:${(listening.address() as AddressInfo).port}`;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  setDefaultCACertificates(own);
  server.closeAllConnections();
  server.close();
});

describe('a call over TLS', () => {
  test('fails if no trusted authority has signed the certificate', async () => {
    const failed = callerOf(urlOf(server)).call(aCall, 1, textOf);
    await expect(failed).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(seen).toHaveLength(0);
  });

  test('resumes the session of the connection before it, and speaks HTTP/1.1', async () => {
    setDefaultCACertificates([...own, localhostCertificate.cert]);
    const caller = callerOf(urlOf(server));
    for (let i = 0; i < 3; i++) expect(await caller.call({ ...aCall, path: '/last' }, 1, textOf)).toBe('{}');
    for (let i = 0; i < 2; i++) expect(await caller.call(aCall, 1, textOf)).toBe('{}');
    expect(seen.map(({ facts }) => facts)).toEqual([false, true, true, true, true].map((isReused) => [isReused, 'http/1.1', 'localhost']));
    expect(new Set(seen.map(({ socket }) => socket)).size).toBe(4);
    // An address is no name to ask for.
    expect(await callerOf(urlOf(server, '127.0.0.1')).call(aCall, 1, textOf)).toBe('{}');
    expect(seen.at(-1)?.facts.at(-1)).toBe(false);
  });

  test('ends if the other side accepts its connection and says nothing', async () => {
    const silent = createServer();
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const accepted = once(silent, 'connection');
    const call = callerOf(urlOf(silent), { connectMs: SHORT_MS }).call(aCall, 1, textOf);
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError', message: `No connection within ${SHORT_MS} ms.` });
    const [socket] = await accepted;
    socket.destroy();
    silent.close();
  });
});
