import { getEventListeners, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createRawServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import type { IncomingBody } from '../../../shared/aws/exchange.ts';
import { type FakeAws, sendRaw, startFakeAws } from '../../support/emulators/fake-aws.ts';
import { eventually } from '../../support/eventually.ts';
import { aCall, callerOf, textOf } from './caller-fixtures.ts';

let aws: FakeAws;
beforeAll(async () => {
  aws = await startFakeAws();
});
afterAll(() => aws.close());

const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

const readAll = (body: IncomingBody): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    body.read(
      (part) => {
        text += part.toString();
      },
      (error) => (error ? reject(error) : resolve(text)),
    );
  });

describe('a body that is read as it arrives', () => {
  test.each([
    ['with its head', [`${HEAD}3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n`]],
    ['after its head', [HEAD, '3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n']],
    ['in two parts', [`${HEAD}3\r\none\r\n3\r`, '\ntwo\r\n0\r\n\r\n']],
  ])('has all that arrived %s, also if it is read late, and frees its connection then', async (_, parts) => {
    const sockets = new Set<Socket>();
    const server = createRawServer((socket) => {
      sockets.add(socket.setNoDelay());
      socket.on('data', () => parts.forEach((part, at) => void setTimeout(() => socket.write(part), at)));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const caller = callerOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    for (let i = 0; i < 3; i++) {
      const body = await caller.open(aCall);
      for (let turn = 0; turn < i * 20; turn++) await new Promise(setImmediate);
      expect(await readAll(body)).toBe('onetwo');
    }
    expect(sockets.size).toBe(1);
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  test('keeps its connection until it is read', async () => {
    aws.answers((response) => response.end('whole'));
    const caller = callerOf(aws.url, { maxSockets: 1 });
    const body = await caller.open(aCall);
    const order: string[] = [];
    const next = caller.call(aCall, 1, () => order.push('next'));
    order.push(await readAll(body));
    await next;
    expect([order, aws.received.length]).toEqual([['whole', 'next'], 2]);
  });

  test('breaks its connection if it is destroyed, and is over without an error', async () => {
    aws.answers((response) => sendRaw(response, `${HEAD}3\r\none\r\n`));
    const caller = callerOf(aws.url);
    const body = await caller.open(aCall);
    const [socket] = [...aws.sockets] as [Socket];
    const closed = once(socket, 'close');
    const parts: string[] = [];
    const ended = new Promise((resolve) => {
      body.read((part) => {
        parts.push(part.toString());
        body.destroy();
      }, resolve);
    });
    expect(await ended).toBeUndefined();
    await closed;
    expect(parts).toEqual(['one']);
  });

  test('is over with the error that destroys it, whether it is read before or after', async () => {
    aws.answers((response) => sendRaw(response, `${HEAD}3\r\none\r\n`));
    const caller = callerOf(aws.url);
    const late = await caller.open(aCall);
    late.destroy(new Error('Too late.'));
    await expect(readAll(late)).rejects.toThrow('Too late.');
    const body = await caller.open(aCall);
    const read = readAll(body);
    body.destroy(new Error('Too slow.'));
    await expect(read).rejects.toThrow('Too slow.');
    expect(aws.sockets.size).toBe(2);
  });

  test('stops reading while it is paused', async () => {
    const part = 'x'.repeat(64 * 1024);
    const SENT_AT_MOST = 64 * 1024 * 1024;
    const pausedAgainAt = SENT_AT_MOST / 4;
    let sent = 0;
    aws.answers((response) => {
      response.flushHeaders();
      const send = (): void => {
        while (sent < SENT_AT_MOST) {
          sent += part.length;
          if (!response.write(part)) return void response.once('drain', send);
        }
        response.end();
      };
      send();
    });
    const body = await callerOf(aws.url).open(aCall);
    let read = 0;
    let pauses = 0;
    const ended = new Promise<void>((resolve) => {
      body.read(
        (bytes) => {
          read += bytes.length;
          // At once, and again when it has been read for a while.
          if (read !== bytes.length && !(read > pausedAgainAt && read - bytes.length <= pausedAgainAt)) return;
          pauses++;
          body.pause();
        },
        () => resolve(),
      );
    });
    const [socket] = [...aws.sockets] as [Socket];
    for (const [i, atLeast] of [0, pausedAgainAt].entries()) {
      await eventually(async () => pauses > i, 'it is paused');
      // The buffers of both sides are full when the sender has waited for several turns.
      for (let last = -1; sent < SENT_AT_MOST && (last !== sent || socket.writableLength === 0); ) {
        last = sent;
        for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
      }
      expect(sent).toBeLessThan(SENT_AT_MOST);
      expect(read).toBeLessThan(sent);
      expect(read).toBeGreaterThan(atLeast);
      body.resume();
    }
    await ended;
    expect(read).toBe(SENT_AT_MOST);
  });

  test('fails if its call is aborted, and leaves no listener', async () => {
    aws.answers((response) => sendRaw(response, `${HEAD}3\r\none\r\n`));
    const abort = new AbortController();
    const body = await callerOf(aws.url).open({ ...aCall, signal: abort.signal });
    const read = readAll(body);
    abort.abort();
    await expect(read).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });
});

describe('a call', () => {
  test('leaves no listener at its signal, and is not sent if it is aborted before', async () => {
    aws.answers((response, attempt) => (attempt === 2 ? response.destroy() : response.end('{}')));
    const caller = callerOf(aws.url);
    const abort = new AbortController();
    for (let i = 0; i < 2; i++) await caller.call({ ...aCall, signal: abort.signal }, 1, textOf).catch(() => undefined);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    abort.abort(new Error('Not needed.'));
    await expect(caller.call({ ...aCall, signal: abort.signal }, 1, textOf)).rejects.toThrow('Not needed.');
    expect(aws.received).toHaveLength(2);
  });

  test('is forgotten if it is aborted while it waits for a connection', async () => {
    const replies: (() => void)[] = [];
    aws.answers((response) => replies.push(() => response.end('{}')));
    const caller = callerOf(aws.url, { maxSockets: 1 });
    const first = caller.call(aCall, 1, textOf);
    const abort = new AbortController();
    const waiting = caller.call({ ...aCall, signal: abort.signal }, 1, textOf);
    const last = caller.call(aCall, 1, textOf);
    abort.abort(new Error('Not needed.'));
    await expect(waiting).rejects.toThrow('Not needed.');
    for (const call of [first, last]) {
      while (replies.length === 0) await new Promise(setImmediate);
      replies.shift()?.();
      expect(await call).toBe('{}');
    }
    expect(aws.received).toHaveLength(2);
  });

  test.each([
    ['a path', { path: '/a b' }],
    ['a path', { path: '/a\r\nx: y' }],
    ['a header', { headers: [['x-a', '1\r\nx-b: 2']] as const }],
    ['a header', { headers: Object.freeze([['x-a', 'é'] as const]) }],
  ])('is not sent with %s that HTTP does not allow', async (_, fields) => {
    aws.answers((response) => response.end('{}'));
    await expect(callerOf(aws.url).call({ ...aCall, ...fields }, 3, textOf)).rejects.toBeInstanceOf(TypeError);
    expect(aws.received).toHaveLength(0);
  });

  test('does not reuse a connection whose reply came before the end of its request', async () => {
    const sockets = new Set<Socket>();
    const server: Server = createServer((request, response) => {
      sockets.add(request.socket);
      // Nothing of a large request is read.
      if (request.url === '/large') request.pause();
      response.end('{}');
    });
    const caller = callerOf(await listen(server, 0));
    const large = { ...aCall, path: '/large', body: Buffer.alloc(32 * 1024 * 1024) };
    expect(await caller.call(large, 1, textOf)).toBe('{}');
    expect(await caller.call(aCall, 1, textOf)).toBe('{}');
    expect(sockets.size).toBe(2);
    server.closeAllConnections();
    await closeServer(server);
  });
});
