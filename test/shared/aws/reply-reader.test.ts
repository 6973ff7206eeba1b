import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DamagedReply } from '../../../shared/aws/errors.ts';
import { createReplyReader, type ReplyHead, type ReplyState } from '../../../shared/aws/reply-reader.ts';
import { sized } from '../../support/sized.ts';

interface Read {
  status: number;
  type: string | undefined;
  body: string;
  state: ReplyState;
}

// Undefined if the reply isn't complete when its connection ends.
const read = (parts: readonly Buffer[], reader = createReplyReader()): Read | undefined => {
  let head: ReplyHead | undefined;
  const body: Buffer[] = [];
  const sink = {
    onHead: (next: ReplyHead) => {
      expect(head).toBeUndefined();
      head = next;
    },
    onPart: (part: Buffer) => {
      expect(head).toBeDefined();
      expect(part.length).toBeGreaterThan(0);
      // A copy: a socket uses its memory again.
      body.push(Buffer.from(part));
    },
  };
  let state: ReplyState = 'open';
  for (const part of parts) {
    expect(state).toBe('open');
    state = reader.push(part, sink);
  }
  if (state === 'open') {
    if (!reader.isCompleteAtEnd()) return undefined;
    state = 'last';
  }
  const { status = 0 } = head ?? {};
  return { status, type: head?.header('content-type'), body: Buffer.concat(body).toString(), state };
};

const TYPE = 'Content-Type: text/x';
const whole: [string, string, Omit<Read, 'type'>][] = [
  ['a length', `200 OK\r\n${TYPE}\r\nContent-Length: 4\r\n\r\nbody`, { status: 200, body: 'body', state: 'reusable' }],
  ['a length of 0', `404 Not Found\r\n${TYPE}\r\ncontent-length:0\r\n\r\n`, { status: 404, body: '', state: 'reusable' }],
  ['no reason', `201\r\n${TYPE}\r\ncontent-length: 1\r\n\r\nb`, { status: 201, body: 'b', state: 'reusable' }],
  ['an empty header', `200 OK\r\nx-empty:\r\n${TYPE} \r\ncontent-length: 1\r\n\r\nb`, { status: 200, body: 'b', state: 'reusable' }],
  [
    'chunks',
    `200 OK\r\n${TYPE}\r\nTransfer-Encoding: Chunked\r\n\r\n4\r\nbody\r\nA\r\n 10 bytes.\r\n0\r\n\r\n`,
    { status: 200, body: 'body 10 bytes.', state: 'reusable' },
  ],
  [
    'trailers',
    `200 OK\r\n${TYPE}\r\ntransfer-encoding: chunked\r\n\r\n01\r\nb\r\n0\r\nx-sum: 1\r\n\r\n`,
    { status: 200, body: 'b', state: 'reusable' },
  ],
  [
    'line breaks in chunks',
    `200 OK\r\n${TYPE}\r\ntransfer-encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n0\r\n\r\n`,
    { status: 200, body: '\r\n\r\n', state: 'reusable' },
  ],
  ['no body', `204 No Content\r\n${TYPE}\r\n\r\n`, { status: 204, body: '', state: 'reusable' }],
  [
    'news before it',
    `100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n${TYPE}\r\ncontent-length: 1\r\n\r\nb`,
    { status: 200, body: 'b', state: 'reusable' },
  ],
  ['an end of its connection', `200 OK\r\n${TYPE}\r\n\r\nbody`, { status: 200, body: 'body', state: 'last' }],
  [
    'a connection that is to be closed',
    `200 OK\r\n${TYPE}\r\nConnection: close\r\ncontent-length: 1\r\n\r\nb`,
    { status: 200, body: 'b', state: 'last' },
  ],
];

const bytesOf = (text: string): Buffer => Buffer.from(`HTTP/1.1 ${text}`, 'latin1');

describe('a reply', () => {
  test.each(whole)('is read in the same way however it is split, with %s', (_, text, expected) => {
    const bytes = bytesOf(text);
    expect(read([bytes])).toEqual({ type: 'text/x', ...expected });
    expect(read(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual({ type: 'text/x', ...expected });
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 8 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        expect(read(at.slice(1).map((end, i) => bytes.subarray(at[i], end)))).toEqual({ type: 'text/x', ...expected });
      }),
      { numRuns: 20 },
    );
  });

  test.each(whole.filter(([, , { state }]) => state === 'reusable'))('is not complete if it is cut off, with %s', (_, text) => {
    const bytes = bytesOf(text);
    for (let end = 1; end < bytes.length; end++) expect(read([bytes.subarray(0, end)])).toBeUndefined();
  });

  test('is followed by the next one of its connection', () => {
    const reader = createReplyReader();
    for (const [, text, { state, body }] of [...whole, ...whole])
      if (state === 'reusable') expect(read([bytesOf(text)], reader)).toMatchObject({ body, state });
  });

  test('is the last one of its connection with HTTP/1.0', () => {
    expect(read([Buffer.from('HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nb')])).toMatchObject({ body: 'b', state: 'last' });
  });

  test.each(whole.filter(([, , { state }]) => state === 'reusable'))(
    'is the last one if more bytes follow it, with %s',
    (_, text, { body }) => {
      expect(read([bytesOf(`${text}H`)])).toMatchObject({ body, state: 'last' });
    },
  );

  test('returns undefined for a header that it does not have', () => {
    let head: ReplyHead | undefined;
    createReplyReader().push(bytesOf('200 OK\r\nx-a: 1\r\nX-A: 2\r\ncontent-length: 0\r\n\r\n'), {
      onHead: (next) => {
        head = next;
      },
      onPart: () => undefined,
    });
    expect([head?.header('x-a'), head?.header('1'), head?.header('x-b')]).toEqual(['1', undefined, undefined]);
  });
});

const CHUNKED = '200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const long = 'x'.repeat(16 * 1024);
const damaged: [string, string][] = [
  ['another protocol', '200 OK\r\ncontent-length: 0\r\n\r\n'.replace('200', 'SSH')],
  ['a status of four digits', '2000 OK\r\ncontent-length: 0\r\n\r\n'],
  ['a status of another protocol', '101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
  ['a header without a colon', '200 OK\r\nno-colon\r\ncontent-length: 0\r\n\r\n'],
  ['a header without a name', '200 OK\r\n: x\r\ncontent-length: 0\r\n\r\n'],
  ['a space before the colon', '200 OK\r\ncontent-length : 0\r\n\r\n'],
  ['a folded header', '200 OK\r\nx-a: 1\r\n 2\r\ncontent-length: 0\r\n\r\n'],
  ['a control character in a header', '200 OK\r\nx-a: \u0000\r\ncontent-length: 0\r\n\r\n'],
  ['a lone line feed in a header', '200 OK\r\nx-a: 1\ncontent-length: 5\r\n\r\n'],
  ['the same length twice', '200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nb'],
  ['a space in the size of a chunk', `${CHUNKED}4 ;a\r\nbody\r\n0\r\n\r\n`],
  ['two lengths', '200 OK\r\ncontent-length: 0\r\ncontent-length: 1\r\n\r\n'],
  ['a list of lengths', '200 OK\r\ncontent-length: 1, 1\r\n\r\nb'],
  ['a negative length', '200 OK\r\ncontent-length: -1\r\n\r\n'],
  ['a length with a sign', '200 OK\r\ncontent-length: +1\r\n\r\nb'],
  ['a length in hexadecimal', '200 OK\r\ncontent-length: 0x1\r\n\r\nb'],
  ['an empty length', '200 OK\r\ncontent-length:\r\n\r\n'],
  ['a length and chunks', '200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['chunks and a length', '200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n0\r\n\r\n'],
  ['an encoding that is unknown', '200 OK\r\ntransfer-encoding: gzip\r\n\r\n'],
  ['two encodings', '200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk without a size', `${CHUNKED}\r\nbody\r\n0\r\n\r\n`],
  ['a size that is no number', `${CHUNKED}4g\r\nbody\r\n0\r\n\r\n`],
  ['an extension of a chunk', `${CHUNKED}4;a=b\r\nbody\r\n0\r\n\r\n`],
  ['a negative size', `${CHUNKED}-4\r\nbody\r\n0\r\n\r\n`],
  ['a size of nine digits', `${CHUNKED}100000000\r\n`],
  ['a chunk that is longer than its size', `${CHUNKED}3\r\nbody\r\n0\r\n\r\n`],
  ['a chunk that is shorter than its size', `${CHUNKED}5\r\nbody\r\n0\r\n\r\n`],
  ['a head of more than 16 KiB', `200 OK\r\nx-a: ${long}\r\ncontent-length: 0\r\n\r\n`],
  ['a head that never ends', `200 OK\r\nx-a: ${long}`],
  ['a size of a chunk that never ends', `${CHUNKED}${long}0`],
  ['trailers of more than 16 KiB', `${CHUNKED}0\r\n${`x-a: ${'x'.repeat(1_000)}\r\n`.repeat(17)}\r\n`],
];

describe('a reply that is not HTTP', () => {
  test.each(damaged)('is damaged however it is split, because of %s', (_, text) => {
    const bytes = bytesOf(text);
    expect(() => read([bytes])).toThrow(DamagedReply);
    const step = bytes.length > 1_000 ? 999 : 1;
    const parts = Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) => bytes.subarray(i * step, (i + 1) * step));
    expect(() => read(parts)).toThrow(DamagedReply);
  });
});

describe('compared with the client of Node', () => {
  const server = createServer((socket) => {
    socket.once('data', () => socket.end(reply));
    socket.on('error', () => undefined);
  });
  let reply: Buffer = Buffer.alloc(0);
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => void server.close());

  /** Undefined if Node rejects the reply. */
  const readByNode = async (bytes: Buffer): Promise<Pick<Read, 'status' | 'body'> | undefined> => {
    reply = bytes;
    try {
      const outgoing = request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false }).end();
      // Bytes after a whole reply are an error of their own.
      outgoing.on('error', () => undefined);
      const [response] = await once(outgoing, 'response');
      return { status: response.statusCode, body: (await buffer(response)).toString() };
    } catch {
      return undefined;
    }
  };

  test.each(whole)('a reply with %s is read in the same way', async (_, text, { status, body }) => {
    expect(await readByNode(bytesOf(text))).toEqual({ status, body });
  });

  // Each byte of a reply is replaced, doubled or left out.
  test('a reply that Node rejects is never read as another one', async () => {
    const accepted: string[] = [];
    const places = fc.record({ which: fc.nat(whole.length - 1), at: fc.nat(), byte: fc.constantFrom(...'\r\n :;,0159aAx\t\u0000\u007fé') });
    await fc.assert(
      fc.asyncProperty(places, fc.constantFrom(0, 1, 2), async ({ which, at, byte }, kind) => {
        const [, text = ''] = whole[which] ?? [];
        const place = at % text.length;
        const changed = text.slice(0, place) + (kind === 0 ? byte : kind === 1 ? byte + text[place] : '') + text.slice(place + 1);
        const bytes = bytesOf(changed);
        let ours: Read | undefined;
        try {
          ours = read([bytes]);
        } catch (error) {
          expect(error).toBeInstanceOf(DamagedReply);
        }
        if (!ours) return;
        accepted.push(changed);
        const { status, body } = ours;
        expect(await readByNode(bytes)).toEqual({ status, body });
      }),
      { numRuns: sized(200, 10_000) },
    );
    expect(accepted.length).toBeGreaterThan(20);
  });
});
