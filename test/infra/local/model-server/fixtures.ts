import { once } from 'node:events';
import type { Server } from 'node:http';
import { type GenerationRequest, generate, type Step } from '../../../../infra/local/model-server/generation/generate.ts';
import { freePhase } from '../../../../infra/local/model-server/generation/phase.ts';
import { CORPUS_FOLDER, readCorpus, readCorpusTokens } from '../../../../infra/local/model-server/model/corpus.ts';
import { createModel } from '../../../../infra/local/model-server/model/language-model.ts';
import { loadTokenizer } from '../../../../infra/local/model-server/model/tokenizer.ts';
import { PLAIN_SAMPLING } from '../../../../infra/local/model-server/sampling/parameters.ts';
import { type ContainerOptions, createContainer } from '../../../../infra/local/model-server/server.ts';
import { createVectorModel } from '../../../../infra/local/model-server/vectors/vectors.ts';

export const tokenizer = loadTokenizer();
export const model = createModel(readCorpusTokens, tokenizer);
export const vectors = createVectorModel(readCorpus(CORPUS_FOLDER));
export const EMBEDDING_MODEL_NAME = 'sluice-test-embed';
export const RERANK_MODEL_NAME = 'sluice-test-rerank';
export const MODEL_NAME = 'sluice-test';
export const REASONING_MODEL_NAME = 'sluice-test-thinking';
export const question = [{ role: 'user', content: 'How does a lock on a river work?' }];

export const ask = (content: string): number[] => tokenizer.encodeChat([{ role: 'user', content }]);

/** The steps of an answer, by default at temperature 0. */
export const answer = ({ temperature = 0, ...request }: Partial<GenerationRequest> & { temperature?: number }): Step[] => {
  const how = { choices: 1, maxTokens: 60, seed: undefined, topLogprobs: null, createPhases: () => [freePhase()] };
  const ending = { stops: [], showStop: false, stopTokens: new Set<number>(), ignoreEnd: false, showSpecials: false };
  const sampling = { ...PLAIN_SAMPLING, temperature, ...request.sampling };
  return [...generate(model, tokenizer, [{ prompt: ask('What is a weir?'), ...how, ...ending, ...request, sampling }])];
};

export const textOf = (steps: readonly Step[]): string => steps.map(({ text }) => text).join('');

export interface LogprobEntry {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs: LogprobEntry[];
}
type Logprobs = { content: LogprobEntry[] } | null;
export interface ToolCallDelta {
  index: number;
  id?: string;
  type?: string;
  function: { name?: string; arguments: string };
}
export interface Chunk {
  id: string;
  object: string;
  model: string;
  choices: {
    index: number;
    delta: { role?: string; content?: string; reasoning?: string; tool_calls?: ToolCallDelta[] };
    logprobs: Logprobs;
    finish_reason: string | null;
    stop_reason?: string | number | null;
    token_ids?: number[];
  }[];
  usage?: Usage;
  prompt_token_ids?: number[];
  error?: { message: string; type: string; param: string | null; code: number };
}
export interface Usage {
  prompt_tokens: number;
  total_tokens: number;
  completion_tokens: number;
}
export interface Completion {
  id: string;
  object: string;
  model: string;
  choices: {
    index: number;
    message: {
      role: string;
      content: string;
      reasoning: string | null;
      tool_calls: { id: string; type: string; function: { name: string; arguments: string } }[];
    };
    logprobs: Logprobs;
    finish_reason: string;
    stop_reason: string | number | null;
    token_ids: number[] | null;
  }[];
  prompt_token_ids: number[] | null;
  usage?: Usage;
}
export interface TextLogprobs {
  tokens: string[];
  token_logprobs: (number | null)[];
  top_logprobs: (Record<string, number> | null)[];
  text_offset: number[];
}
export interface TextChoice {
  index: number;
  text: string;
  logprobs: TextLogprobs | null;
  finish_reason: string | null;
  stop_reason: string | number | null;
  token_ids: number[] | null;
  prompt_token_ids: number[] | null;
}
/** A text completion or one of its chunks. */
export interface TextCompletion {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: TextChoice[];
  usage?: Usage;
}
export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: number };
}

export interface Container {
  url: string;
  close(): Promise<void>;
}

export const startContainer = async (options: Partial<ContainerOptions> = {}): Promise<Container> => {
  const server = createContainer({
    model,
    vectors,
    tokenizer,
    modelName: MODEL_NAME,
    embeddingModelName: EMBEDDING_MODEL_NAME,
    rerankModelName: RERANK_MODEL_NAME,
    windowTokens: 8192,
    reasoningModelName: REASONING_MODEL_NAME,
    tokenDelayMs: 0,
    firstTokenDelayMs: 0,
    ...options,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${portOf(server)}`, close: () => closeServer(server) };
};

const portOf = (server: Server): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
};

const closeServer = async (server: Server): Promise<void> => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
};

export const post = (url: string, body: object | string, signal: AbortSignal | null = null): Promise<Response> =>
  fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), signal });

export const invoke = (container: Container, body: object, signal?: AbortSignal): Promise<Response> =>
  post(`${container.url}/invocations`, body, signal);

export const control = (container: Container, settings: object): Promise<Response> =>
  fetch(`${container.url}/control`, { method: 'PUT', body: JSON.stringify(settings) });

export const complete = async (container: Container, body: object): Promise<Completion> => {
  const response = await invoke(container, { messages: question, temperature: 0, ...body });
  return (await response.json()) as Completion;
};

export const PROMPT = 'The river below the weir is';

/** A text completion without streaming. */
export const completeText = async (container: Container, body: object): Promise<TextCompletion> => {
  const response = await invoke(container, { prompt: PROMPT, temperature: 0, ...body });
  if (response.status !== 200) throw new Error(await response.text());
  return (await response.json()) as TextCompletion;
};

/** The chunks of a streamed text completion and its last event. */
export const streamText = async (container: Container, body: object): Promise<{ chunks: TextCompletion[]; end: string | undefined }> => {
  const response = await invoke(container, { prompt: PROMPT, temperature: 0, stream: true, ...body });
  const events = eventsOf(await response.text());
  return { chunks: events.slice(0, -1).map((event) => JSON.parse(event) as TextCompletion), end: events.at(-1) };
};

/** The error of a rejected chat request. */
export const refusalOf = async (container: Container, body: object, path = '/invocations'): Promise<ErrorBody['error']> =>
  errorOf(await post(`${container.url}${path}`, { messages: question, ...body }));

/** The error of a response. Throws unless its code is the status. */
export const errorOf = async (response: Response): Promise<ErrorBody['error']> => {
  const { error } = (await response.json()) as ErrorBody;
  if (error?.code !== response.status) throw new Error(`not refused: ${response.status}`);
  return error;
};

/** The data of each event, including [DONE]. */
export const streamOf = async (container: Container, body: object): Promise<string[]> => {
  const response = await invoke(container, { messages: question, temperature: 0, stream: true, ...body });
  return eventsOf(await response.text());
};

export const eventsOf = (text: string): string[] =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));

export const chunksOf = (events: readonly string[]): Chunk[] =>
  events.filter((event) => event !== '[DONE]').map((event) => JSON.parse(event) as Chunk);

export const contentOf = (chunks: readonly Chunk[]): string => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

/** The text that arrives, and whether the connection breaks. */
export const readUntilEnd = async (response: Response): Promise<{ text: string; broken: boolean }> => {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
    return { text, broken: false };
  } catch {
    return { text, broken: true };
  }
};
