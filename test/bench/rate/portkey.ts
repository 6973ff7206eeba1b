import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { closeServer, listen } from '../../../infra/local/http/listen.ts';
import type { Server } from '../client.ts';

const PROGRAM = 'node_modules/@portkey-ai/gateway/build/start-server.js';
const MAX_TRIES = 100;
const TRY_MS = 100;

export interface Portkey {
  server: Server;
  pid: number;
  close(): void;
}

const freePort = async (): Promise<number> => {
  const server = createServer();
  const { port } = new URL(await listen(server, 0));
  await closeServer(server);
  return Number(port);
};

const untilItListens = async (url: string): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await (await fetch(url)).text();
      return;
    } catch (error) {
      if (attempt === MAX_TRIES) throw error;
      await delay(TRY_MS);
    }
  }
};

/**
 * Starts Portkey's gateway as it is published on npm, with this Node, before a server of chat completions. It ends with
 * this process. CONTRIBUTING.md says how to install it.
 * @param folder where its package is installed
 * @throws Error if it isn't installed there, or doesn't listen
 */
export const startPortkey = async (folder: string, upstreamUrl: string): Promise<Portkey> => {
  const program = path.resolve(folder, PROGRAM);
  if (!existsSync(program)) throw new Error(`--portkey: ${program} doesn't exist. CONTRIBUTING.md says how to install it.`);
  const port = await freePort();
  const child = spawn(process.execPath, [program, '--headless', `--port=${port}`], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
    stdio: 'ignore',
  });
  const close = (): void => void child.kill('SIGKILL');
  process.once('exit', close);
  const url = `http://127.0.0.1:${port}`;
  await untilItListens(url);
  return {
    server: {
      url: `${url}/v1/chat/completions`,
      headers: { authorization: 'Bearer bench', 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstreamUrl}/v1` },
    },
    pid: child.pid ?? 0,
    close,
  };
};
