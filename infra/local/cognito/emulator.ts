import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { UserPool } from '../../assembly/local-app.ts';
import { createMailbox } from '../mail/mailbox.ts';
import { bundledProgram } from '../processes/bundled-program.ts';
import { compileCache } from '../processes/compile-cache.ts';
import { withLogFile } from '../processes/log-file.ts';
import type { ProcessList } from '../processes/process-list.ts';
import { reservePorts } from '../processes/reserve-ports.ts';
import { supervise } from '../processes/supervise.ts';
import { untilConnectable } from '../processes/until-connectable.ts';
import { writeDataFolder } from './data-folder.ts';
import { startFront } from './front.ts';
import { openRefreshTokens } from './refresh-tokens.ts';
import type { RuleContext } from './rule.ts';

const MAIN = path.join(import.meta.dirname, 'server-process.ts');

/** The Cognito emulator and its process. */
export interface Cognito {
  url: string;
  pid(): number | undefined;
  close(): Promise<void>;
}

export interface CognitoOptions {
  pools: readonly UserPool[];
  stateFolder: string;
  /** Folder of `cognito.log` and of `mail.log`, which has the emails that Cognito would send. */
  logFolder: string;
  /** Deletes all users at the end. */
  ephemeral: boolean;
  processes: ProcessList;
  /** Invokes a trigger of a pool by its ARN. */
  invoke: RuleContext['invoke'];
  onChange: () => void;
  log: (line: string) => void;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** By it, tokens are issued and expire. Default: `now`. */
  tokenTime?: (() => number) | undefined;
}

/**
 * Starts cognito-local with the app's pools, and the proxy that functions call.
 * @throws Error if it does not start, or if the users of an earlier run cannot be read
 */
export const startCognito = async (options: CognitoOptions): Promise<Cognito> => {
  const { pools, stateFolder, logFolder, ephemeral, invoke, now = Date.now } = options;
  const { tokenTime = now } = options;
  await using started = new AsyncDisposableStack();
  const folder = ephemeral ? await mkdtemp(path.join(tmpdir(), 'sluice-cognito-')) : path.join(stateFolder, 'cognito');
  if (ephemeral) started.defer(() => rm(folder, { recursive: true, force: true }));
  await writeDataFolder(folder, pools);
  const refreshTokens = openRefreshTokens(folder, tokenTime);
  started.defer(refreshTokens.close);
  const program = await bundledProgram(MAIN);
  const { port } = started.use(await reservePorts());
  const backendUrl = `http://127.0.0.1:${port}`;
  const server = supervise<string>({
    ...options,
    name: 'cognito-local',
    start: () => withLogFile(logFolder, 'cognito', (logFile) => spawnServer(program, folder, port, logFile)),
    async whenReady(child) {
      await untilConnectable('cognito-local', child, port);
      return backendUrl;
    },
  });
  started.defer(server.close);
  await server.ready;
  const front = await startFront({ backendUrl, pools, mailbox: createMailbox(logFolder), refreshTokens, invoke, now, tokenTime });
  started.defer(front.close);
  const running = started.move();
  return { url: front.url, pid: server.pid, close: () => running.disposeAsync() };
};

const spawnServer = (program: string, folder: string, port: number, logFile: number): ChildProcess =>
  spawn(process.execPath, [program], {
    cwd: folder,
    detached: true,
    env: { ...compileCache, HOST: '127.0.0.1', PORT: String(port), AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE: '1' },
    stdio: ['ignore', logFile, logFile],
  });
