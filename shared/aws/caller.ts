import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { type Credentials, environmentCredentials } from './credentials.ts';
import { endpointOf, type Service, services } from './endpoint.ts';
import {
  type AwsError,
  CallTimeout,
  DamagedReply,
  isClockError,
  isConnectionError,
  isServerError,
  isThrottle,
  readAwsError,
} from './errors.ts';
import { createSigner } from './signer.ts';

/** A call of an AWS API. */
export interface Call {
  /** URI-encoded. */
  path: string;
  /** Lower-case names; `host`, the date and the credentials' headers are added. */
  headers: readonly (readonly [name: string, value: string])[];
  body: string;
  signal?: AbortSignal | undefined;
}

export interface Reply {
  headers: IncomingMessage['headers'];
  body: Buffer;
}

export interface CallerOptions {
  service: Service;
  /** Defaults to the environment's region. */
  region?: string | undefined;
  endpoint?: string | undefined;
  credentials?: Credentials | undefined;
  /** The most time until a connection is open, until the head of the reply has arrived, and between two parts of its body. */
  connectMs: number;
  headMs: number;
  idleMs: number;
  maxReplyBytes: number;
  maxSockets: number;
}

/** Calls one AWS service over kept connections. */
export interface Caller {
  /**
   * Makes a call and reads its whole reply. For idempotent calls if `attempts` > 1: a connection that breaks, a timeout, a server error and a
   * throttle are tried again, after a random wait.
   * @param attempts includes the first one
   * @param read converts the reply; what it throws counts as a part of the attempt
   * @throws AwsError for an error of AWS; CallTimeout or DamagedReply if no complete reply arrived; a network error if none began
   */
  call<Result>(call: Call, attempts: number, read: (reply: Reply) => Result): Promise<Result>;
  /** Makes a call once and resolves with the head of its reply, whose body must be read or destroyed. Throws as `call` does. */
  open(call: Call): Promise<IncomingMessage>;
}

/** As the SDK: the wait before the second attempt is random, up to this; up to twice this before the third. Throttles wait longer. */
const BACKOFF_MS = 100;
const THROTTLE_BACKOFF_MS = 500;
/** AWS accepts clocks that are wrong by five minutes; a rejected signature whose time is right has another fault. */
const MIN_CLOCK_ERROR_MS = 60_000;
const MAX_ERROR_BYTES = 1024 * 1024;
const FIRST_ERROR_STATUS = 400;

/** Used instead of the AWS SDK where CPU and start-up time count; docs/decisions/0023 says why. */
export const createCaller = (options: CallerOptions): Caller => {
  const { service, credentials, maxReplyBytes, maxSockets, region = process.env.AWS_REGION ?? '' } = options;
  const { protocol, hostname, port, host } = new URL(options.endpoint ?? endpointOf(service, region));
  const isTls = protocol === 'https:';
  // Unlike an import, this does not load the lazy exports of node:http, which add 25 ms to a cold start.
  const { Agent, request } = process.getBuiltinModule(isTls ? 'node:https' : 'node:http');
  const agent = new Agent({ keepAlive: true, maxSockets });
  const sign = createSigner({ service: services[service].signingName, region });
  /** How far AWS's clock is ahead of ours, once a signature was rejected because of it. */
  let clockOffsetMs = 0;

  const send = ({ path, headers, body, signal }: Call): Promise<IncomingMessage> => {
    const named = [['host', host], ...headers] as const;
    const signed = sign(
      { method: 'POST', path, headers: named, body },
      credentials ?? environmentCredentials(),
      Date.now() + clockOffsetMs,
    );
    return new Promise((resolve, reject) => {
      const outgoing = request({
        host: hostname,
        port,
        method: 'POST',
        path,
        agent,
        headers: [...named.flat(), ...signed, 'content-length', String(Buffer.byteLength(body))],
        ...(signal && { signal }),
      });
      limitWaits(outgoing, options);
      let hasReply = false;
      outgoing.once('socket', (socket) =>
        socket.once('data', () => {
          hasReply = true;
        }),
      );
      outgoing.once('response', resolve);
      outgoing.once('error', (error) => reject(hasReply ? withinReply(error) : error));
      outgoing.end(body);
    });
  };

  /** One attempt. A signature that was rejected because of our clock is corrected and sent once more: AWS has done nothing. */
  const open = async (call: Call): Promise<IncomingMessage> => {
    for (let isCorrected = false; ; isCorrected = true) {
      const signedOffsetMs = clockOffsetMs;
      const reply = await send(call);
      const { statusCode = 0, headers } = reply;
      if (statusCode >= 200 && statusCode < 300) return reply;
      const body = await readReply(reply, MAX_ERROR_BYTES, options.idleMs);
      if (statusCode < FIRST_ERROR_STATUS) throw new DamagedReply(`AWS has no reply with status ${statusCode}.`);
      const error = readAwsError(statusCode, headers['x-amzn-errortype']?.toString(), body.toString());
      if (isCorrected || !correctClock(error, headers.date, signedOffsetMs)) throw error;
    }
  };

  /** @param signedOffsetMs the offset of the rejected signature; another call can have corrected the clock since */
  const correctClock = (error: AwsError, date: string | undefined, signedOffsetMs: number): boolean => {
    const offsetMs = Date.parse(date ?? '') - Date.now();
    // A missing date is not a number, and corrects nothing.
    if (!isClockError(error) || !(Math.abs(offsetMs - signedOffsetMs) > MIN_CLOCK_ERROR_MS)) return false;
    clockOffsetMs = offsetMs;
    return true;
  };

  return {
    open,
    call: async (call, attempts, read) => {
      for (let attempt = 1; ; attempt++) {
        try {
          const reply = await open(call);
          return read({ headers: reply.headers, body: await readReply(reply, maxReplyBytes, options.idleMs) });
        } catch (error) {
          const isWorthRetrying = isConnectionError(error) || isServerError(error) || isThrottle(error);
          if (attempt >= attempts || !isWorthRetrying || call.signal?.aborted) throw error;
          await delay((isThrottle(error) ? THROTTLE_BACKOFF_MS : BACKOFF_MS) * 2 ** (attempt - 1) * Math.random());
        }
      }
    },
  };
};

/** Breaks off a request that gets no connection or no reply in time. */
const limitWaits = (outgoing: ClientRequest, { connectMs, headMs }: CallerOptions): void => {
  const head = setTimeout(() => outgoing.destroy(new CallTimeout(`No reply within ${headMs} ms.`)), headMs);
  const stop = (): void => clearTimeout(head);
  outgoing.once('response', stop);
  outgoing.once('close', stop);
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return;
    const connect = setTimeout(() => outgoing.destroy(new CallTimeout(`No connection within ${connectMs} ms.`)), connectMs);
    const stop = (): void => clearTimeout(connect);
    socket.once('connect', stop);
    outgoing.once('close', stop);
  });
};

/** AWS received a call whose reply had begun, so its connection must not look like one that broke before. */
const withinReply = (error: Error): Error =>
  isConnectionError(error) && !(error instanceof CallTimeout) ? new DamagedReply(`A reply broke off: ${error.message}`) : error;

/** DynamoDB's checksum of a body, also of an error's. */
const CHECKSUM = 'x-amz-crc32';

/** Reads a whole body. @throws DamagedReply if it breaks off, is too large or has another checksum, CallTimeout after a silence */
const readReply = (reply: IncomingMessage, maxBytes: number, idleMs: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const idle = setTimeout(() => reply.destroy(new CallTimeout(`A reply stopped for ${idleMs} ms.`)), idleMs);
    reply.on('data', (part: Buffer) => {
      idle.refresh();
      bytes += part.length;
      if (bytes > maxBytes) reply.destroy(new DamagedReply(`A reply has more than ${maxBytes} bytes.`));
      else parts.push(part);
    });
    reply.once('error', (error) => reject(withinReply(error)));
    reply.once('close', () => clearTimeout(idle));
    reply.once('end', () => {
      const body = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      const { [CHECKSUM]: checksum } = reply.headers;
      if (checksum === undefined || Number(checksum) === crc32(body)) resolve(body);
      else reject(new DamagedReply('The checksum of a reply is wrong.'));
    });
  });
