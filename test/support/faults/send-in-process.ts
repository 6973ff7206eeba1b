import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { PutInput, UpdateInput } from '../../../shared/database/database.ts';

/** The SDK's client, or the one of the functions on the request path. */
export const CLIENTS = ['sdk', 'direct'] as const;

interface Job {
  client: (typeof CLIENTS)[number];
  url: string;
  puts?: PutInput[];
  updates?: UpdateInput[];
  workers: number;
}
export interface Outcome {
  error?: string;
  status?: number;
  cause?: string;
  ms: number;
}

// Runs as text in another process, so it can only use its arguments. Each worker sends its writes one after another.
const send = async (root: string, jobs: Job[]): Promise<Outcome[][]> => {
  const sdks: typeof import('../../../shared/database/sdk-database.ts') = await import(`${root}/shared/database/sdk-database.ts`);
  const direct: typeof import('../../../shared/database/direct-database.ts') = await import(`${root}/shared/database/direct-database.ts`);
  const place = { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  return Promise.all(
    jobs.map(async ({ client: kind, url, puts = [], updates = [], workers }) => {
      const sdk = sdks.createSdkDatabase({ endpoint: url, ...place });
      const client = kind === 'sdk' ? sdk : direct.createDirectDatabases({ endpoint: url, ...place }).database;
      const calls = [...puts.map((input) => () => client.put(input)), ...updates.map((input) => () => client.update(input))];
      const outcomes: Outcome[] = [];
      const work = async (): Promise<void> => {
        for (let call = calls.pop(); call; call = calls.pop()) {
          const start = performance.now();
          const ended = await call().then(
            () => ({}),
            (error) => ({ error: error.constructor.name, status: error.status, cause: error.cause?.name }),
          );
          outcomes.push({ ...ended, ms: performance.now() - start });
        }
      };
      await Promise.all(Array.from({ length: workers }, work));
      sdk.destroy();
      return outcomes;
    }),
  );
};

/**
 * Sends writes from another process: inside jest, the SDK does not recognize network errors as errors, so it neither
 * retries nor reports them.
 */
export const sendInProcess = async (jobs: Job[]): Promise<Outcome[][]> => {
  const root = path.join(import.meta.dirname, '../../..');
  const program = `console.log(JSON.stringify(await (${send})(${JSON.stringify(root)}, ${JSON.stringify(jobs)})))`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
  return JSON.parse(stdout);
};
