import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const FIRST_PORT = 20_000;
const END_PORT = 32_000;
const MAX_TRIES = 50;

/**
 * A port of this machine that nothing listens on, for a process that will listen on it later. Operating systems give
 * ports above 32,767 to whoever asks for any port, so none of those: it could be taken before the process listens.
 * @param count how many ports the process needs: the one returned, and those that follow it
 * @throws Error if it finds none
 */
export const freePort = async (count = 1): Promise<number> => {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const port = randomInt(FIRST_PORT, END_PORT - count);
    const ports = Array.from({ length: count }, (_, offset) => port + offset);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return port;
  }
  throw new Error(`No free port found between ${FIRST_PORT} and ${END_PORT}.`);
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
