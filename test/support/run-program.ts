import { format } from 'node:util';

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a program of ours in this process as if it had one of its own, one after the other, because starting one takes
 * longer than most programs run. Test one command line of each program in a real process.
 * @param main returns the exit code
 * @param environment all of its variables
 */
export const runProgram = (
  main: (flags: readonly string[]) => Promise<number>,
  flags: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Ended> => {
  const ended = last.then(() => run(main, flags, environment));
  last = ended.catch(() => undefined);
  return ended;
};

class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`The program ended with ${code}.`);
    this.code = code;
  }
}

const run = async (main: (flags: readonly string[]) => Promise<number>, flags: readonly string[], environment: NodeJS.ProcessEnv) => {
  const { env, exit } = process;
  const { isTTY } = process.stdout;
  const { log, error } = console;
  const [writeOut, writeError] = [process.stdout.write, process.stderr.write];
  const written = { stdout: '', stderr: '' };
  const writeTo = (name: keyof typeof written) => (text: string | Uint8Array) => {
    written[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
    return true;
  };
  Object.assign(process, {
    env: { ...environment },
    exit: (code = 0) => {
      throw new Exit(Number(code));
    },
  });
  process.stdout.isTTY = false;
  process.stdout.write = writeTo('stdout');
  process.stderr.write = writeTo('stderr');
  console.log = (...values) => writeTo('stdout')(`${format(...values)}\n`);
  console.error = (...values) => writeTo('stderr')(`${format(...values)}\n`);
  try {
    const code = await main(flags).catch((thrown: unknown) => {
      if (thrown instanceof Exit) return thrown.code;
      throw thrown;
    });
    return { code, ...written };
  } finally {
    Object.assign(process, { env, exit });
    Object.assign(console, { log, error });
    process.stdout.isTTY = isTTY;
    process.stdout.write = writeOut;
    process.stderr.write = writeError;
  }
};
