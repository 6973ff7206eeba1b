import { type ChildProcess, fork } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { parentPort, workerData } from 'node:worker_threads';
import { isolatedEnvironment } from '../isolated-environment.ts';
import type { Synthesis, SynthesisEnd, SynthesisServer } from './synthesis.ts';

// Listens on a socket in a thread of its own, because the thread of all suites may wait for the process that asks. The
// process that synthesizes is forked for the first synthesis.

const MAIN = path.join(import.meta.dirname, 'main.ts');
// Other threads would compile all of CloudFormation's rules, of which a synthesis runs few: 6 s of CPU.
const FLAGS = ['--single-threaded'];
// esbuild, which Go runs, spends a quarter of its time on collecting garbage unless its heap can grow further.
const FEWER_COLLECTIONS = { GOGC: '400' };

type Wanted = Omit<Synthesis, 'number'>;

// `home` is an empty folder, so it has no credentials.
const forkSynthesizer = (home: string) => {
  const waiting = new Map<number, (errors: string | null) => void>();
  const child: ChildProcess = fork(MAIN, { env: { ...isolatedEnvironment(home), ...FEWER_COLLECTIONS }, execArgv: FLAGS });
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

const { folder, socket } = workerData as SynthesisServer;
let synthesizer: ReturnType<typeof forkSynthesizer> | undefined;
const server = net.createServer({ allowHalfOpen: true }, async (connection) => {
  // A process that is ended while it waits for its synthesis must not end all suites.
  connection.on('error', () => connection.destroy());
  const wanted = (await json(connection).catch(() => undefined)) as Wanted | undefined;
  if (wanted === undefined) return;
  if (!synthesizer || synthesizer.hasEnded()) synthesizer = forkSynthesizer(folder);
  connection.end(JSON.stringify({ errors: await synthesizer.synthesize(wanted) }));
});
server.listen(socket, () => parentPort?.postMessage('listening'));
