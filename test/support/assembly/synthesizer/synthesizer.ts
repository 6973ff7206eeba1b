import { type ChildProcess, fork } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { isolatedEnvironment } from '../isolated-environment.ts';
import type { Synthesis, SynthesisEnd } from './synthesis.ts';

const MAIN = path.join(import.meta.dirname, 'main.ts');

type Wanted = Omit<Synthesis, 'number'>;

// `home` is an empty folder, so it has no credentials.
const forkSynthesizer = (home: string) => {
  const waiting = new Map<number, (errors: string | null) => void>();
  const child: ChildProcess = fork(MAIN, { env: isolatedEnvironment(home) });
  child.unref();
  child.channel?.unref();
  child.on('message', ({ number, errors }: SynthesisEnd) => {
    waiting.get(number)?.(errors);
    waiting.delete(number);
  });
  child.once('exit', (code) => {
    for (const end of waiting.values()) end(`The process that synthesizes ended with ${code}.`);
  });
  let number = 0;
  return {
    hasEnded: (): boolean => child.exitCode !== null || child.signalCode !== null,
    synthesize: (wanted: Wanted): Promise<string | null> =>
      new Promise((resolve) => {
        waiting.set(++number, resolve);
        child.send({ ...wanted, number } satisfies Synthesis);
      }),
  };
};

/**
 * Synthesizes what suites in other processes ask for on a socket. The process that does it is forked for the first one.
 * @param folder an empty one, for the socket
 * @returns the socket
 */
export const serveSyntheses = async (folder: string): Promise<string> => {
  const socket = path.join(folder, 'synthesizer');
  let synthesizer: ReturnType<typeof forkSynthesizer> | undefined;
  const server = net.createServer({ allowHalfOpen: true }, async (connection) => {
    // A process that is ended while it waits for its synthesis must not end all suites.
    connection.on('error', () => connection.destroy());
    const wanted = (await json(connection).catch(() => undefined)) as Wanted | undefined;
    if (wanted === undefined) return;
    if (!synthesizer || synthesizer.hasEnded()) synthesizer = forkSynthesizer(folder);
    connection.end(JSON.stringify({ errors: await synthesizer.synthesize(wanted) }));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  server.unref();
  return socket;
};

/** Has the app synthesized. @throws Error with its error output */
export const askForSynthesis = async (socket: string, wanted: Wanted): Promise<void> => {
  const connection = net.connect({ path: socket, allowHalfOpen: true });
  connection.end(JSON.stringify(wanted));
  const { errors } = (await json(connection)) as Pick<SynthesisEnd, 'errors'>;
  if (errors !== null) throw new Error(`The CDK app failed to synthesize:\n${errors}`);
};
