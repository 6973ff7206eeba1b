import { createConnections } from './connections.ts';
import { type AwsCredentials, environmentCredentials } from './credentials.ts';
import { endpointOf, type Service, services } from './endpoint.ts';
import { type AwsError, DamagedReply, isClockError, readAwsError } from './errors.ts';
import { type ExchangeBounds, exchange, type IncomingBody, type Received } from './exchange.ts';
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

export type AwsReply = Pick<Received, 'head' | 'body'>;

export interface CallerOptions extends ExchangeBounds {
  service: Service;
  /** Defaults to the environment's region. */
  region?: string | undefined;
  endpoint?: string | undefined;
  credentials?: AwsCredentials | undefined;
  /** The most time until a connection is open. */
  connectMs: number;
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
   * Makes a call once and resolves when the head of its reply has arrived. The body must be read or destroyed. Throws
   * as `call` does.
   */
  open(call: AwsCall): Promise<IncomingBody>;
}

// AWS accepts clocks that are wrong by five minutes; a rejected signature whose time is right has another fault.
const MIN_CLOCK_ERROR_MS = 60_000;
const FIRST_ERROR_STATUS = 400;

/** Used instead of the AWS SDK where CPU and start-up time count; docs/decisions/0023 says why. */
export const createCaller = (options: CallerOptions): AwsCaller => {
  const { service, credentials, region = process.env.AWS_REGION ?? '' } = options;
  const url = new URL(options.endpoint ?? endpointOf(service, region));
  const { host } = url;
  const connections = createConnections({ url, connectMs: options.connectMs, maxSockets: options.maxSockets });
  const named = new WeakMap<AwsCall['headers'], Named>();
  const withHost = (headers: AwsCall['headers']): Named => {
    const known = named.get(headers);
    if (known) return known;
    const list: AwsCall['headers'] = [['host', host], ...headers];
    const made = { list, lines: list.map(([name, value]) => headerLine(name, value)).join('') };
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
  const send = async ({ method = 'POST', path, headers, body, signal }: AwsCall, isWhole: boolean): Promise<Received> => {
    const { list, lines } = withHost(headers);
    const signed = sign({ method, path, headers: list, body }, credentials ?? environmentCredentials(), Date.now() + clockOffsetMs);
    if (!PATH.test(path)) throw new TypeError('The path of a call is not URI-encoded.');
    let head = `${method} ${path} HTTP/1.1\r\n${lines}`;
    for (let at = 0; at < signed.length; at += 2) head += headerLine(signed[at] as string, signed[at + 1] as string);
    head += `content-length: ${Buffer.byteLength(body)}\r\n`;
    const received = await exchange(connections, { head, body, signal }, options, (status) => !isWhole && isSuccess(status));
    if (received.stream) return received;
    const checksum = received.head.header(CHECKSUM);
    if (checksum !== undefined && Number(checksum) !== crc32(received.body)) throw new DamagedReply('The checksum of a reply is wrong.');
    return received;
  };

  /**
   * One attempt. A signature that was rejected because of our clock is corrected and sent once more: AWS has done
   * nothing.
   */
  const attempt = async (call: AwsCall, isWhole: boolean): Promise<Received> => {
    for (let isCorrected = false; ; isCorrected = true) {
      const signedOffsetMs = clockOffsetMs;
      const received = await send(call, isWhole);
      const { head, body } = received;
      if (isSuccess(head.status)) return received;
      if (head.status < FIRST_ERROR_STATUS) throw new DamagedReply(`AWS has no reply with status ${head.status}.`);
      const error = readAwsError(head.status, head.header('x-amzn-errortype'), body.toString());
      if (isCorrected || !correctClock(error, head.header('date'), signedOffsetMs)) throw error;
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
    open: async (call) => (await attempt(call, false)).stream as IncomingBody,
    call: (call, attempts, read) => withRetries(attempts, call.signal, async () => read(await attempt(call, true))),
  };
};

interface Named {
  list: AwsCall['headers'];
  /** As they are sent. */
  lines: string;
}

// DynamoDB sends it with errors, too.
const CHECKSUM = 'x-amz-crc32';

// A line break would begin a header of the caller's choice.
const PATH = /^[\x21-\x7e]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

const headerLine = (name: string, value: string): string => {
  if (!HEADER_VALUE.test(value)) throw new TypeError(`The header ${name} of a call has a character that no header may have.`);
  return `${name}: ${value}\r\n`;
};

const isSuccess = (status: number): boolean => status >= 200 && status < 300;
