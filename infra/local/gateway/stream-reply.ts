import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { parsePrelude } from './parse-reply.ts';
import { createPreludeSplitter } from './prelude-splitter.ts';
import { replyHeaders } from './reply-headers.ts';
import type { RequestIds } from './request-ids.ts';

interface StreamReplyEvents {
  /** The function sent a chunk. */
  progressed(): void;
  /** The function ended or failed before its prelude was complete. */
  failed(): void;
}

/**
 * Forwards a streamed response: the prelude becomes the head, then each chunk is written at once, no faster than the
 * caller reads. If the function fails after its prelude, the caller's connection is closed, so that the caller
 * notices the incomplete body. After the caller disconnects, the rest is read and discarded, because the function
 * keeps running.
 */
export const streamReply = (source: Readable, response: ServerResponse, ids: RequestIds, events: StreamReplyEvents): void => {
  const split = createPreludeSplitter();
  let headSent = false;
  let discarding = false;

  const discard = (): void => {
    discarding = true;
    source.resume();
  };
  const fail = (): void => {
    if (discarding) return;
    discard();
    if (headSent) response.destroy();
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
    headSent = true;
    response.writeHead(head.statusCode, replyHeaders(head, ids));
    if (result.rest.length === 0) response.flushHeaders();
    return result.rest;
  };

  response.once('close', discard);
  response.on('drain', () => source.resume());
  source.on('data', (chunk: Buffer) => {
    const hasOtherResponse = !headSent && response.headersSent;
    if (discarding || hasOtherResponse) return;
    events.progressed();
    const bytes = headSent ? chunk : begin(chunk);
    if (bytes && bytes.length > 0 && !response.write(bytes)) source.pause();
  });
  source.once('end', () => {
    if (headSent && !discarding) response.end();
    else fail();
  });
  source.once('error', fail);
};
