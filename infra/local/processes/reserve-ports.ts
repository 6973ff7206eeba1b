import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const FIRST_PORT = 20_000;
const END_PORT = 32_000;
const MAX_TRIES = 50;

// Until they are released or this process exits, no other process of this project gets them.
interface ReservedPorts extends Disposable {
  /** The first one; the others follow it. */
  port: number;
}

/**
 * Finds a port of this machine that nothing listens on, for a process that will listen on it later. Operating systems
 * give ports above 32,767 to whoever asks for any port, so none of those: it could be taken before the process listens.
 * @param count how many ports the process needs
 * @throws Error if it finds none
 */
export const reservePorts = async (count = 1): Promise<ReservedPorts> => {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const port = randomInt(FIRST_PORT, END_PORT - count);
    const ports = Array.from({ length: count }, (_, offset) => port + offset);
    const claims = await Promise.all(ports.map(claim));
    const release = (): void => {
      for (const socket of claims.splice(0)) socket?.close();
    };
    if (claims.every(Boolean) && (await Promise.all(ports.map(isFree))).every(Boolean)) return { port, [Symbol.dispose]: release };
    release();
  }
  throw new Error(`No free port found between ${FIRST_PORT} and ${END_PORT}.`);
};

// Others can find the same port before a process listens on it. Nothing else uses the UDP ports of these numbers.
const claim = async (port: number): Promise<Socket | undefined> => {
  const socket = createSocket('udp4').unref();
  try {
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    return socket;
  } catch {
    socket.close();
    return undefined;
  }
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
};
