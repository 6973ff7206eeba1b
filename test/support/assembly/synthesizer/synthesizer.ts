import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import type { Synthesis, SynthesisEnd, SynthesisServer } from './synthesis.ts';

const SERVER = new URL('./server.ts', import.meta.url);

/**
 * Synthesizes what suites in other processes ask for on a socket.
 * @param folder an empty one, for the socket
 * @returns the socket
 */
export const serveSyntheses = async (folder: string): Promise<string> => {
  const socket = path.join(folder, 'synthesizer');
  const server = new Worker(SERVER, { workerData: { folder, socket } satisfies SynthesisServer });
  await once(server, 'message');
  server.unref();
  return socket;
};

/** Has the app synthesized. @throws Error with its error output */
export const askForSynthesis = async (socket: string, wanted: Omit<Synthesis, 'number'>): Promise<void> => {
  const connection = net.connect({ path: socket, allowHalfOpen: true });
  connection.end(JSON.stringify(wanted));
  const { errors } = (await json(connection)) as Pick<SynthesisEnd, 'errors'>;
  if (errors !== null) throw new Error(`The CDK app failed to synthesize:\n${errors}`);
};
