import type { LocalApp } from '../assembly/local-app.ts';
import { type CognitoOptions, startCognito } from './cognito/emulator.ts';
import { containerProgram, startComponentContainer, startContainer } from './container.ts';
import { startDatabase } from './dynamodb/dynoxide.ts';
import type { ProcessList } from './processes/process-list.ts';
import type { Progress } from './progress.ts';
import type { StartContainer } from './sagemaker/component-containers.ts';
import type { ContainerTarget } from './sagemaker/container-request.ts';

interface ProcessSettings {
  stateFolder: string;
  logFolder: string;
  processes: ProcessList;
  onChange: () => void;
  log: (line: string) => void;
  ephemeral: boolean;
  /** Delay between two tokens of our own container. */
  tokenDelayMs: number;
  /** The server to use instead of our own container. */
  containerUrl: string | undefined;
  progress: Progress;
  /** By it, tokens of users are issued and expire. */
  tokenTime: () => number;
  /** Invokes a function by its ARN, once the functions run. */
  invoke: CognitoOptions['invoke'];
}

const foreignTarget = (containerUrl: string): ContainerTarget => {
  const { origin, pathname } = new URL(containerUrl);
  return { url: origin, ...(pathname !== '/' && { path: pathname }), keepsConnections: false };
};

// vLLM's image turns this variable into `--served-model-name`. Without it, vLLM serves the model under its path.
const SERVED_NAME = 'SM_VLLM_SERVED_MODEL_NAME';
const DEFAULT_SERVED_NAME = '/opt/ml/model';
// `--runner pooling`: the model embeds or reranks.
const RUNNER = 'SM_VLLM_RUNNER';
// `--enable-lora`: it can load adapters.
const ADAPTERS = 'SM_VLLM_ENABLE_LORA';
// The image of Text Embeddings Inference takes its model from this one.
const TEXT_EMBEDDINGS_MODEL = 'HF_MODEL_ID';

const ownContainers =
  (options: Parameters<typeof startComponentContainer>[0]): StartContainer =>
  (environment) => {
    const isTextEmbeddings = environment[TEXT_EMBEDDINGS_MODEL] !== undefined;
    const pools = isTextEmbeddings || environment[RUNNER] === 'pooling';
    const loadsAdapters = environment[ADAPTERS] === 'true';
    const container = startComponentContainer(options, environment[SERVED_NAME] ?? DEFAULT_SERVED_NAME, pools, loadsAdapters);
    const ready = container.ready.then(({ port }) => ({
      url: `http://127.0.0.1:${port}`,
      path: isTextEmbeddings ? '/tei' : '/invocations',
    }));
    return { ready, close: container.close };
  };

const sharedForeignContainer =
  (target: ContainerTarget): StartContainer =>
  () => ({ ready: Promise.resolve(target), close: async () => undefined });

/**
 * Starts the database, the model and, if the app has a user pool, cognito-local, all at the same time.
 * @param started gets what ends them
 * @returns the processes; `container` is undefined with a foreign container. `target` is the model's, and
 * `startContainer` gives one to each inference component
 */
export const startBackingProcesses = async ({ userPools }: LocalApp, settings: ProcessSettings, started: AsyncDisposableStack) => {
  const { ephemeral, containerUrl, progress } = settings;
  const own = containerUrl === undefined ? { ...settings, program: await containerProgram() } : undefined;
  const container = own && startContainer(own);
  started.defer(() => container?.close());
  const startingDatabase = startDatabase(settings);
  started.defer(async () => (await startingDatabase.catch(() => undefined))?.close());
  const startingCognito = userPools.length > 0 ? startCognito({ ...settings, pools: userPools, ephemeral }) : Promise.resolve(undefined);
  started.defer(async () => (await startingCognito.catch(() => undefined))?.close());
  const [database, containerReady, cognito] = await Promise.all([
    progress.during('Starting the database', () => startingDatabase),
    container && progress.during('Starting the model', () => container.ready),
    progress.during('Starting the user pool', () => startingCognito),
  ]);
  const target = containerReady
    ? { url: `http://127.0.0.1:${containerReady.port}`, path: '/invocations' }
    : foreignTarget(containerUrl ?? '');
  return { database, cognito, container, target, startContainer: own ? ownContainers(own) : sharedForeignContainer(target) };
};
