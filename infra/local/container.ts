import { fork } from 'node:child_process';
import path from 'node:path';
import * as z from 'zod';
import { bundledProgram } from './processes/bundled-program.ts';
import { compileCache } from './processes/compile-cache.ts';
import { withLogFile } from './processes/log-file.ts';
import type { ProcessList } from './processes/process-list.ts';
import { type Supervised, supervise } from './processes/supervise.ts';

const MAIN = path.join(import.meta.dirname, './model-server/main.ts');

/** Name of our own model and of the endpoint that serves it. */
export const LOCAL_MODEL = 'sluice-tiny';
/** Inference component of that endpoint. As on SageMaker, a request that does not name it is rejected. */
export const LOCAL_COMPONENT = 'sluice-tiny-1';
/** The same model with reasoning output, behind its own endpoint. */
export const REASONING_MODEL = 'sluice-tiny-reasoning';
export const REASONING_COMPONENT = 'sluice-tiny-reasoning-1';
/** The models that embed texts and rerank documents, each behind an endpoint with a component named like this. */
export const EMBEDDING_MODEL = 'sluice-tiny-embed';
export const RERANK_MODEL = 'sluice-tiny-rerank';
/** Endpoints that answer as containers of Text Embeddings Inference with these models do, and their paths. */
export const TEXT_EMBEDDINGS_ENDPOINTS = [
  [`${EMBEDDING_MODEL}-tei`, '/tei/embed'],
  [`${RERANK_MODEL}-tei`, '/tei/rerank'],
] as const;
/** Returns the component of one of these endpoints. */
export const poolingComponent = (model: string): string => `${model}-1`;
const CONTEXT_WINDOW_TOKENS = 8_192;

interface ContainerOptions {
  /** From `containerProgram`. */
  program: string;
  tokenDelayMs: number;
  logFolder: string;
  processes: ProcessList;
  onChange: () => void;
  log: (line: string) => void;
}

const Ready = z.object({ port: z.int() });
type Container = Supervised<z.infer<typeof Ready>>;

/** The program of our own containers. */
export const containerProgram = (): Promise<string> => bundledProgram(MAIN);

/** Starts our own model container. If it exits, it restarts on the same port so that its endpoint stays valid. */
export const startContainer = (options: ContainerOptions): Container =>
  startNamed(options, 'container', {
    model: LOCAL_MODEL,
    'reasoning-model': REASONING_MODEL,
    'embedding-model': EMBEDDING_MODEL,
    'rerank-model': RERANK_MODEL,
  });

/**
 * Starts a container for one inference component.
 * @param model the name under which it serves the model
 * @param pools true: the model embeds and reranks instead of generating text
 * @param loadsAdapters true: it can load adapters
 */
export const startComponentContainer = (options: ContainerOptions, model: string, pools: boolean, loadsAdapters: boolean): Container =>
  startNamed(
    options,
    'component-container',
    pools ? { 'embedding-model': model, 'rerank-model': model } : { model },
    loadsAdapters ? ['--enable-lora'] : [],
  );

const startNamed = (options: ContainerOptions, log: string, models: Record<string, string>, flags: readonly string[] = []): Container =>
  supervise({
    ...options,
    name: 'the container',
    start(previous) {
      const values = {
        port: previous?.port ?? 0,
        ...models,
        'token-delay-ms': options.tokenDelayMs,
        window: CONTEXT_WINDOW_TOKENS,
      };
      const parameters = [...Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)]), ...flags];
      return withLogFile(options.logFolder, log, (logFile) =>
        fork(options.program, parameters, {
          execArgv: [],
          detached: true,
          env: { ...process.env, ...compileCache },
          stdio: ['ignore', logFile, logFile, 'ipc'],
        }),
      );
    },
    whenReady: (child) => new Promise((resolve) => child.once('message', (message) => resolve(Ready.parse(message)))),
  });
