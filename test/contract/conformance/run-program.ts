import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const PROGRAM = path.join(import.meta.dirname, 'main.ts');

/** Runs the program in a separate process, as its users do. */
export const run = async (...parameters: string[]): Promise<{ code: number; output: string; errors: string }> => {
  const child = spawn(process.execPath, [PROGRAM, ...parameters], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, [code]] = await Promise.all([textFrom(child.stdout), textFrom(child.stderr), once(child, 'close')]);
  return { code, output, errors };
};

/** The whole text of a stream. */
export const textFrom = async (stream: AsyncIterable<Buffer>): Promise<string> => Buffer.concat(await Array.fromAsync(stream)).toString();
