import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DamagedReply } from '../../../shared/aws/errors.ts';
import { type Answer, type FakeAws, sendRaw, startFakeAws } from '../../support/emulators/fake-aws.ts';
import { aCall, callerOf, SHORT_MS, textOf } from './caller-fixtures.ts';

let aws: FakeAws;
beforeAll(async () => {
  aws = await startFakeAws();
});
afterAll(() => aws.close());

describe('a call', () => {
  test('returns the head and the body of the reply', async () => {
    aws.answers((response) => response.writeHead(201, { 'x-amz-note': 'n' }).end('é'));
    const reply = await callerOf(aws.url).call(aCall, 1, ({ head, body }) => [head.header('x-amz-note'), body.toString()]);
    expect(reply).toEqual(['n', 'é']);
    expect(aws.received).toMatchObject([{ method: 'POST', path: '/', body: '{"é":1}', headers: { 'content-type': 'application/json' } }]);
  });

  test('reuses the connection of the call before it, also after an error of AWS', async () => {
    aws.answers((response, attempt) => response.writeHead(attempt === 2 ? 400 : 200).end('{}'));
    const caller = callerOf(aws.url);
    for (let i = 0; i < 5; i++) await caller.call(aCall, 1, textOf).catch(() => undefined);
    expect([aws.received.length, aws.sockets.size]).toEqual([5, 1]);
  });

  test('opens no more connections than its bound', async () => {
    aws.answers((response) => response.end('{}'));
    const caller = callerOf(aws.url, { maxSockets: 2 });
    await Promise.all(Array.from({ length: 20 }, () => caller.call(aCall, 1, textOf)));
    expect([aws.received.length, aws.sockets.size]).toEqual([20, 2]);
  });
});

describe('a call that is broken off', () => {
  const failureOf = (answer: Answer, options = {}): Promise<Error> => {
    aws.answers(answer);
    return callerOf(aws.url, options)
      .call(aCall, 1, textOf)
      .then(
        (text) => new Error(`No failure: ${text}`),
        (error: Error) => error,
      );
  };

  test('ends if no reply begins in time', async () => {
    expect(await failureOf(() => undefined, { silenceMs: SHORT_MS })).toMatchObject({ name: 'TimeoutError' });
  });

  test('ends if no connection is free in time', async () => {
    const abort = new AbortController();
    // A reply that goes on keeps the only connection.
    aws.answers((response) => {
      const more = setInterval(() => response.write('x'), SHORT_MS / 10);
      response.once('close', () => clearInterval(more));
    });
    const caller = callerOf(aws.url, { silenceMs: SHORT_MS, maxSockets: 1, maxReplyBytes: 1_000_000 });
    const first = caller.call({ ...aCall, signal: abort.signal }, 1, textOf);
    await expect(caller.call(aCall, 1, textOf)).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(aws.received).toHaveLength(1);
    abort.abort();
    await expect(first).rejects.toThrow();
  });

  test('ends if no connection opens in time', async () => {
    // A server that accepts nothing. The system takes a few connections for it, and then no more.
    const server = new Worker(
      `const server = require('node:net').createServer().listen(0, '127.0.0.1', 1, () => {
         require('node:worker_threads').parentPort.postMessage(server.address().port);
         setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
       });`,
      { eval: true },
    );
    const [port] = (await once(server, 'message')) as [number];
    const waiting: Socket[] = Array.from({ length: 10 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    // Some of them are open as soon as they can be.
    await once(waiting[0] as Socket, 'connect');
    const call = callerOf(`http://127.0.0.1:${port}`, { connectMs: SHORT_MS }).call(aCall, 1, textOf);
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError', message: `No connection within ${SHORT_MS} ms.` });
    for (const socket of waiting) socket.destroy();
    await server.terminate();
  });

  describe('of a process that is held up for longer', () => {
    const holdUp = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);

    test('reads the reply that arrived meanwhile', async () => {
      aws.answers((response) => {
        sendRaw(response, 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
        holdUp();
      });
      expect(await callerOf(aws.url, { silenceMs: 1_000 }).call(aCall, 1, textOf)).toBe('{}');
    });

    test('uses the connection that was opened meanwhile', async () => {
      aws.answers((response) => response.end('{}'));
      // After this, Node runs timers next.
      await new Promise(setImmediate);
      const call = callerOf(aws.url, { connectMs: 1_000 }).call(aCall, 1, textOf);
      // It begins to connect.
      for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => process.nextTick(resolve));
      holdUp();
      expect(await call).toBe('{}');
    });
  });

  test.each([200, 500])('ends if the body of a %d stops in the middle', async (status) => {
    const answer: Answer = (response) => response.writeHead(status, { 'content-length': 100 }).write('{');
    expect(await failureOf(answer, { silenceMs: SHORT_MS })).toMatchObject({ name: 'TimeoutError' });
  });

  test.each([
    ['with a length', { 'content-length': 1_001 }],
    ['without a length', {}],
  ])('ends if its reply %s is larger than its bound', async (_, headers) => {
    expect(await failureOf((response) => response.writeHead(200, headers).end('x'.repeat(1_001)))).toBeInstanceOf(DamagedReply);
    expect(await failureOf((response) => response.writeHead(200, headers).end('x'.repeat(1_001)))).toMatchObject({
      message: 'The reply has more than 1000 bytes.',
    });
    expect(await failureOf((response) => response.end('x'.repeat(1_000)))).toMatchObject({
      message: expect.stringContaining('No failure'),
    });
  });

  test('ends if the body of an error is larger than 1 MB', async () => {
    expect(await failureOf((response) => response.writeHead(400).end('x'.repeat(1024 * 1024 + 1)))).toBeInstanceOf(DamagedReply);
  });
});

describe('a connection that breaks', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const cases: [string, Answer][] = [
    ['before the reply', (response) => response.destroy()],
    ['within the head of the reply', (response) => response.socket?.end('HTTP/1.1 200 OK\r\nconte')],
    ['within the body', (response) => response.writeHead(200, { 'content-length': 100 }).write('{', () => response.destroy())],
    ['at the end of the head', (response) => response.socket?.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n')],
    ['within the body of an error', (response) => response.socket?.end('HTTP/1.1 500 No\r\ncontent-length: 100\r\n\r\n{')],
    ['by a reply that is not HTTP', (response) => sendRaw(response, 'SSH-2.0-x\r\n\r\n')],
    ['by a part that is not HTTP and arrives with the head', (response) => sendRaw(response, `${HEAD}2\r\n{}\r\nzz\r\n\r\n`)],
    [
      'by a part that is not HTTP and arrives later',
      (response) => {
        sendRaw(response, HEAD);
        setImmediate(sendRaw, response, 'zz\r\n');
      },
    ],
  ];

  test.each(cases)('fails the call %s, and a retry succeeds over another connection', async (_, answer) => {
    aws.answers(answer);
    // One sentence, however many parts noticed it.
    await expect(callerOf(aws.url).call(aCall, 1, textOf)).rejects.toThrow(/^(?!.*broke off.*(?:broke off|not HTTP))/);
    aws.answers((response, attempt, request) => (attempt === 1 ? answer(response, attempt, request) : response.end('well')));
    expect(await callerOf(aws.url).call(aCall, 2, textOf)).toBe('well');
    expect(aws.sockets.size).toBe(2);
  });

  test('costs one attempt if the server closed it while it was idle', async () => {
    const caller = callerOf(aws.url);
    aws.answers((response) => response.writeHead(200, { connection: 'keep-alive' }).end('one', () => response.socket?.destroySoon()));
    expect(await caller.call(aCall, 1, textOf)).toBe('one');
    aws.answers((response) => response.end('two'));
    expect(await caller.call(aCall, 2, textOf)).toBe('two');
    expect(aws.received).toHaveLength(1);
  });
});
