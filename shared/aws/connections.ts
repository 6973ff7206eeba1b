import type { Agent, AgentOptions, ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { CallTimeout } from './errors.ts';

// As many as Node itself keeps.
const MAX_IDLE = 256;

interface ConnectionOptions {
  /** The one place to which all connections go. */
  host: string;
  /** The most time until a connection is open. */
  connectMs: number;
  maxSockets: number;
}

// The members of Node's agents that are not in its types (node:_http_agent). Libraries with their own agents rely on
// them, too.
type NodeAgent = Agent & { addRequest: (request: ClientRequest, options: object) => void };
type FreeListener = (socket: Socket, options: object) => void;

const hasMembers = (agent: Agent): agent is NodeAgent =>
  typeof (agent as Partial<NodeAgent>).addRequest === 'function' &&
  typeof process.getBuiltinModule('node:http').ClientRequest.prototype.onSocket === 'function' &&
  agent.listenerCount('free') === 1;

const limitConnecting = (agent: Agent, connectMs: number): void => {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (...parameters) => {
    const socket = connect(...parameters) as Socket;
    const late = setTimeout(() => socket.destroy(new CallTimeout(`No connection within ${connectMs} ms.`)), connectMs);
    socket.once('connect', () => clearTimeout(late));
    socket.once('close', () => clearTimeout(late));
    return socket;
  };
};

/**
 * Kept connections to one place. A call takes the connection that was used last; otherwise one is opened, or the call
 * waits for one, both by Node's own agent. The agent's way to keep a connection is made for many places, and takes a
 * fifth of a call's CPU. It is used if this Node lacks what ours needs.
 * @param Agent of `node:http` or `node:https`
 */
export const createConnections = (
  Agent: new (options: AgentOptions) => Agent,
  { host, connectMs, maxSockets }: ConnectionOptions,
): Agent => {
  const agent = new Agent({ keepAlive: true, maxSockets });
  limitConnecting(agent, connectMs);
  if (!hasMembers(agent)) return agent;
  // Node's own name has twenty parts with HTTPS, and is made several times for each new connection.
  agent.getName = () => host;
  const idle: Socket[] = [];
  const isIdle = new WeakSet<Socket>();

  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (...parameters) => {
    const socket = connect(...parameters) as Socket;
    socket.once('close', () => {
      const place = idle.indexOf(socket);
      if (place >= 0) idle.splice(place, 1);
    });
    // An error of an idle connection concerns nobody; during a call, the call's own listener has it, too.
    socket.on('error', () => undefined);
    // Bytes that arrive between two calls must not become the reply to the next one.
    socket.on('data', () => {
      if (isIdle.has(socket)) socket.destroy();
    });
    return socket;
  };

  const [keep] = agent.listeners('free') as [FreeListener];
  agent.removeAllListeners('free');
  agent.on('free', (socket: Socket & { _httpMessage?: unknown }, options: object) => {
    if (agent.requests[host]) {
      // A call waits for a connection.
      keep.call(agent, socket, options);
    } else if (!socket.writable || idle.length >= MAX_IDLE) {
      socket.destroy();
    } else {
      // Otherwise the connection keeps the call that it served, and its reply.
      if ('_httpMessage' in socket) socket._httpMessage = null;
      socket.unref();
      isIdle.add(socket);
      idle.push(socket);
    }
  });

  const addRequest = agent.addRequest.bind(agent);
  agent.addRequest = (request, options) => {
    for (let socket = idle.pop(); socket; socket = idle.pop()) {
      isIdle.delete(socket);
      if (!socket.writable) continue;
      socket.ref();
      request.reusedSocket = true;
      request.onSocket(socket);
      return;
    }
    addRequest(request, options);
  };
  return agent;
};
