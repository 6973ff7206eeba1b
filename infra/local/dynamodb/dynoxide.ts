import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { withLogFile } from '../processes/log-file.ts';
import type { ProcessList } from '../processes/process-list.ts';
import { reservePorts } from '../processes/reserve-ports.ts';
import { type Supervised, supervise } from '../processes/supervise.ts';
import { untilConnectable } from '../processes/until-connectable.ts';

// With a thread for each core, it takes a tenth more CPU for a call, and no less time.
const ONE_THREAD = { TOKIO_WORKER_THREADS: '1' };

/** The database and, if it was started here, its process. */
export interface Database {
  url: string;
  pid(): number | undefined;
  close(): Promise<void>;
}

interface DatabaseOptions {
  stateFolder: string;
  logFolder: string;
  /** Keeps everything in memory. */
  ephemeral: boolean;
  processes: ProcessList;
  onChange: () => void;
  log: (line: string) => void;
}

/**
 * Starts dynoxide, or uses the database that DYNAMODB_ENDPOINT names.
 * @throws Error with instructions if there is no dynoxide for this machine
 */
export const startDatabase = async (options: DatabaseOptions): Promise<Database> => {
  const { DYNAMODB_ENDPOINT: elsewhere } = process.env;
  if (elsewhere) return { url: elsewhere.replace(/\/$/, ''), pid: () => undefined, close: async () => undefined };
  const binary = findDynoxide();
  const reserved = await reservePorts();
  const { port } = reserved;
  const server: Supervised<number> = supervise({
    ...options,
    name: 'dynoxide',
    start() {
      const storage = options.ephemeral ? [] : ['--db-path', path.join(options.stateFolder, 'dynamodb.sqlite')];
      return withLogFile(options.logFolder, 'dynoxide', (logFile) =>
        spawn(binary, ['serve', '--port', String(port), ...storage], {
          detached: true,
          stdio: ['ignore', logFile, logFile],
          env: { ...process.env, ...ONE_THREAD },
        }),
      );
    },
    whenReady: async (child) => {
      await untilConnectable('dynoxide', child, port);
      return port;
    },
  });
  await server.ready;
  const close = async (): Promise<void> => {
    await server.close();
    reserved[Symbol.dispose]();
  };
  return { url: `http://127.0.0.1:${port}`, pid: server.pid, close };
};

/**
 * The path of the emulator's program: of its package, or one on the path.
 * @throws Error with instructions if there is none for this machine
 */
export const findDynoxide = (machine = `${process.platform}-${process.arch}`, searchPath = process.env.PATH ?? ''): string => {
  const onPath = searchPath.split(path.delimiter).map((folder) => path.join(folder, 'dynoxide'));
  const found = [...findPackage(`@dynoxide/${machine}`), ...onPath].find(isExecutable);
  if (found !== undefined) return found;
  throw new Error(
    `No local DynamoDB for ${machine} found. Put dynoxide on PATH (brew install dynoxide, or cargo install dynoxide), ` +
      'or start DynamoDB Local and set DYNAMODB_ENDPOINT=http://127.0.0.1:8000.',
  );
};

const findPackage = (name: string): string[] => {
  try {
    return [path.join(path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'dynoxide')];
  } catch {
    return [];
  }
};

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
