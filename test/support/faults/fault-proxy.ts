import { randomUUID } from 'node:crypto';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import { createWriteLog, type LoggedWrite } from './write-log.ts';

/**
 * Faults of a call. The database did nothing: `throttled`, `conflicted` (with a transaction), `failed`, `lostRequest`.
 * The database did it, but the caller gets a 500 (`failedAfter`), no reply (`lostReply`), or the reply too late
 * (`slow`).
 */
export const FAULTS = ['throttled', 'conflicted', 'failed', 'failedAfter', 'lostRequest', 'lostReply', 'slow'] as const;
export type Fault = (typeof FAULTS)[number];
/** The share of each fault among all calls that may fail, from 0 to 1; together at most 1. */
export type FaultShares = Readonly<Record<Fault, number>>;

export interface FaultProxyOptions {
  /** Returns numbers in [0, 1); called once for each call that may fail. */
  random: () => number;
  /** The shares at the start; none unless given. */
  faults?: Partial<FaultShares>;
  /** Selects the operations, such as `UpdateItem`, that may fail; all may unless given. */
  mayFail?: (operation: string, body: Buffer) => boolean;
  /** How long a `slow` reply is held back at first. The client gives up after 3 s. */
  holdMs?: number;
  /** Tables whose writes are logged. */
  keysTable?: string;
  usageTable?: string;
  /**
   * Called before and after the database does each write that is logged. True: the connection breaks then, so that a
   * write isn't done, or its caller gets no reply.
   */
  breaksAt?: (write: LoggedWrite, when: 'before' | 'after') => boolean;
}

export interface FaultProxy {
  url: string;
  get faults(): FaultShares;
  /**
   * Sets all shares; those that are not given become 0. Throws a RangeError if one is negative or the sum exceeds 1.
   */
  set faults(shares: Partial<FaultShares>);
  /**
   * The number of calls by fault. `unknown`: the database broke the connection, so what it did is unknown; `writes`
   * is complete while this is 0.
   */
  seen: Readonly<Record<Fault | 'passed' | 'unknown', number>>;
  /**
   * Every UpdateItem of requests in flight and every PutItem of an event that the database did. Writes to one limiter
   * are in the order in which they were done.
   */
  writes: () => readonly LoggedWrite[];
  /** The requests that a limiter admitted. */
  admitted: () => ReadonlySet<string>;
  /** How long a `slow` reply is held back. */
  holdMs: number;
  /** If true, calls are rejected whose time is wrong by more than AWS accepts; false at first. */
  checksTime: boolean;
  /** Closes the connections that no call is using, as AWS does after minutes. */
  closeIdleConnections: () => void;
  close: () => Promise<void>;
}

const HOLD_MS = 4_000;
// This share of throttled calls gets the ThrottlingException of an on-demand table.
const ON_DEMAND_SHARE = 0.25;
const MAX_DATABASE_SOCKETS = 256;
const MAX_CONNECTIONS = 4_096;
const MAX_BODY_BYTES = 16 * 1_024 * 1_024;

/**
 * A proxy in front of a DynamoDB endpoint. It forwards calls, and for a share of them replies with a fault as
 * DynamoDB would.
 */
export const startFaultProxy = async (databaseUrl: string, options: FaultProxyOptions): Promise<FaultProxy> => {
  const { random, mayFail = () => true, breaksAt = () => false } = options;
  const database = new URL(databaseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_DATABASE_SOCKETS });
  const log = createWriteLog(options);
  const inOrder = createQueues();
  const seen = { ...noFaults, passed: 0, unknown: 0 };
  let faults = checkShares(options.faults ?? {});
  let holdMs = options.holdMs ?? HOLD_MS;
  let checksTime = false;

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await read(incoming);
    const operation = String(incoming.headers['x-amz-target']).split('.')[1] ?? '';
    if (checksTime && isTimeWrong(incoming)) return refuse(outgoing, ANSWERS.skewed);
    const fault = mayFail(operation, body) ? draw(faults, random()) : undefined;
    seen[fault ?? 'passed'] += 1;
    if (fault === 'lostRequest') return void outgoing.destroy();
    if (fault === 'throttled') return refuse(outgoing, random() < ON_DEMAND_SHARE ? ANSWERS.throttledOnDemand : ANSWERS.throttled);
    if (fault === 'conflicted' || fault === 'failed') return refuse(outgoing, ANSWERS[fault]);

    const writes = log.read(operation, body);
    if (writes.some((write) => breaksAt(write, 'before'))) return void outgoing.destroy();
    const answer = await forward(writes, incoming, body);
    if (answer.statusCode === 200 && writes.some((write) => breaksAt(write, 'after'))) outgoing.destroy();
    answer.once('error', () => outgoing.destroy());
    if (outgoing.destroyed) return void answer.resume();
    const deliver = (): void => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    };
    const held = fault === 'slow' ? setTimeout(deliver, holdMs) : undefined;
    // When the caller has gone, the rest is still read: that frees the connection to the database.
    outgoing.once('close', () => {
      clearTimeout(held);
      answer.resume();
    });
    if (fault === undefined) deliver();
    if (fault === 'lostReply') outgoing.destroy();
    if (fault === 'failedAfter') {
      answer.resume();
      refuse(outgoing, ANSWERS.failed);
    }
  };

  /** Sends the call to the database, even when the caller has gone meanwhile: a request that has arrived is done. */
  const forward = async (writes: LoggedWrite[], incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> => {
    try {
      const send = async (): Promise<IncomingMessage> => {
        const answer = await ask(database, agent, incoming, body);
        if (answer.statusCode === 200) log.add(writes);
        return answer;
      };
      const [first] = writes;
      return await (first && first.kind !== 'event' ? inOrder(first.limiterId, send) : send());
    } catch (error) {
      seen.unknown += 1;
      throw error;
    }
  };

  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  return {
    url: await listen(server, 0),
    get faults() {
      return faults;
    },
    set faults(shares) {
      faults = checkShares(shares);
    },
    get holdMs() {
      return holdMs;
    },
    set holdMs(ms) {
      holdMs = ms;
    },
    get checksTime() {
      return checksTime;
    },
    set checksTime(checks) {
      checksTime = checks;
    },
    seen,
    writes: log.writes,
    admitted: () => new Set(log.writes().flatMap((write) => (write.kind === 'admitted' ? [write.requestId] : []))),
    closeIdleConnections: () => server.closeIdleConnections(),
    close: async () => {
      await closeServer(server);
      agent.destroy();
    },
  };
};

const noFaults = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as FaultShares;

const checkShares = (given: Partial<FaultShares>): FaultShares => {
  const shares = { ...noFaults, ...given };
  const values = Object.values(shares);
  if (values.some((share) => !(share >= 0)) || values.reduce((sum, share) => sum + share) > 1 + Number.EPSILON * FAULTS.length)
    throw new RangeError(`The shares of faults must be at least 0 and at most 1 together: ${JSON.stringify(shares)}`);
  return shares;
};

const draw = (shares: FaultShares, drawn: number): Fault | undefined => {
  let left = drawn;
  return FAULTS.find((fault) => {
    left -= shares[fault];
    return left < 0;
  });
};

interface Answer {
  status: number;
  name: string;
  message: string;
}

// DynamoDB's own messages. An on-demand table throttles with another exception than one with provisioned throughput.
const ANSWERS = {
  throttled: {
    status: 400,
    name: 'ProvisionedThroughputExceededException',
    message:
      'The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.',
  },
  throttledOnDemand: {
    status: 400,
    name: 'ThrottlingException',
    message: 'Throughput exceeds the current capacity of your table or index.',
  },
  conflicted: { status: 400, name: 'TransactionConflictException', message: 'Transaction is ongoing for the item' },
  skewed: {
    status: 400,
    name: 'InvalidSignatureException',
    message: 'Signature expired: the time of the request is too far from the time of the service.',
  },
  failed: { status: 500, name: 'InternalServerError', message: 'Internal server error' },
} satisfies Record<string, Answer>;

const MAX_SKEW_MS = 5 * 60_000;

// A signature has its time as `20261123T170000Z`.
const isTimeWrong = ({ headers }: IncomingMessage): boolean => {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date'])) ?? [];
  return !(Math.abs(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) - Date.now()) <= MAX_SKEW_MS);
};

const refuse = (outgoing: ServerResponse, { status, name, message }: Answer): void => {
  const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message });
  outgoing.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': randomUUID() }).end(body);
};

const read = (incoming: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    incoming.on('data', (part: Buffer) => {
      size += part.length;
      if (size > MAX_BODY_BYTES) incoming.destroy(new Error(`A request has more than ${MAX_BODY_BYTES} bytes.`));
      else parts.push(part);
    });
    incoming.once('error', reject);
    incoming.once('end', () => resolve(Buffer.concat(parts)));
  });

const ask = ({ hostname, port }: URL, agent: Agent, { url, method, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const upstream = request({ hostname, port, path: url ?? '/', method: method ?? 'POST', agent, headers });
    upstream.once('response', resolve);
    upstream.once('error', reject);
    upstream.end(body);
  });

// DynamoDB runs writes to one item one after another, but replies may overtake each other.
const createQueues = () => {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(key: string, task: () => Promise<Result>): Promise<Result> => {
    const before = last.get(key);
    const result = before ? before.then(task, task) : task();
    last.set(key, result);
    try {
      return await result;
    } finally {
      if (last.get(key) === result) last.delete(key);
    }
  };
};
