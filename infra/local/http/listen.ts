import { once } from 'node:events';
import type { Server } from 'node:http';

const KEEP_ALIVE_MS = 310_000;

/**
 * Listens on 127.0.0.1.
 * @param port 0 picks a free port
 * @returns the URL without a trailing slash
 * @throws Error with code EADDRINUSE if the port is in use
 */
export const listen = async (server: Server, port: number): Promise<string> => {
  // A client that reuses a connection at the moment when it is closed gets an error. Node closes idle ones after five
  // seconds, AWS after minutes.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has no port');
  return `http://127.0.0.1:${address.port}`;
};

/** Stops listening and closes all connections. */
export const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
