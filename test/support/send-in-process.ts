import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { PutCommandInput, UpdateCommandInput } from '@aws-sdk/lib-dynamodb';

interface Job {
  url: string;
  puts?: PutCommandInput[];
  updates?: UpdateCommandInput[];
  workers: number;
}
export interface Outcome {
  error?: string;
  status?: number;
  cause?: string;
  attempts?: number | undefined;
  ms: number;
}

/**
 * Sends writes with our client, one after another per worker, and returns how each ended. It runs as text in another process, so it can
 * only use its arguments.
 */
const send = async (root: string, jobs: Job[]): Promise<Outcome[][]> => {
  const library: typeof import('@aws-sdk/lib-dynamodb') = await import('@aws-sdk/lib-dynamodb');
  const seed: typeof import('../../infra/local/seed.ts') = await import(`${root}/infra/local/seed.ts`);
  return Promise.all(
    jobs.map(async ({ url, puts = [], updates = [], workers }) => {
      const client = seed.openLocalDatabase(url);
      const calls = [
        ...puts.map((input) => () => client.send(new library.PutCommand(input))),
        ...updates.map((input) => () => client.send(new library.UpdateCommand(input))),
      ];
      const outcomes: Outcome[] = [];
      const work = async (): Promise<void> => {
        for (let call = calls.pop(); call; call = calls.pop()) {
          const start = performance.now();
          const ended = await call().then(
            ({ $metadata }) => ({ attempts: $metadata.attempts }),
            (error) => ({
              error: error.constructor.name,
              status: error.status,
              cause: error.cause?.name,
              attempts: error.cause?.$metadata?.attempts,
            }),
          );
          outcomes.push({ ...ended, ms: performance.now() - start });
        }
      };
      await Promise.all(Array.from({ length: workers }, work));
      client.destroy();
      return outcomes;
    }),
  );
};

/**
 * Sends writes from another process: inside jest, the SDK does not recognize network errors as errors, so it neither retries nor reports
 * them.
 */
export const sendInProcess = async (jobs: Job[]): Promise<Outcome[][]> => {
  const root = path.join(import.meta.dirname, '../..');
  const program = `console.log(JSON.stringify(await (${send})(${JSON.stringify(root)}, ${JSON.stringify(jobs)})))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
  return JSON.parse(stdout);
};
