import { DamagedReply } from './errors.ts';

/** The head of a reply. */
export class ReplyHead {
  readonly status: number;
  /** Alternating names in lower case and values. */
  private readonly fields: readonly string[];

  constructor(status: number, fields: readonly string[]) {
    this.status = status;
    this.fields = fields;
  }

  /** The first header with this lower-case name. */
  header(name: string): string | undefined {
    for (let at = 0; at < this.fields.length; at += 2) if (this.fields[at] === name) return this.fields[at + 1];
    return undefined;
  }
}

/** Receives a reply: its head, then the parts of its body. */
export interface ReplySink {
  onHead(head: ReplyHead): void;
  /** @param part of the body, a view of what arrived */
  onPart(part: Buffer): void;
}

/** `open`: more is to come. The others are complete replies, after which the connection can be reused, or not. */
export type ReplyState = 'open' | 'reusable' | 'last';

// Node's own limit for a head. It also limits the line with a chunk's size, and all trailers together.
const MAX_HEAD_BYTES = 16 * 1024;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const NAME = /^[!#$%&'*+.^`|~\w-]+$/;
// Control characters would be the sign of a wrong border between two headers.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const LENGTH = /^\d{1,15}$/;
const CHUNK_SIZE = /^[\da-f]{1,8}$/i;

const FIRST_FINAL_STATUS = 200;
const SWITCHING_PROTOCOLS = 101;
const BODILESS = new Set([204, 304]);

type Place = 'head' | 'body' | 'chunk size' | 'chunk' | 'end of chunk' | 'trailers' | 'body until close';

const damaged = (what: string): DamagedReply => new DamagedReply(`A reply is not HTTP: ${what}.`);

// Tabs stay, because Node doesn't know an encoding with one.
const trimmed = (text: string, from: number, to: number): string => {
  let start = from;
  let end = to;
  while (start < end && text[start] === ' ') start += 1;
  while (end > start && text[end - 1] === ' ') end -= 1;
  return text.slice(start, end);
};

const readFields = (text: string, start: number): string[] => {
  const fields: string[] = [];
  for (let at = start; at < text.length; ) {
    const lineEnd = text.indexOf('\r\n', at);
    const end = lineEnd < 0 ? text.length : lineEnd;
    const colon = text.indexOf(':', at);
    const name = text.slice(at, colon);
    const value = trimmed(text, colon + 1, end);
    if (colon < 0 || colon > end || !NAME.test(name) || !VALUE.test(value)) throw damaged('a header is malformed');
    fields.push(name.toLowerCase(), value);
    at = end + 2;
  }
  return fields;
};

/**
 * Reads the replies of one connection (RFC 9112), whose bytes may be split anywhere. It accepts less than a browser
 * must: a reply that has two lengths, another encoding than `chunked`, or extensions of chunks is damaged.
 */
export const createReplyReader = () => {
  let place: Place = 'head';
  /** Bytes of a line, or of a head, whose end has not arrived. */
  let kept: Buffer | undefined;
  /** Bytes of the body, or of the chunk, that have not arrived. */
  let missing = 0;
  let trailerBytes = 0;
  let isLast = false;

  const readHead = (text: string, sink: ReplySink): void => {
    const lineEnd = text.indexOf('\r\n');
    const [, minor, digits] = STATUS_LINE.exec(lineEnd < 0 ? text : text.slice(0, lineEnd)) ?? [];
    const status = Number(digits);
    if (digits === undefined || status === SWITCHING_PROTOCOLS || (minor === '0' && status < FIRST_FINAL_STATUS))
      throw damaged('its status line is malformed');
    const fields = lineEnd < 0 ? [] : readFields(text, lineEnd + 2);
    // An informational response: the final one follows.
    if (status < FIRST_FINAL_STATUS) return;
    isLast = minor === '0';
    let length: string | undefined;
    let encoding: string | undefined;
    for (let at = 0; at < fields.length; at += 2) {
      const value = fields[at + 1] as string;
      if (fields[at] === 'content-length') {
        if (!LENGTH.test(value) || length !== undefined) throw damaged('its length is not one number');
        length = value;
      } else if (fields[at] === 'transfer-encoding') {
        if (encoding !== undefined || value.toLowerCase() !== 'chunked') throw damaged('its encoding is unknown');
        encoding = value;
      } else if (fields[at] === 'connection') isLast ||= value.toLowerCase() === 'close';
    }
    if (length !== undefined && encoding !== undefined) throw damaged('it has a length and an encoding');
    missing = Number(length ?? 0);
    if (BODILESS.has(status)) missing = 0;
    else if (encoding !== undefined) place = 'chunk size';
    else if (length === undefined) place = 'body until close';
    if (place === 'head') place = 'body';
    sink.onHead(new ReplyHead(status, fields));
  };

  const readChunkSize = (line: string): void => {
    if (!CHUNK_SIZE.test(line)) throw damaged('the size of a chunk is malformed');
    missing = Number.parseInt(line, 16);
    trailerBytes = 0;
    place = missing === 0 ? 'trailers' : 'chunk';
  };

  /** Passes on the bytes that are here of the body or of a chunk, and returns the index after them. */
  const takePart = (bytes: Buffer, at: number, sink: ReplySink): number => {
    const end = place === 'body until close' ? bytes.length : Math.min(bytes.length, at + missing);
    missing -= end - at;
    if (end > at) sink.onPart(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    return end;
  };

  /** Returns the index of `end`. If it has not arrived, keeps the bytes for the next part. */
  const endOf = (end: '\r\n' | '\r\n\r\n', bytes: Buffer, at: number): number | undefined => {
    const found = bytes.indexOf(end, at, 'latin1');
    if ((found < 0 ? bytes.length : found) - at > MAX_HEAD_BYTES) throw damaged('a line or its head is too long');
    if (found >= 0) return found;
    kept = at < bytes.length ? Buffer.from(bytes.subarray(at)) : undefined;
    return undefined;
  };

  const complete = (rest: number): ReplyState => {
    place = 'head';
    // Bytes after a reply belong to no call.
    return isLast || rest > 0 ? 'last' : 'reusable';
  };

  return {
    /**
     * Takes a part of one reply.
     * @returns 'reusable' or 'last' if the reply is complete, and whether its connection can be used again
     * @throws DamagedReply if it is not HTTP
     */
    push: (part: Buffer, sink: ReplySink): ReplyState => {
      const bytes = kept ? Buffer.concat([kept, part]) : part;
      kept = undefined;
      let at = 0;
      for (;;) {
        if (place === 'head') {
          const end = endOf('\r\n\r\n', bytes, at);
          if (end === undefined) return 'open';
          readHead(bytes.toString('latin1', at, end), sink);
          at = end + 4;
          continue;
        }
        if (place === 'body' || place === 'body until close') {
          at = takePart(bytes, at, sink);
          return place === 'body' && missing === 0 ? complete(bytes.length - at) : 'open';
        }
        if (at >= bytes.length) return 'open';
        if (place === 'chunk') {
          at = takePart(bytes, at, sink);
          if (missing > 0) return 'open';
          place = 'end of chunk';
          continue;
        }
        const end = endOf('\r\n', bytes, at);
        if (end === undefined) return 'open';
        if (place === 'chunk size') readChunkSize(bytes.toString('latin1', at, end));
        else if (place === 'end of chunk') {
          if (end > at) throw damaged('a chunk is longer than its size');
          place = 'chunk size';
        } else if (end === at) return complete(bytes.length - end - 2);
        else {
          readFields(bytes.toString('latin1', at, end), 0);
          trailerBytes += end - at;
          if (trailerBytes > MAX_HEAD_BYTES) throw damaged('its trailers are too long');
        }
        at = end + 2;
      }
    },

    /** True if the end of the connection completes the reply. */
    isCompleteAtEnd: (): boolean => place === 'body until close',
  };
};

export type ReplyReader = ReturnType<typeof createReplyReader>;
