import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeAws, sendRaw, startFakeAws } from '../../support/emulators/fake-aws.ts';
import { aCall, callerOf, textOf } from './caller-fixtures.ts';

let aws: FakeAws;
beforeAll(async () => {
  aws = await startFakeAws();
});
afterAll(() => aws.close());

const connectionsInOrder = (): Socket[] => [...aws.sockets] as Socket[];

test('uses the same connection for one call after another, also after many calls at once', async () => {
  const used: unknown[] = [];
  aws.answers((response) => {
    used.push(response.socket);
    response.end('{}');
  });
  const caller = callerOf(aws.url);
  await Promise.all(Array.from({ length: 5 }, () => caller.call(aCall, 1, textOf)));
  expect(aws.sockets.size).toBe(5);
  for (let i = 0; i < 10; i++) await caller.call(aCall, 1, textOf);
  expect(new Set(used.slice(5)).size).toBe(1);
});

test('does not take bytes that arrive between two calls for the next reply, and drops their connection', async () => {
  aws.answers((response, attempt) => response.end(`"reply ${attempt}"`));
  const caller = callerOf(aws.url);
  expect(await caller.call(aCall, 1, textOf)).toBe('"reply 1"');
  const [first] = connectionsInOrder() as [Socket];
  first.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"another"');
  await once(first, 'close');
  expect(await caller.call(aCall, 1, textOf)).toBe('"reply 2"');
  expect(aws.sockets.size).toBe(2);
});

test('breaks the connection of a second reply that arrives with the first one, not the next call', async () => {
  const reply = (text: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
  aws.answers((response, attempt) => {
    if (attempt === 1) sendRaw(response, reply('"first"') + reply('"another"'));
    else response.end('"second"');
  });
  const caller = callerOf(aws.url);
  await caller.call(aCall, 1, textOf).catch(() => undefined);
  expect(await caller.call(aCall, 1, textOf)).toBe('"second"');
});

test.each([
  ['ends', (socket: Socket) => socket.end()],
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
])('does not use a connection again that the server %s between two calls', async (_, close) => {
  aws.answers((response) => response.end('{}'));
  const caller = callerOf(aws.url);
  // Several attempts: the end can arrive when the next call has been sent.
  for (let i = 0; i < 5; i++) {
    await caller.call(aCall, 3, textOf);
    const open = connectionsInOrder().filter((socket) => !socket.destroyed);
    expect(open).toHaveLength(1);
    for (const socket of open) {
      close(socket);
      if (!socket.destroyed) await once(socket, 'close');
    }
  }
  expect(aws.sockets.size).toBe(5);
});

test('gives waiting calls the connections of calls that end, fail or are broken off', async () => {
  aws.answers((response, attempt) => {
    if (attempt % 3 === 0) response.destroy();
    else response.end('{}');
  });
  const caller = callerOf(aws.url, { maxSockets: 2 });
  const ended = await Promise.allSettled(
    Array.from({ length: 30 }, (_, i) => {
      const late = new AbortController();
      if (i % 5 === 0) setImmediate(() => late.abort());
      return caller.call({ ...aCall, signal: late.signal }, 1, textOf);
    }),
  );
  // Six are broken off at most, and a third of those that arrive fail.
  expect(ended.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(14);
  expect(connectionsInOrder().filter((socket) => !socket.destroyed).length).toBeLessThanOrEqual(2);
  aws.answers((response) => response.end('{}'));
  expect(await caller.call(aCall, 2, textOf)).toBe('{}');
});
