import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type { Table } from '../../../infra/assembly/local-app.ts';
import type { ProcessList } from '../../../infra/local/processes/process-list.ts';
import { assemblyDir } from '../assembly/assembly.ts';

interface Wanted {
  hasStreams: boolean;
}

// In memory, with the app's tables: their names by logical id.
interface StartedDatabase {
  url: string;
  tables: Record<string, string>;
}

type Reply = StartedDatabase | { error: string };

// A database of its own for each connection, which ends with it.
const startServer = async (folder: string) => {
  const [{ interpret }, { readAssembly }, { startDatabase }, { createTables, withoutStream }, { createProcessList }] = await Promise.all([
    import('../../../infra/assembly/interpret.ts'),
    import('../../../infra/assembly/read-assembly.ts'),
    import('../../../infra/local/dynamodb/dynoxide.ts'),
    import('../../../infra/local/dynamodb/tables.ts'),
    import('../../../infra/local/processes/process-list.ts'),
  ]);
  mkdirSync(folder);
  const processes: ProcessList = createProcessList();
  const { tables: streaming } = interpret(await readAssembly(assemblyDir()));
  const silent: readonly Table[] = streaming.map(withoutStream);
  return async ({ hasStreams }: Wanted) => {
    const { url, close } = await startDatabase({
      stateFolder: folder,
      logFolder: folder,
      ephemeral: true,
      processes,
      onChange: () => undefined,
      log: () => undefined,
    });
    try {
      return { url, close, tables: await createTables(url, hasStreams ? streaming : silent) };
    } catch (error) {
      await close();
      throw error;
    }
  };
};

/**
 * Starts databases for what suites in other processes ask for on a socket. A process forks its memory to start another
 * one, which is cheap here and not in a worker that has run many suites; and the tables are read once.
 * @param folder an empty one, for the socket and the log
 * @returns the socket
 */
export const serveDatabases = async (folder: string): Promise<string> => {
  const socket = path.join(folder, 'databases.socket');
  let server: ReturnType<typeof startServer> | undefined;
  const answer = async (connection: net.Socket, wanted: Wanted): Promise<void> => {
    const reply = (value: Reply): void => void connection.write(`${JSON.stringify(value)}\n`);
    const ended = new Promise((resolve) => connection.once('close', resolve).once('end', resolve));
    try {
      server ??= startServer(path.join(folder, 'databases'));
      const { url, tables, close } = await (await server)(wanted);
      reply({ url, tables });
      await ended;
      await close();
    } catch (error) {
      reply({ error: String(error) });
    }
    connection.end();
  };
  const listener = net.createServer({ allowHalfOpen: true }, (connection) => {
    // A worker that is killed must not end all suites.
    connection.on('error', () => connection.destroy());
    connection.once('data', (line) => void answer(connection, JSON.parse(String(line))));
  });
  await new Promise<void>((resolve) => listener.listen(socket, resolve));
  listener.unref();
  return socket;
};

/**
 * Asks for a database.
 * @returns it, and what ends it
 * @throws Error if it does not start
 */
export const askForDatabase = async (wanted: Wanted): Promise<StartedDatabase & { close: () => Promise<void> }> => {
  const { SLUICE_TEST_DATABASES: socket } = process.env;
  if (!socket) throw new Error('Nothing says who starts databases: test/support/jest/set-up.mjs has not run.');
  // It is made here if necessary, so that other suites don't wait for it.
  assemblyDir();
  const connection = net.connect({ path: socket, allowHalfOpen: true });
  connection.write(`${JSON.stringify(wanted)}\n`);
  const [line] = await once(connection, 'data');
  const reply: Reply = JSON.parse(String(line));
  if ('error' in reply) throw new Error(`The database did not start: ${reply.error}`);
  const close = async (): Promise<void> => {
    const closed = once(connection, 'close');
    connection.end();
    await closed;
  };
  return { ...reply, close };
};
