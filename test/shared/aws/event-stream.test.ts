import { crc32 } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { EventStreamCodec, type MessageHeaders } from '@smithy/eventstream-codec';
import fc from 'fast-check';
import { errorFrame, exceptionFrame, payloadPart } from '../../../infra/local/sagemaker/frames.ts';
import { AwsError, DamagedReply } from '../../../shared/aws/errors.ts';
import { createEventStreamReader } from '../../../shared/aws/event-stream.ts';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString(),
  (text) => Buffer.from(text),
);
const frame = (headers: MessageHeaders, body: Uint8Array): Buffer => Buffer.from(codec.encode({ headers, body }));

const read = (parts: readonly Buffer[]): { payloads: string[]; error: unknown } => {
  const payloads: string[] = [];
  // A copy, because a payload is only valid until its part is reused.
  const reader = createEventStreamReader((payload) => payloads.push(payload.toString('latin1')));
  try {
    for (const part of parts) reader.push(part);
    reader.end();
    return { payloads, error: undefined };
  } catch (error) {
    return { payloads, error };
  }
};

const cutAt = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const sorted = [0, ...[...places].sort((one, other) => one - other), bytes.length];
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end));
};

describe('a stream of payload parts', () => {
  const texts = ['data: one\n\n', '', 'data: é漢\n\n', 'x'.repeat(300)];
  const stream = Buffer.concat(texts.map((text) => payloadPart(Buffer.from(text))));
  const payloads = texts.map((text) => Buffer.from(text).toString('latin1'));

  test('has the same payloads wherever it is cut once', () => {
    for (let place = 0; place <= stream.length; place++) expect([place, read(cutAt(stream, [place]))]).toEqual([place, { payloads }]);
  });

  test('has the same payloads in parts of one byte', () => {
    expect(read(Array.from(stream, (byte) => Buffer.from([byte])))).toEqual({ payloads });
  });

  test('has the same payloads in random parts, for random payloads', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
        (bodies, cuts) => {
          const bytes = Buffer.concat(bodies.map((body) => payloadPart(body)));
          const parts = cutAt(
            bytes,
            cuts.map((share) => Math.floor(share * bytes.length)),
          );
          expect(read(parts)).toEqual({ payloads: bodies.map((body) => Buffer.from(body).toString('latin1')) });
        },
      ),
      { numRuns: 500 },
    );
  });

  test('is damaged if it ends within a message', () => {
    const ends = new Set([0]);
    for (let end = 0; end < texts.length; end++)
      ends.add(Buffer.concat(texts.slice(0, end + 1).map((text) => payloadPart(Buffer.from(text)))).length);
    for (let end = 0; end < stream.length; end++) {
      const { error } = read([stream.subarray(0, end)]);
      expect([end, error instanceof DamagedReply]).toEqual([end, !ends.has(end)]);
    }
  });
});

describe('the headers of an event', () => {
  const ofEveryType: MessageHeaders = {
    yes: { type: 'boolean', value: true },
    no: { type: 'boolean', value: false },
    byte: { type: 'byte', value: -3 },
    short: { type: 'short', value: -300 },
    integer: { type: 'integer', value: -70_000 },
    long: { type: 'long', value: { bytes: new Uint8Array(8).fill(7), valueOf: () => 7 } as never },
    bytes: { type: 'binary', value: new Uint8Array([1, 2, 3]) },
    empty: { type: 'binary', value: new Uint8Array() },
    string: { type: 'string', value: 'é' },
    time: { type: 'timestamp', value: new Date(0) },
    uuid: { type: 'uuid', value: '00112233-4455-6677-8899-aabbccddeeff' },
  };
  const event: MessageHeaders = {
    ':message-type': { type: 'string', value: 'event' },
    ':event-type': { type: 'string', value: 'PayloadPart' },
  };

  test('can have every type, before and after those that say what it is', () => {
    for (const headers of [
      { ...ofEveryType, ...event },
      { ...event, ...ofEveryType },
    ])
      expect(read([frame(headers, Buffer.from('x'))])).toEqual({ payloads: ['x'] });
  });

  test('can differ from message to message', () => {
    const other: MessageHeaders = { ...event, ':event-type': { type: 'string', value: 'Heartbeat' } };
    const messages = [event, other, { ...ofEveryType, ...event }, other, event].map((headers, i) => frame(headers, Buffer.from(`${i}`)));
    // Events of types that are not known yet are skipped.
    expect(read([Buffer.concat(messages)])).toEqual({ payloads: ['0', '2', '4'] });
  });
});

describe('damage', () => {
  const before = payloadPart(Buffer.from('before'));
  const message = payloadPart(Buffer.from('data: {"a":1}\n\n'));

  test('is noticed in any bit of a message, and nothing of it or after it is returned', () => {
    for (let at = 0; at < message.length; at++)
      for (const flip of [0x01, 0x20, 0x80, 0xff]) {
        const changed = Buffer.from(message);
        changed.writeUInt8(changed.readUInt8(at) ^ flip, at);
        const { payloads, error } = read([Buffer.concat([before, changed, before])]);
        expect([at, flip, payloads, error instanceof DamagedReply]).toEqual([at, flip, ['before'], true]);
      }
  });

  test('is noticed in the lengths of a message before its end, so that no reader waits for missing bytes', () => {
    for (let at = 0; at < 12; at++) {
      const changed = Buffer.from(message.subarray(0, 12));
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => createEventStreamReader(() => undefined).push(changed)).toThrow(DamagedReply);
    }
  });

  test('ends reading: when more arrives, neither it nor earlier messages are read again', () => {
    const payloads: string[] = [];
    const reader = createEventStreamReader((payload) => payloads.push(payload.toString()));
    const changed = Buffer.from(message);
    changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
    expect(() => reader.push(Buffer.concat([before, changed]))).toThrow(DamagedReply);
    for (const part of [before, message]) expect(() => reader.push(part)).toThrow(DamagedReply);
    expect(() => reader.end()).toThrow(DamagedReply);
    expect(payloads).toEqual(['before']);
  });

  const checksum = (bytes: Buffer): Buffer => {
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(bytes));
    return sum;
  };
  /** A message whose checksums are right and whose lengths and headers may not be. */
  const messageOf = (headers: Buffer, lengths: { total?: number; headers?: number } = {}): Buffer => {
    const prelude = Buffer.alloc(8);
    prelude.writeUInt32BE(lengths.total ?? 16 + headers.length, 0);
    prelude.writeUInt32BE(lengths.headers ?? headers.length, 4);
    const start = Buffer.concat([prelude, checksum(prelude), headers]);
    return Buffer.concat([start, checksum(start)]);
  };

  test.each([
    ['a length of less than the smallest message', { total: 15 }],
    ['a length of zero', { total: 0 }],
    ['a length above the bound of the specification', { total: 24 * 1024 * 1024 + 1 }],
    ['more bytes of headers than the message has', { headers: 1 }],
    ['a length of headers that overflows', { headers: 0xff_ff_ff_ff }],
  ])('rejects %s at once', (_, lengths) => {
    expect(() => createEventStreamReader(() => undefined).push(messageOf(Buffer.alloc(0), lengths))).toThrow(DamagedReply);
  });

  test.each([
    ['of an unknown type', [1, 0x61, 10]],
    ['whose name is longer than the headers', [200, 0x61]],
    ['without a type', [1, 0x61]],
    ['whose length is cut', [1, 0x61, 7, 0]],
    ['whose value is longer than the headers', [1, 0x61, 7, 0, 9, 0x62]],
    ['whose number is cut', [1, 0x61, 4, 0, 0]],
  ])('rejects a header %s', (_, headers) => {
    expect(read([messageOf(Buffer.from(headers))])).toEqual({ payloads: [], error: expect.any(DamagedReply) });
  });
});

describe('an event stream', () => {
  const first = payloadPart(Buffer.from('first'));

  test('ends at an exception with its name and fields', () => {
    const facts = { ErrorCode: 'StreamBroken', Message: 'broken' };
    const { payloads, error } = read([Buffer.concat([first, exceptionFrame('ModelStreamError', facts), first])]);
    expect(payloads).toEqual(['first']);
    expect(error).toBeInstanceOf(AwsError);
    expect(error).toMatchObject({ name: 'ModelStreamError', status: 200, facts, message: 'broken' });
  });

  test('ends at an error with its code and message', () => {
    const { payloads, error } = read([first, errorFrame('InternalFailure', 'failed'), first]);
    expect(payloads).toEqual(['first']);
    expect(error).toMatchObject({ name: 'InternalFailure', status: 200, message: 'failed' });
  });

  test('keeps an exception whose payload is not JSON', () => {
    const headers: MessageHeaders = {
      ':message-type': { type: 'string', value: 'exception' },
      ':exception-type': { type: 'string', value: 'InternalStreamFailure' },
    };
    expect(read([frame(headers, Buffer.from('<html>'))]).error).toMatchObject({ name: 'InternalStreamFailure' });
  });

  test('fails at a message without a type', () => {
    expect(read([frame({}, Buffer.from('x'))])).toEqual({ payloads: [], error: expect.any(AwsError) });
  });
});
