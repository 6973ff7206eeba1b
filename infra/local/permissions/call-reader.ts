import type { IncomingHttpHeaders } from 'node:http';

/** A request as it arrived: its parts, and its bytes for whoever passes it on. */
export interface ReadCall {
  method: string;
  /** Path and query. */
  target: string;
  /** By lower-case name. Repeated ones are joined. */
  headers: IncomingHttpHeaders;
  /** Without the encoding of its transfer. */
  body: Buffer;
  /** All bytes, without the header `expect`. */
  bytes: Buffer;
}

interface Head {
  method: string;
  target: string;
  headers: Record<string, string>;
  /** With the empty line at its end. */
  bytes: Buffer;
}

/** Why a request cannot be read. */
export class UnreadableCall extends Error {}

const HEAD_END = '\r\n\r\n';
const LINE_END = '\r\n';
const MAX_HEAD_BYTES = 65_536;
// The line with the size of a chunk.
const MAX_SIZE_LINE_BYTES = 1_000;
const NOTHING = Buffer.alloc(0);

const parseHead = (bytes: Buffer): Head => {
  const [requestLine = '', ...lines] = bytes.toString('latin1', 0, bytes.length - HEAD_END.length).split(LINE_END);
  const [method, target] = requestLine.split(' ');
  if (!method || !target) throw new UnreadableCall(`not a request: ${requestLine.slice(0, 100)}`);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { method, target, headers, bytes };
};

interface Body {
  body: Buffer;
  /** How long it is with the encoding of its transfer. */
  length: number;
}

// Undefined if it is not complete (https://www.rfc-editor.org/rfc/rfc9112#section-7.1). Nobody sends trailers.
const readChunked = (bytes: Buffer, maxBytes: number): Body | undefined => {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf(LINE_END, at);
    if (lineEnd < 0 && bytes.length - at < MAX_SIZE_LINE_BYTES) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (!(size >= 0)) throw new UnreadableCall('a chunk has no size');
    const from = lineEnd + LINE_END.length;
    at = from + size + LINE_END.length;
    if (at > maxBytes) throw new UnreadableCall('the body is too long');
    if (bytes.length < at) return undefined;
    if (size === 0) return { body: Buffer.concat(parts), length: at };
    parts.push(bytes.subarray(from, from + size));
  }
};

const withoutExpect = (head: Buffer): Buffer => Buffer.from(head.toString('latin1').replace(/\r\nexpect:[^\r]*/i, ''), 'latin1');

/**
 * Reads the requests of one HTTP/1.1 connection, for less than a server of Node's takes when they are passed on as they
 * are.
 * @param maxBodyBytes the most that a body may have, with the encoding of its transfer
 * @param onExpect called when a client waits for `100 Continue` before it sends the body
 * @returns a function that takes the next bytes, and returns the requests that are now complete
 * @throws UnreadableCall if the bytes are no request, or one with too many bytes
 */
export const createCallReader = (maxBodyBytes: number, onExpect: () => void): ((chunk: Buffer) => ReadCall[]) => {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let head: Head | undefined;

  const joined = (): Buffer => {
    if (pending.length > 1) pending = [Buffer.concat(pending)];
    return pending[0] ?? NOTHING;
  };
  const take = (length: number): Buffer => {
    const bytes = joined();
    pending = bytes.length === length ? [] : [bytes.subarray(length)];
    pendingBytes -= length;
    return bytes.subarray(0, length);
  };

  const readHead = (): Head | undefined => {
    const end = joined().indexOf(HEAD_END);
    if ((end < 0 ? pendingBytes : end) > MAX_HEAD_BYTES) throw new UnreadableCall('the headers are too long');
    if (end < 0) return undefined;
    const read = parseHead(take(end + HEAD_END.length));
    if (read.headers.expect !== undefined) onExpect();
    return read;
  };

  const bodyOf = ({ headers }: Head): Body | undefined => {
    if (headers['transfer-encoding'] !== undefined) return readChunked(joined(), maxBodyBytes);
    const length = Number(headers['content-length'] ?? 0);
    if (!(length >= 0 && length <= maxBodyBytes)) throw new UnreadableCall('the length of the body is wrong');
    return pendingBytes < length ? undefined : { body: joined().subarray(0, length), length };
  };

  const next = (): ReadCall | undefined => {
    head ??= readHead();
    const read = head && bodyOf(head);
    if (!head || !read) return undefined;
    const { method, target, headers, bytes } = head;
    head = undefined;
    const sentHead = headers.expect === undefined ? bytes : withoutExpect(bytes);
    return { method, target, headers, body: read.body, bytes: Buffer.concat([sentHead, take(read.length)]) };
  };

  return (chunk) => {
    pending.push(chunk);
    pendingBytes += chunk.length;
    const calls: ReadCall[] = [];
    for (let call = next(); call; call = next()) calls.push(call);
    return calls;
  };
};
