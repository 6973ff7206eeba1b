import { type ChildProcess, fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { EMBEDDING_MODEL, LOCAL_MODEL } from '../../infra/local/container.ts';
import { VECTOR_DIMENSIONS } from '../../infra/local/model-server/vectors/vectors.ts';
import { inferenceHostRoutes } from '../../shared/hosts/inference-routes.ts';
import type { Model } from '../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { startWholeRun, type TestRun } from '../support/clients/local-run.ts';
import type { Server } from './client.ts';
import { FALLBACKS } from './prompts.ts';

// Loads never reach these limits, since only admitted requests are measured.
const WIDE_LIMITS = { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000, concurrency: 1_000 };

const Listening = z.object({ port: z.int() });

/** The local run, a key in it, and the pass-through proxy. */
export interface Stack {
  run: TestRun;
  keyId: string;
  servers: { direct: Server; proxy: Server; sluice: Server };
  /** The serverless host's route for messages. */
  messages: Server;
  pids: { runner: number; inference: number; dynamodb: number; container: number; proxy: number; client: number };
  close: () => Promise<void>;
}

export type ServerName = keyof Stack['servers'];

/** Creates a key with wide limits and returns the serverless host as a server that is called with it. */
export const openSluice = async (run: TestRun): Promise<{ keyId: string; server: Server }> => {
  const { key_id, secret } = await run.createKey(WIDE_LIMITS);
  return { keyId: key_id, server: { url: `${run.base_url}/v1/chat/completions`, headers: { authorization: `Bearer ${secret}` } } };
};

/**
 * Publishes the fallbacks of a request with three candidates, and the embedding model in a run before a container that
 * it did not start itself. Called before any request, because functions remember the list of models.
 */
export const publishModels = async ({ models }: TestRun): Promise<void> => {
  const published = await models.list(SERVERLESS_POOL);
  const chat = published.get(LOCAL_MODEL) as Model;
  for (const name of FALLBACKS) await models.put(SERVERLESS_POOL, { ...chat, name });
  if (published.get(EMBEDDING_MODEL)?.status === 'published') return;
  await models.put(SERVERLESS_POOL, {
    ...chat,
    name: EMBEDDING_MODEL,
    task: 'embed',
    embedding: { dimensions: VECTOR_DIMENSIONS, is_shortenable: true },
    max_output_tokens: 1,
    default_output_tokens: 1,
    targets: [{ ...chat.targets[0], container_model: EMBEDDING_MODEL }],
  });
};

/**
 * Starts the local run of an assembly and the proxy. Both end with this process, even when it is killed. Nothing
 * reads the tables' streams: the longer they are, the longer the emulator takes for a write, so that the function
 * would wait more and more, and a request after a wait takes more CPU.
 */
export const startStack = async (): Promise<Stack> => {
  const run = await startWholeRun('--no-streams');
  process.once('exit', () => rmSync(run.state, { recursive: true, force: true }));
  await publishModels(run);
  // Each chunk must be one payload part; random cuts only test the reader.
  await run.control('sagemaker', { cuts: 'whole' });
  const proxy = fork(path.join(import.meta.dirname, 'proxy.ts'), [run.container_url]);
  const { port } = await listening(proxy);
  const { keyId, server } = await openSluice(run);
  const { runner, dynamodb, container, functions } = run.pids;
  const [inference] = functions.inference ?? [];
  if (!inference || !dynamodb || !container)
    throw new Error('The bench needs the processes of a whole local run: unset DYNAMODB_ENDPOINT.');
  return {
    run,
    keyId,
    servers: {
      direct: { url: `${run.container_url}/invocations`, headers: {} },
      proxy: { url: `http://127.0.0.1:${port}/invocations`, headers: {} },
      sluice: server,
    },
    messages: { url: `${run.base_url}${inferenceHostRoutes.createMessage.path}`, headers: server.headers },
    pids: { runner, inference, dynamodb, container, proxy: proxy.pid ?? 0, client: process.pid },
    close: async () => {
      proxy.disconnect();
      await run.close();
    },
  };
};

const listening = (child: ChildProcess): Promise<z.infer<typeof Listening>> =>
  new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(Listening.parse(message)));
    child.once('exit', () => reject(new Error('The proxy ended before it listened.')));
  });
