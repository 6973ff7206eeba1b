import { randomUUID } from 'node:crypto';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { closeServer, listen } from '../../infra/local/http/listen.ts';
import { createWitness, type Note } from './fault-witness.ts';

/**
 * What may go wrong with a call. Nothing was done: `throttled`, `conflicted` (with a transaction), `failed`, `lostRequest`.
 * The database has done it, but the caller is told 500 (`failedAfter`), nothing (`lostReply`), or the answer too late (`slow`).
 */
export const FAULTS = ['throttled', 'conflicted', 'failed', 'failedAfter', 'lostRequest', 'lostReply', 'slow'] as const;
export type Fault = (typeof FAULTS)[number];
/** Of all calls that may fail, the share that each fault befalls, from 0 to 1; together at most 1. */
export type FaultShares = Readonly<Record<Fault, number>>;

export interface FaultProxyOptions {
  /** Numbers in [0, 1): one is drawn for each call that may fail. */
  random: () => number;
  /** To begin with; none unless given. */
  faults?: Partial<FaultShares>;
  /** Whether an operation (`UpdateItem` and the like) may fail; all may unless given. */
  mayFail?: (operation: string) => boolean;
  /** How long a `slow` answer is held back. The client gives up after 3 s. */
  holdMs?: number;
  /** Tables whose writes are witnessed. */
  keysTable?: string;
  usageTable?: string;
}

export interface FaultProxy {
  url: string;
  get faults(): FaultShares;
  /** Sets all shares, those that are not named to 0. Throws a RangeError if they are no shares of a whole. */
  set faults(shares: Partial<FaultShares>);
  /** Calls by what befell them. `unknown`: the database broke off, so that nobody knows what it did; the notes are whole while this is 0. */
  seen: Readonly<Record<Fault | 'passed' | 'unknown', number>>;
  /** Every UpdateItem of requests in flight and PutItem of an event that was done. Those of one limiter stand in the order of their doing. */
  notes: () => readonly Note[];
  /** The requests that a limiter took in flight. */
  admitted: () => ReadonlySet<string>;
  close: () => Promise<void>;
}

const HOLD_MS = 4_000;
/** Of the throttled calls, those that are told ThrottlingException. */
const ON_DEMAND_SHARE = 0.25;
const MAX_DATABASE_SOCKETS = 256;
const MAX_CONNECTIONS = 4_096;
const MAX_BODY_BYTES = 16 * 1_024 * 1_024;

/** Stands before a DynamoDB endpoint, passes calls on, and now and then answers in its stead as DynamoDB does on a bad day. */
export const startFaultProxy = async (databaseUrl: string, options: FaultProxyOptions): Promise<FaultProxy> => {
  const { random, mayFail = () => true, holdMs = HOLD_MS } = options;
  const database = new URL(databaseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_DATABASE_SOCKETS });
  const witness = createWitness(options);
  const inTurn = createTurns();
  const seen = { ...noFaults, passed: 0, unknown: 0 };
  let faults = checkShares(options.faults ?? {});

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await read(incoming);
    const operation = String(incoming.headers['x-amz-target']).split('.')[1] ?? '';
    const fault = mayFail(operation) ? draw(faults, random()) : undefined;
    seen[fault ?? 'passed'] += 1;
    if (fault === 'lostRequest') return void outgoing.destroy();
    if (fault === 'throttled') return refuse(outgoing, random() < ON_DEMAND_SHARE ? ANSWERS.throttledOnDemand : ANSWERS.throttled);
    if (fault === 'conflicted' || fault === 'failed') return refuse(outgoing, ANSWERS[fault]);

    const answer = await pass(operation, incoming, body);
    answer.once('error', () => outgoing.destroy());
    if (outgoing.destroyed) return void answer.resume();
    const deliver = (): void => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    };
    const held = fault === 'slow' ? setTimeout(deliver, holdMs) : undefined;
    // When the caller has gone, the rest is read nevertheless: that frees the connection to the database.
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

  /** Has the database do it, also when the caller has gone meanwhile: a request that has arrived is done. */
  const pass = async (operation: string, incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> => {
    try {
      const will = witness.read(operation, body);
      const done = async (): Promise<IncomingMessage> => {
        const answer = await ask(database, agent, incoming, body);
        if (answer.statusCode === 200) witness.note(will);
        return answer;
      };
      const [first] = will;
      return await (first && first.kind !== 'event' ? inTurn(first.limiterId, done) : done());
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
    seen,
    notes: witness.notes,
    admitted: () => new Set(witness.notes().flatMap((note) => (note.kind === 'took' ? [note.requestId] : []))),
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
    throw new RangeError(`Shares of faults are not from 0 to 1 together: ${JSON.stringify(shares)}`);
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

/** DynamoDB's own words. A table by the request throttles by another name than one of provisioned throughput. */
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
  failed: { status: 500, name: 'InternalServerError', message: 'Internal server error' },
} satisfies Record<string, Answer>;

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

/** Runs what has the same key one after another. DynamoDB does so with writes to one item, but answers may overtake each other. */
const createTurns = () => {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(key: string, task: () => Promise<Result>): Promise<Result> => {
    const before = last.get(key);
    const turn = before ? before.then(task, task) : task();
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
};
