import { describe, expect, jest, test } from '@jest/globals';
import { createCallReader, type ReadCall, UnreadableCall } from '../../../../infra/local/permissions/call-reader.ts';

const MAX_BODY_BYTES = 100;

const read = (text: string, cuts: readonly number[] = [], onExpect = (): void => undefined): ReadCall[] => {
  const reader = createCallReader(MAX_BODY_BYTES, onExpect);
  const bytes = Buffer.from(text);
  return [0, ...cuts].flatMap((from, index) => reader(bytes.subarray(from, cuts[index])));
};

const WITH_LENGTH = 'POST /a?b=c HTTP/1.1\r\nHost: h\r\nX-Amz-Target: T.Get\r\nContent-Length: 7\r\n\r\n{"a":1}';
const CHUNKED = 'PUT /c HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n';
const WITHOUT_BODY = 'GET /d HTTP/1.1\r\nAccept: a\r\nAccept: b\r\n\r\n';

const CALLS: [string, string, Partial<ReadCall>][] = [
  [
    'a body with a length',
    WITH_LENGTH,
    {
      method: 'POST',
      target: '/a?b=c',
      headers: { host: 'h', 'x-amz-target': 'T.Get', 'content-length': '7' },
      body: Buffer.from('{"a":1}'),
    },
  ],
  ['a body in chunks', CHUNKED, { method: 'PUT', target: '/c', body: Buffer.from('abc0123456789') }],
  ['no body', WITHOUT_BODY, { method: 'GET', target: '/d', headers: { accept: 'a, b' }, body: Buffer.alloc(0) }],
];

describe.each(CALLS)('a request with %s', (_, text, parts) => {
  test('is read, and passed on as it is', () => {
    expect(read(text)).toEqual([{ ...parts, headers: expect.objectContaining(parts.headers ?? {}), bytes: Buffer.from(text) }]);
  });

  test('is read wherever its bytes are cut', () => {
    const whole = read(text);
    for (let at = 1; at < text.length; at++) expect([at, read(text, [at])]).toEqual([at, whole]);
  });

  test('is not read before its last byte', () => {
    expect(read(text.slice(0, -1))).toEqual([]);
  });
});

test('reads several requests of one connection, also if they arrive together', () => {
  const all = CALLS.map(([, text]) => text).join('');
  const targets = ['/a?b=c', '/c', '/d'];
  expect(read(all).map(({ target }) => target)).toEqual(targets);
  expect(read(all, [WITH_LENGTH.length - 2, WITH_LENGTH.length + 5]).map(({ target }) => target)).toEqual(targets);
});

test('reports that a client waits to send its body, and removes the header that says so', () => {
  const onExpect = jest.fn();
  const text = WITH_LENGTH.replace('Host: h', 'Host: h\r\nExpect: 100-continue');
  const headLength = text.indexOf('\r\n\r\n') + 4;
  const reader = createCallReader(MAX_BODY_BYTES, onExpect);
  expect(reader(Buffer.from(text.slice(0, headLength)))).toEqual([]);
  expect(onExpect).toHaveBeenCalledTimes(1);
  expect(reader(Buffer.from(text.slice(headLength))).map(({ bytes }) => bytes.toString())).toEqual([WITH_LENGTH]);
  expect(onExpect).toHaveBeenCalledTimes(1);
});

test.each([
  ['no request', 'hello\r\n\r\n'],
  ['headers without an end', `GET / HTTP/1.1\r\na: ${'b'.repeat(70_000)}`],
  ['a body that is too long', 'POST / HTTP/1.1\r\ncontent-length: 101\r\n\r\n'],
  ['a body that is no number long', 'POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n'],
  ['chunks that are too long', `POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n70\r\n${'a'.repeat(101)}`],
  ['a chunk without a size', 'POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nx\r\n'],
])('rejects %s', (_, text) => {
  expect(() => read(text)).toThrow(UnreadableCall);
});
