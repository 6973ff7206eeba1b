import { once } from 'node:events';
import type { Server } from 'node:http';
import { CORPUS_FOLDER, readCorpus } from '../../../infra/container/corpus.ts';
import { createModel } from '../../../infra/container/model.ts';
import { type ContainerOptions, createContainer } from '../../../infra/container/server.ts';
import { loadTokenizer } from '../../../infra/container/tokenizer.ts';

export const tokenizer = loadTokenizer();
export const model = createModel(readCorpus(CORPUS_FOLDER), tokenizer);
export const MODEL_NAME = 'sluice-test';
export const question = [{ role: 'user', content: 'How does a lock on a river work?' }];

type Chunk = {
  id: string;
  object: string;
  model: string;
  choices: { index: number; delta: { role?: string; content?: string }; finish_reason: string | null; stop_reason?: string | null }[];
  usage?: Usage;
  error?: { message: string; type: string; param: string | null; code: number };
};
export type Usage = { prompt_tokens: number; total_tokens: number; completion_tokens: number };
export type Completion = {
  id: string;
  object: string;
  model: string;
  choices: { message: { role: string; content: string }; finish_reason: string; stop_reason: string | null }[];
  usage?: Usage;
};
export type ErrorBody = { error: { message: string; type: string; param: string | null; code: number } };

export type Container = { url: string; close(): Promise<void> };

export async function startContainer(options: Partial<ContainerOptions> = {}): Promise<Container> {
  const server = createContainer({
    model,
    tokenizer,
    modelName: MODEL_NAME,
    windowTokens: 8192,
    tokenDelayMs: 0,
    firstTokenDelayMs: 0,
    ...options,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${portOf(server)}`, close: () => closeServer(server) };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return address.port;
}

async function closeServer(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}

export const post = (url: string, body: object | string, signal: AbortSignal | null = null): Promise<Response> =>
  fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), signal });

export const invoke = (container: Container, body: object, signal?: AbortSignal): Promise<Response> =>
  post(`${container.url}/invocations`, body, signal);

export const control = (container: Container, settings: object): Promise<Response> =>
  fetch(`${container.url}/control`, { method: 'PUT', body: JSON.stringify(settings) });

export async function complete(container: Container, body: object): Promise<Completion> {
  const response = await invoke(container, { messages: question, temperature: 0, ...body });
  return (await response.json()) as Completion;
}

/** The data of each event, with the end marker as it came. */
export async function streamOf(container: Container, body: object): Promise<string[]> {
  const response = await invoke(container, { messages: question, temperature: 0, stream: true, ...body });
  return eventsOf(await response.text());
}

export const eventsOf = (text: string): string[] =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''));

export const chunksOf = (events: readonly string[]): Chunk[] =>
  events.filter((event) => event !== '[DONE]').map((event) => JSON.parse(event) as Chunk);

export const contentOf = (chunks: readonly Chunk[]): string => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

/** What arrives before the end, and how it ends. */
export async function readUntilEnd(response: Response): Promise<{ text: string; broken: boolean }> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
    return { text, broken: false };
  } catch {
    return { text, broken: true };
  }
}
