import type { Socket } from 'node:net';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { brokenConnection, CallTimeout } from './errors.ts';
import { createReplyReader, type ReplyReader, type ReplySink, type ReplyState } from './reply-reader.ts';
import { startTimeout } from './timeout.ts';

// As many as Node's own agent keeps.
const MAX_IDLE = 256;
// As Node's own agent sets it.
const KEEP_ALIVE_MS = 1_000;
const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/** A call, which has a connection until its reply is complete, or its connection is broken. */
export interface PendingCall extends ReplySink {
  /** Writes the request. */
  begin(socket: Socket): void;
  /** The reply is complete. @param release makes the connection free for the next call */
  onEnd(release: () => void): void;
  /** @param hasReply whether any byte of the reply arrived */
  onError(error: Error, hasReply: boolean): void;
}

interface Connection {
  readonly socket: Socket;
  readonly reader: ReplyReader;
  call: PendingCall | undefined;
  hasReply: boolean;
}

export interface ConnectionOptions {
  /** The host to which all connections go. */
  url: URL;
  /** The most time until a connection is open. */
  connectMs: number;
  maxSockets: number;
}

/** Connections to one host, each of which serves one call at a time. */
export interface Connections {
  /** Begins a call on the connection that was used last, on a new one, or when one is free. */
  start(call: PendingCall): void;
  /** Forgets a call that has not begun. */
  forget(call: PendingCall): void;
}

// With TLS, a connection resumes the session of the one before it.
const createConnect = ({ protocol, hostname, port }: URL): (() => Socket) => {
  const isTls = protocol === 'https:';
  // An address of IPv6 has brackets in a URL only.
  const host = hostname.replace(/^\[|\]$/g, '');
  const options = {
    host,
    port: Number(port) || (isTls ? HTTPS_PORT : HTTP_PORT),
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  };
  if (!isTls) {
    const { connect } = process.getBuiltinModule('node:net');
    return () => connect(options);
  }
  const { isIP } = process.getBuiltinModule('node:net');
  const { connect } = process.getBuiltinModule('node:tls');
  const tlsOptions: TlsOptions = { ...options, ALPNProtocols: ['http/1.1'], ...(!isIP(host) && { servername: host }) };
  let session: Buffer | undefined;
  return () => {
    const socket = connect(session ? { ...tlsOptions, session } : tlsOptions);
    socket.on('session', (next) => {
      session = next;
    });
    // A session that the server doesn't know any more must not break each connection.
    socket.once('error', () => {
      session = undefined;
    });
    return socket;
  };
};

/** Kept connections to one host. docs/decisions/0135 says why not `node:http`. */
export const createConnections = ({ url, connectMs, maxSockets }: ConnectionOptions): Connections => {
  const connect = createConnect(url);
  const opened = url.protocol === 'https:' ? 'secureConnect' : 'connect';
  const idle: Connection[] = [];
  const waiting: PendingCall[] = [];
  let count = 0;

  const begin = (connection: Connection, call: PendingCall): void => {
    connection.call = call;
    connection.hasReply = false;
    call.begin(connection.socket);
  };

  const fail = (connection: Connection, error: Error): void => {
    const { call } = connection;
    connection.call = undefined;
    call?.onError(error, connection.hasReply);
  };

  const release = (connection: Connection): void => {
    const { socket } = connection;
    // Its reader can have paused it.
    if (socket.isPaused()) socket.resume();
    const next = waiting.shift();
    if (next) begin(connection, next);
    else if (idle.length < MAX_IDLE) {
      socket.unref();
      idle.push(connection);
    } else socket.destroy();
  };

  const complete = (connection: Connection, state: ReplyState): void => {
    const { call, socket } = connection;
    connection.call = undefined;
    call?.onEnd(() => {
      // A reply that came before the end of its request leaves bytes that are still to be sent.
      if (state === 'last' || !socket.writable || socket.writableLength > 0) socket.destroy();
      else release(connection);
    });
  };

  const open = (): Connection => {
    const socket = connect();
    const connection: Connection = { socket, reader: createReplyReader(), call: undefined, hasReply: false };
    const late = startTimeout(connectMs, () => socket.destroy(new CallTimeout(`No connection within ${connectMs} ms.`)));
    count += 1;
    socket.once(opened, late.clear);
    socket.on('data', (part: Buffer) => {
      const { call, reader } = connection;
      // Bytes that arrive between two calls must not become the reply to the next one.
      if (!call) return void socket.destroy();
      connection.hasReply = true;
      try {
        const state = reader.push(part, call);
        if (state !== 'open' && connection.call) complete(connection, state);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    socket.on('end', () => {
      if (connection.call && connection.reader.isCompleteAtEnd()) complete(connection, 'last');
    });
    // An error of an idle connection concerns nobody.
    socket.on('error', (error) => fail(connection, error));
    socket.once('close', () => {
      late.clear();
      count -= 1;
      const place = idle.indexOf(connection);
      if (place >= 0) idle.splice(place, 1);
      fail(connection, brokenConnection('socket hang up'));
      const next = waiting.shift();
      if (next) begin(open(), next);
    });
    return connection;
  };

  return {
    start: (call) => {
      for (let connection = idle.pop(); connection; connection = idle.pop()) {
        if (!connection.socket.writable) continue;
        connection.socket.ref();
        begin(connection, call);
        return;
      }
      if (count < maxSockets) begin(open(), call);
      else waiting.push(call);
    },
    forget: (call) => {
      const place = waiting.indexOf(call);
      if (place >= 0) waiting.splice(place, 1);
    },
  };
};
