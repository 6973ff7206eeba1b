import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { parsePrelude } from './parse-reply.ts';
import { createPreludeSplitter } from './prelude-splitter.ts';
import { replyHeaders } from './reply-headers.ts';
import type { RequestIds } from './request-ids.ts';

interface StreamReplyEvents {
  /** The function sent something. */
  progressed(): void;
  /** The function ended or died before its prelude was whole. */
  failed(): void;
}

/**
 * Passes a streamed answer on as it comes: the prelude becomes the head, then each chunk is written at once, no faster than the caller reads.
 * A function that dies after its prelude ends the caller's connection, so that the body is seen to be incomplete.
 * What comes after the caller has gone is read and thrown away, since the function goes on.
 */
export const streamReply = (source: Readable, response: ServerResponse, ids: RequestIds, events: StreamReplyEvents): void => {
  const split = createPreludeSplitter();
  let begun = false;
  let discarding = false;

  const discard = (): void => {
    discarding = true;
    source.resume();
  };
  const fail = (): void => {
    if (discarding) return;
    discard();
    if (begun) response.destroy();
    else events.failed();
  };
  const begin = (chunk: Buffer): Buffer | undefined => {
    const result = split(chunk);
    if (result === 'incomplete') return undefined;
    const head = result === 'too_long' ? undefined : parsePrelude(result.prelude);
    if (result === 'too_long' || !head) {
      fail();
      return undefined;
    }
    begun = true;
    response.writeHead(head.statusCode, replyHeaders(head, ids));
    if (result.rest.length === 0) response.flushHeaders();
    return result.rest;
  };

  response.once('close', discard);
  response.on('drain', () => source.resume());
  source.on('data', (chunk: Buffer) => {
    const answeredOtherwise = !begun && response.headersSent;
    if (discarding || answeredOtherwise) return;
    events.progressed();
    const bytes = begun ? chunk : begin(chunk);
    if (bytes && bytes.length > 0 && !response.write(bytes)) source.pause();
  });
  source.once('end', () => {
    if (begun && !discarding) response.end();
    else fail();
  });
  source.once('error', fail);
};
