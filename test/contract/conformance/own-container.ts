import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import * as z from 'zod';

const PROGRAM = path.join(import.meta.dirname, '../../../infra/local/model-server/main.ts');
const READY_MS = 30_000;

/** The names of its two models. */
export const OWN_MODELS = { plain: 'sluice-tiny', thinking: 'sluice-tiny-thinking' };

const Ready = z.object({ port: z.int() });

/** Starts our own container without delays between tokens. It ends with this process, or when it is closed. */
export const startOwnContainer = async (): Promise<{ url: string; close: () => Promise<void> }> => {
  const flags = { port: '0', model: OWN_MODELS.plain, 'reasoning-model': OWN_MODELS.thinking, 'token-delay-ms': '0' };
  const parameters = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const child = fork(PROGRAM, parameters, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exit = once(child, 'exit');
  const close = async (): Promise<void> => {
    child.kill();
    await exit;
  };
  const died = exit.then(([code]) => Promise.reject(new Error(`Our own container ended while it was starting, with code ${code}.`)));
  died.catch(() => {});
  try {
    const [message] = await Promise.race([once(child, 'message', { signal: AbortSignal.timeout(READY_MS) }), died]);
    return { url: `http://127.0.0.1:${Ready.parse(message).port}`, close };
  } catch (error) {
    await close();
    throw error;
  }
};
