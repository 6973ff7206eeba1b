import type { Socket } from 'node:net';
import type { Connections, PendingCall } from './connections.ts';
import { brokenConnection, CallTimeout, DamagedReply, isConnectionError } from './errors.ts';
import type { ReplyHead } from './reply-reader.ts';
import { startTimeout } from './timeout.ts';

/** A request as it is sent. */
export interface Outgoing {
  /** The request line and the headers, up to the empty line. */
  head: string;
  body: string | Buffer;
  signal?: AbortSignal | undefined;
}

export interface ExchangeBounds {
  /** The most time without a byte of the reply. */
  silenceMs: number;
  maxReplyBytes: number;
}

/** The body of a reply that is read as it arrives. */
export interface IncomingBody {
  /** Begins to read. `onEnd` is called once, without an error after a complete reply and after `destroy()`. */
  read(onPart: (part: Buffer) => void, onEnd: (error?: Error) => void): void;
  /** Reads no more for now. What has arrived already is still read. */
  pause(): void;
  resume(): void;
  /** Breaks the connection, unless the reply is complete. */
  destroy(error?: Error): void;
}

export interface Received {
  head: ReplyHead;
  /** Empty if the reply is read as it arrives. */
  body: Buffer;
  stream: IncomingBody | undefined;
}

const NOTHING = Buffer.alloc(0);

// AWS received a call whose reply had begun, so its connection must not look like one that broke before.
const withinReply = (error: Error): Error => {
  const isNamed = error instanceof CallTimeout || error instanceof DamagedReply;
  return isConnectionError(error) && !isNamed ? new DamagedReply(`A reply broke off: ${error.message}`) : error;
};

// Buffers what arrives before `read` is called. Frees the connection only when everything was read without an error.
const createBody = (socket: Socket, destroy: (error?: Error) => void) => {
  let early: Buffer[] | undefined;
  let take = (part: Buffer): void => {
    early ??= [];
    early.push(part);
    socket.pause();
  };
  let outcome: { error: Error | undefined } | undefined;
  let finish: ((error?: Error) => void) | undefined;
  let release: (() => void) | undefined;
  let isPaused = false;
  let isBroken = false;
  const body: IncomingBody = {
    read: (onPart, onEnd) => {
      take = onPart;
      for (const part of early ?? []) if (!isBroken) onPart(part);
      if (outcome) {
        if (!isBroken) release?.();
        return onEnd(outcome.error);
      }
      finish = onEnd;
      if (early && !isPaused) socket.resume();
      early = undefined;
    },
    pause: () => {
      if (outcome) return;
      isPaused = true;
      socket.pause();
    },
    resume: () => {
      if (outcome || !isPaused) return;
      isPaused = false;
      socket.resume();
    },
    destroy: (error) => {
      isBroken = true;
      destroy(error);
    },
  };
  return {
    body,
    push: (part: Buffer): void => {
      if (!outcome) take(part);
    },
    /** @param free frees the connection of a complete reply */
    end: (error?: Error, free?: () => void): void => {
      outcome = { error };
      release = free;
      if (!finish) return;
      free?.();
      finish(error);
    },
  };
};

/**
 * Sends a request once and reads its reply.
 * @param isStreamed whether the body of a reply with this status is read as it arrives
 * @throws CallTimeout or DamagedReply if no complete reply arrived; a network error if none began; the signal's reason
 */
export const exchange = (
  connections: Connections,
  { head, body, signal }: Outgoing,
  { silenceMs, maxReplyBytes }: ExchangeBounds,
  isStreamed: (status: number) => boolean,
): Promise<Received> =>
  new Promise((resolve, reject) => {
    let socket: Socket | undefined;
    let received: ReplyHead | undefined;
    let stream: ReturnType<typeof createBody> | undefined;
    let parts: Buffer[] | undefined;
    let bytes = 0;
    let isOver = false;

    const leave = (): void => {
      isOver = true;
      silence.clear();
      signal?.removeEventListener('abort', abort);
    };
    const fail = (error: Error | undefined, hasReply: boolean): void => {
      if (isOver) return;
      leave();
      if (stream) stream.end(error);
      else reject(hasReply && error ? withinReply(error) : error);
    };
    const destroy = (error?: Error): void => {
      if (isOver) return;
      fail(error, received !== undefined);
      if (socket) socket.destroy();
      else connections.forget(call);
    };
    const abort = (): void => destroy(received ? brokenConnection('aborted') : (signal?.reason as Error));
    const silence = startTimeout(silenceMs, () => destroy(new CallTimeout(`No data for ${silenceMs} ms.`)));

    const call: PendingCall = {
      begin: (own) => {
        socket = own;
        // Head and body in one write, if the body is text.
        if (typeof body === 'string') socket.write(`${head}\r\n${body}`);
        else {
          socket.cork();
          socket.write(`${head}\r\n`, 'latin1');
          socket.write(body);
          socket.uncork();
        }
      },
      onHead: (next) => {
        received = next;
        if (isOver || !isStreamed(next.status)) return void silence.refresh();
        silence.clear();
        stream = createBody(socket as Socket, destroy);
        resolve({ head: next, body: NOTHING, stream: stream.body });
      },
      onPart: (part) => {
        if (stream) return void stream.push(part);
        if (isOver) return;
        silence.refresh();
        parts ??= [];
        parts.push(part);
        bytes += part.length;
        if (bytes > maxReplyBytes) destroy(new DamagedReply(`The reply has more than ${maxReplyBytes} bytes.`));
      },
      onEnd: (release) => {
        if (isOver) return;
        const free = (): void => {
          leave();
          release();
        };
        if (stream) stream.end(undefined, free);
        else {
          free();
          const whole = parts === undefined ? NOTHING : parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, bytes);
          resolve({ head: received as ReplyHead, body: whole, stream: undefined });
        }
      },
      onError: fail,
    };

    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    connections.start(call);
  });
