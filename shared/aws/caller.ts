import type { ClientRequest, IncomingMessage } from 'node:http';
import { createConnections } from './connections.ts';
import { type AwsCredentials, environmentCredentials } from './credentials.ts';
import { endpointOf, type Service, services } from './endpoint.ts';
import { type AwsError, CallTimeout, DamagedReply, isClockError, isConnectionError, readAwsError } from './errors.ts';
import { withRetries } from './retries.ts';
import { createSigner } from './signer.ts';

// In a bundle, a name that is imported from a module of Node is a getter.
const { crc32 } = process.getBuiltinModule('node:zlib');

/** A call of an AWS API. */
export interface AwsCall {
  /** Defaults to POST. */
  method?: 'POST' | 'PUT';
  /** URI-encoded. */
  path: string;
  /** Lower-case names; `host`, the date and the credentials' headers are added. A frozen list is signed faster. */
  headers: readonly (readonly [name: string, value: string])[];
  body: string | Buffer;
  signal?: AbortSignal | undefined;
}

export interface AwsReply {
  /** Node makes an object of the headers when they are first read. */
  head: Pick<IncomingMessage, 'headers'>;
  body: Buffer;
}

export interface CallerOptions {
  service: Service;
  /** Defaults to the environment's region. */
  region?: string | undefined;
  endpoint?: string | undefined;
  credentials?: AwsCredentials | undefined;
  /** The most time until a connection is open. */
  connectMs: number;
  /** The most time without a byte of the reply. */
  silenceMs: number;
  maxReplyBytes: number;
  maxSockets: number;
}

/** Calls one AWS service over kept connections. */
export interface AwsCaller {
  /**
   * Makes a call and reads its whole reply. For idempotent calls if `attempts` > 1: a connection that breaks, a
   * timeout, a server error and a throttle are tried again, after a random wait.
   * @param attempts includes the first one
   * @param read converts the reply; what it throws counts as a part of the attempt
   * @throws AwsError for an error of AWS; CallTimeout or DamagedReply if no complete reply arrived; a network error
   * if none began
   */
  call<Result>(call: AwsCall, attempts: number, read: (reply: AwsReply) => Result): Promise<Result>;
  /**
   * Makes a call once and resolves with the head of its reply, whose body must be read or destroyed. Throws as `call`
   * does.
   */
  open(call: AwsCall): Promise<IncomingMessage>;
}

// AWS accepts clocks that are wrong by five minutes; a rejected signature whose time is right has another fault.
const MIN_CLOCK_ERROR_MS = 60_000;
const FIRST_ERROR_STATUS = 400;

/** Used instead of the AWS SDK where CPU and start-up time count; docs/decisions/0023 says why. */
export const createCaller = (options: CallerOptions): AwsCaller => {
  const { service, credentials, silenceMs, maxReplyBytes, region = process.env.AWS_REGION ?? '' } = options;
  const { protocol, hostname, port, host } = new URL(options.endpoint ?? endpointOf(service, region));
  // Unlike an import, this loads only the one of the two that is needed.
  const { Agent, request } = process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
  const agent = createConnections(Agent, { host, connectMs: options.connectMs, maxSockets: options.maxSockets });
  const named = new WeakMap<AwsCall['headers'], Named>();
  const withHost = (headers: AwsCall['headers']): Named => {
    const known = named.get(headers);
    if (known) return known;
    const list: AwsCall['headers'] = [['host', host], ...headers];
    const made = { list, flat: list.flat() };
    if (Object.isFrozen(headers)) {
      Object.freeze(list);
      named.set(headers, made);
    }
    return made;
  };
  const sign = createSigner({ service: services[service].signingName, region });
  /** The lead of AWS's clock over ours, once a signature was rejected because of it. */
  let clockOffsetMs = 0;

  /**
   * Sends a call once. @param isWhole whether to read the body of a success, too; the body of a failure is always
   * read
   */
  const send = ({ method = 'POST', path, headers, body, signal }: AwsCall, isWhole: boolean): Promise<Received> => {
    const { list, flat } = withHost(headers);
    const signed = sign({ method, path, headers: list, body }, credentials ?? environmentCredentials(), Date.now() + clockOffsetMs);
    return new Promise((resolve, reject) => {
      const outgoing = request({
        host: hostname,
        port,
        method,
        path,
        agent,
        headers: [...flat, ...signed, 'content-length', String(Buffer.byteLength(body))],
      });
      if (signal) abortWith(signal, outgoing);
      const silence = setTimeout(() => outgoing.destroy(new CallTimeout(`No data for ${silenceMs} ms.`)), silenceMs);
      let earlierBytes = 0;
      outgoing.on('socket', ({ bytesRead }) => {
        earlierBytes = bytesRead;
      });
      const fail = (error: Error): void => {
        clearTimeout(silence);
        const hasReply = (outgoing.socket?.bytesRead ?? 0) > earlierBytes;
        reject(hasReply ? withinReply(error) : error);
      };
      outgoing.on('error', fail);
      outgoing.on('response', (reply) => {
        if (!isWhole && isSuccess(reply)) {
          clearTimeout(silence);
          resolve({ reply, body: NOTHING });
          return;
        }
        const parts: Buffer[] = [];
        let bytes = 0;
        silence.refresh();
        reply.on('error', fail);
        reply.on('data', (part: Buffer) => {
          silence.refresh();
          parts.push(part);
          bytes += part.length;
          if (bytes > maxReplyBytes) reply.destroy(new DamagedReply(`The reply has more than ${maxReplyBytes} bytes.`));
        });
        reply.on('end', () => {
          clearTimeout(silence);
          const whole = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
          const checksum = checksumOf(reply);
          if (checksum === undefined || Number(checksum) === crc32(whole)) resolve({ reply, body: whole });
          else reject(new DamagedReply('The checksum of a reply is wrong.'));
        });
      });
      outgoing.end(body);
    });
  };

  /**
   * One attempt. A signature that was rejected because of our clock is corrected and sent once more: AWS has done
   * nothing.
   */
  const attempt = async (call: AwsCall, isWhole: boolean): Promise<Received> => {
    for (let isCorrected = false; ; isCorrected = true) {
      const signedOffsetMs = clockOffsetMs;
      const received = await send(call, isWhole);
      const { reply, body } = received;
      if (isSuccess(reply)) return received;
      const { statusCode = 0, headers } = reply;
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
    open: async (call) => (await attempt(call, false)).reply,
    call: (call, attempts, read) =>
      withRetries(attempts, call.signal, async () => {
        const { reply, body } = await attempt(call, true);
        return read({ head: reply, body });
      }),
  };
};

interface Named {
  list: AwsCall['headers'];
  flat: string[];
}

interface Received {
  reply: IncomingMessage;
  body: Buffer;
}

const NOTHING = Buffer.alloc(0);

// DynamoDB sends it with errors, too.
const CHECKSUM = 'x-amz-crc32';

// Read from the raw list, so that Node doesn't make an object of all headers.
const checksumOf = ({ rawHeaders }: IncomingMessage): string | undefined => {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === CHECKSUM.length && name.toLowerCase() === CHECKSUM) return rawHeaders[at + 1];
  }
  return undefined;
};

const isSuccess = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;

// AWS received a call whose reply had begun, so its connection must not look like one that broke before.
const withinReply = (error: Error): Error =>
  isConnectionError(error) && !(error instanceof CallTimeout) ? new DamagedReply(`A reply broke off: ${error.message}`) : error;

// The `signal` of Node's own options costs several times as much.
const abortWith = (signal: AbortSignal, outgoing: ClientRequest): void => {
  const abort = (): void => void outgoing.destroy(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  outgoing.on('close', () => signal.removeEventListener('abort', abort));
};
