import { Writable } from 'node:stream';
import { describe, expect, jest, test } from '@jest/globals';
import { replyBody } from '../../../../functions/inference/pipeline/reply-body.ts';
import { openReply } from '../../../support/emulators/open-reply.ts';

const nothing = async (): Promise<void> => undefined;

const collect = (writes: string[]): Writable =>
  new Writable({
    decodeStrings: false,
    write(chunk: Buffer | string, _encoding, callback) {
      writes.push(chunk.toString());
      callback();
    },
  });

describe('a streamed reply', () => {
  test('writes each event at once and then ends', async () => {
    const writes: string[] = [];
    const ended = jest.fn(nothing);
    const events = async function* () {
      yield 'data: 1\n\n';
      yield 'data: 2\n\n';
    };
    const caller = collect(writes);
    await replyBody(events(), () => undefined, ended).writeTo(caller);
    expect(writes).toEqual(['data: 1\n\n', 'data: 2\n\n']);
    expect(caller.writableFinished).toBe(true);
    expect(ended).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['comments', [], ': keep-alive\n\n'],
    ['events of the route', ['event: ping\ndata: {}\n\n'], 'event: ping\ndata: {}\n\n'],
  ])('sends %s between whole events while the source is idle', async (_, keepAlive, sent) => {
    jest.useFakeTimers();
    try {
      const writes: string[] = [];
      let go: () => void = () => undefined;
      const events = async function* () {
        yield 'data: 1\n\n';
        await new Promise<void>((resolve) => {
          go = resolve;
        });
        yield 'data: 2\n\n';
      };
      const done = replyBody(events(), () => undefined, nothing, ...keepAlive).writeTo(collect(writes));
      await jest.advanceTimersByTimeAsync(14_999);
      expect(writes).toEqual(['data: 1\n\n']);
      await jest.advanceTimersByTimeAsync(20_001);
      go();
      await done;
      expect(writes).toEqual(['data: 1\n\n', sent, sent, 'data: 2\n\n']);
    } finally {
      jest.useRealTimers();
    }
  });

  test('does not pull from the source while the caller does not read, and goes on when it does', async () => {
    const total = 1_000;
    let produced = 0;
    const events = async function* () {
      for (; produced < total; produced++) yield `data: ${'x'.repeat(1_000)}\n\n`;
    };
    const { stream, done } = openReply(replyBody(events(), () => undefined, nothing));
    await new Promise((resolve) => setImmediate(resolve));
    expect(produced).toBeLessThan(200);
    const parts: Buffer[] = await stream.toArray();
    await done;
    expect(Buffer.concat(parts).toString().split('\n\n')).toHaveLength(total + 1);
  });

  test('reports at once that the caller has disconnected, ends the source and awaits the end', async () => {
    const order: string[] = [];
    const events = async function* () {
      try {
        yield 'data: 1\n\n';
        await new Promise((resolve) => stream.once('close', resolve));
        yield 'data: 2\n\n';
        yield 'data: 3\n\n';
      } finally {
        order.push('source');
      }
    };
    const body = replyBody(
      events(),
      () => order.push('closed'),
      async () => void order.push('end'),
    );
    const { stream, done } = openReply(body);
    await stream[Symbol.asyncIterator]().next();
    stream.destroy();
    await done;
    expect(order).toEqual(['closed', 'source', 'end']);
  });

  test.each(['before it is written', 'while it is not read'])('is settled if it is closed %s', async (when) => {
    const ended = jest.fn(nothing);
    const closed = jest.fn();
    const body = replyBody(
      (async function* () {
        for (;;) yield 'x'.repeat(10_000);
      })(),
      closed,
      ended,
    );
    const caller = new Writable({ write: () => undefined });
    if (when === 'before it is written') await new Promise((resolve) => caller.destroy().once('close', resolve));
    const done = body.writeTo(caller);
    body.destroy();
    await done;
    expect([closed.mock.calls.length, ended.mock.calls.length]).toEqual([1, 1]);
  });

  test('is broken off if its source fails, and the failure is thrown', async () => {
    const ended = jest.fn(nothing);
    const events = async function* () {
      yield 'data: 1\n\n';
      throw new Error('a bug');
    };
    const caller = collect([]);
    await expect(replyBody(events(), () => undefined, ended).writeTo(caller)).rejects.toThrow('a bug');
    expect([caller.destroyed, caller.writableFinished, ended.mock.calls.length]).toEqual([true, false, 1]);
  });
});
