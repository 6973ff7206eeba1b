import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, jest, test } from '@jest/globals';
import { replyStream } from '../../../../functions/inference/pipeline/reply-stream.ts';

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
    await pipeline(
      replyStream(events(), () => undefined, ended),
      collect(writes),
    );
    expect(writes).toEqual(['data: 1\n\n', 'data: 2\n\n']);
    expect(ended).toHaveBeenCalledTimes(1);
  });

  test('sends comments between whole events while the source is idle', async () => {
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
      const done = pipeline(
        replyStream(events(), () => undefined, nothing),
        collect(writes),
      );
      await jest.advanceTimersByTimeAsync(14_999);
      expect(writes).toEqual(['data: 1\n\n']);
      await jest.advanceTimersByTimeAsync(20_001);
      go();
      await done;
      expect(writes).toEqual(['data: 1\n\n', ': keep-alive\n\n', ': keep-alive\n\n', 'data: 2\n\n']);
    } finally {
      jest.useRealTimers();
    }
  });

  test('does not pull from the source while the caller does not read', async () => {
    let produced = 0;
    const events = async function* () {
      for (; produced < 10_000; produced++) yield `data: ${'x'.repeat(1_000)}\n\n`;
    };
    const stream = replyStream(events(), () => undefined, nothing);
    stream.once('readable', () => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(produced).toBeLessThan(200);
    stream.destroy();
  });

  test('reports at once that the caller has disconnected, ends the source and awaits the end', async () => {
    const order: string[] = [];
    const events = async function* () {
      try {
        yield 'data: 1\n\n';
        yield 'data: 2\n\n';
      } finally {
        order.push('source');
      }
    };
    const stream = replyStream(
      events(),
      () => order.push('closed'),
      async () => void order.push('end'),
    );
    await stream[Symbol.asyncIterator]().next();
    await new Promise<void>((resolve) => stream.destroy().once('close', resolve));
    expect(order).toEqual(['closed', 'source', 'end']);
  });

  test('that is never read is settled, too', async () => {
    const ended = jest.fn(nothing);
    const stream = replyStream((async function* () {})(), () => undefined, ended);
    await new Promise<void>((resolve) => stream.destroy().once('close', resolve));
    expect(ended).toHaveBeenCalledTimes(1);
  });
});
