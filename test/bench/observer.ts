import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import * as z from 'zod';
import { closeServer, listen } from '../../infra/local/http/listen.ts';

const agent = new Agent({ keepAlive: true });

/** An observed call, in the order of arrival. The units are set once the database has replied. */
export interface SeenCall {
  to: 'database' | 'container';
  /** The operation, such as `UpdateItem`. */
  operation: string;
  table: string;
  writeUnits: number;
  readUnits: number;
}

export interface Observer {
  databaseUrl: string;
  containerUrl: string;
  /** Returns the calls since it was last called. */
  take: () => SeenCall[];
  close: () => Promise<void>;
}

const Request = z.looseObject({ TableName: z.string().default('') });
const Capacity = z.object({ CapacityUnits: z.number() });
// A transaction reports the units of each table.
const Reply = z.object({ ConsumedCapacity: z.union([Capacity, z.array(Capacity)]).optional() });
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems']);
const READS = new Set(['GetItem', 'BatchGetItem', 'Query']);

/**
 * A proxy in front of a database and a container. It forwards everything and records each call with the capacity
 * units that the database counted.
 */
export const startObserver = async (databaseUrl: string, containerUrl: string): Promise<Observer> => {
  let calls: SeenCall[] = [];

  const observeDatabase = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const operation = String(incoming.headers['x-amz-target']).split('.')[1] ?? '';
    const body = Request.parse(JSON.parse((await read(incoming)).toString() || '{}'));
    const call: SeenCall = { to: 'database', operation, table: body.TableName, writeUnits: 0, readUnits: 0 };
    calls.push(call);
    const counted = WRITES.has(operation) || READS.has(operation) ? { ...body, ReturnConsumedCapacity: 'TOTAL' } : body;
    const reply = await forward(databaseUrl, incoming, Buffer.from(JSON.stringify(counted)), outgoing);
    // A write whose condition failed costs at least one unit too, although the database does not report it.
    const units = (): number => {
      const { ConsumedCapacity: capacity } = Reply.parse(JSON.parse(reply.toString()));
      if (!capacity) return 1;
      return [capacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
    };
    if (WRITES.has(operation)) call.writeUnits = units();
    if (READS.has(operation)) call.readUnits = units();
  };
  const observeContainer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await read(incoming);
    calls.push({ to: 'container', operation: '', table: '', writeUnits: 0, readUnits: 0 });
    await forward(containerUrl, incoming, body, outgoing);
  };
  const serve = (observe: typeof observeDatabase) =>
    createServer((incoming, outgoing) => void observe(incoming, outgoing).catch(() => outgoing.destroy()));

  const servers = [serve(observeDatabase), serve(observeContainer)] as const;
  const [database, container] = await Promise.all([listen(servers[0], 0), listen(servers[1], 0)]);
  return {
    databaseUrl: database,
    containerUrl: container,
    take: () => {
      const taken = calls;
      calls = [];
      return taken;
    },
    close: async () => {
      await Promise.all(servers.map(closeServer));
    },
  };
};

const read = async (incoming: IncomingMessage): Promise<Buffer> => Buffer.concat(await incoming.toArray());

const forward = (url: string, { url: path, method, headers }: IncomingMessage, body: Buffer, outgoing: ServerResponse): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const upstream = request(new URL(path ?? '/', url), {
      method: method ?? 'POST',
      agent,
      headers: { ...headers, 'content-length': body.length },
    });
    upstream.once('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('data', (part: Buffer) => {
        parts.push(part);
        outgoing.write(part);
      });
      answer.once('error', reject);
      answer.once('end', () => {
        outgoing.end();
        resolve(Buffer.concat(parts));
      });
    });
    upstream.once('error', reject);
    upstream.end(body);
  });
