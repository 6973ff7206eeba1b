import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
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
   * @throws AwsError for an error of AWS; CallTimeout, DamagedReply or a network error if no complete reply arrived
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
      outgoing.once('response', resolve);
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  };

  /** One attempt. A signature that was rejected because of our clock is corrected and sent once more: AWS has done nothing. */
  const open = async (call: Call): Promise<IncomingMessage> => {
    for (let isCorrected = false; ; isCorrected = true) {
      const reply = await send(call);
      const { statusCode = 0, headers } = reply;
      if (statusCode >= 200 && statusCode < 300) return reply;
      const body = await readReply(reply, MAX_ERROR_BYTES, options.idleMs);
      const error = readAwsError(statusCode, headers['x-amzn-errortype']?.toString(), body.toString());
      if (isCorrected || !correctClock(error, headers.date)) throw error;
    }
  };

  const correctClock = (error: AwsError, date: string | undefined): boolean => {
    const awsMs = Date.parse(date ?? '');
    const offsetMs = awsMs - Date.now();
    // Also false for a missing date.
    if (!isClockError(error) || !(Math.abs(offsetMs - clockOffsetMs) > MIN_CLOCK_ERROR_MS)) return false;
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

/** Reads a whole body. @throws DamagedReply if it is too large, CallTimeout after a silence, a network error if it breaks off */
export const readReply = (reply: IncomingMessage, maxBytes: number, idleMs: number): Promise<Buffer> =>
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
    reply.once('error', reject);
    reply.once('close', () => clearTimeout(idle));
    reply.once('end', () => resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)));
  });
