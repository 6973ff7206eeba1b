import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import * as z from 'zod';
import { inferenceHostRoutes } from '../../../shared/hosts/inference-routes.ts';
import { MODELS_PATH } from '../../../shared/models/models-path.ts';
import { ChatRequest } from './chat/request.ts';
import { replyToChat } from './chat/route.ts';
import { CompletionRequest } from './completions/request.ts';
import { replyToCompletion } from './completions/route.ts';
import { EmbeddingRequest } from './embeddings/request.ts';
import { replyToEmbeddings } from './embeddings/route.ts';
import type { LanguageModel } from './model/language-model.ts';
import type { ContainerTokenizer } from './model/tokenizer.ts';
import { answer, type Exchange, type ServingContext } from './replies/answering.ts';
import { createBatch } from './replies/batch.ts';
import { ControlChange, createControl } from './replies/control.ts';
import { createRecordedRequests, type RecordedRequests } from './replies/recorded-requests.ts';
import { sendBody } from './replies/reply.ts';
import { ADAPTERS_PATH, createAdapters, withAdapter } from './requests/adapters.ts';
import { BadRequest, NotFound, TooLarge, toErrorBody } from './requests/errors.ts';
import { parseBody, parseJson } from './requests/parse-body.ts';
import { poolingTasksOf, type ServingLimits } from './requests/served-models.ts';
import { RerankRequest } from './rerank/request.ts';
import { replyToRerank } from './rerank/route.ts';
import { replyToAnyText, replyToTextEmbeddings, replyToTextRerank } from './text-embeddings-inference/route.ts';
import { readTokenizeRequest } from './tokenization/request.ts';
import { tokenize } from './tokenization/tokenize.ts';
import type { VectorModel } from './vectors/vectors.ts';

const MAX_BODY_BYTES = 32 * 2 ** 20;

export interface ContainerOptions {
  model: LanguageModel;
  vectors: VectorModel;
  tokenizer: ContainerTokenizer;
  /** The default model of those that generate text; undefined: there is none. */
  modelName?: string | undefined;
  /** The same model under a second name, where it reasons before it answers. */
  reasoningModelName?: string | undefined;
  /** Names of the models that embed and rerank; they can be the same. */
  embeddingModelName?: string | undefined;
  rerankModelName?: string | undefined;
  /** True if it can load adapters. */
  loadsAdapters?: boolean | undefined;
  /** The most tokens that prompt and completion can have together. */
  windowTokens: number;
  /** The initial delay between tokens; `/control` can change it. */
  tokenDelayMs: number;
  /** The initial delay before the first token; `/control` can change it. */
  firstTokenDelayMs: number;
}

type Route = (body: string, response: ServerResponse) => void | Promise<void>;

// A client that reuses a connection at the moment when it is closed gets an error, and Node closes idle ones after five
// seconds.
const KEEP_ALIVE_MS = 310_000;

/**
 * Creates a server, not yet listening, with SageMaker's container routes (`/ping`, `/invocations`), vLLM's chat and
 * text completions, embeddings, rerank, tokenization, and `/control`, where a test sets delays and faults, and records
 * the requests at `/control/requests`.
 * `/tei/embed`, `/tei/rerank` and, for both, `/tei` are what `/invocations` is in a container of Text Embeddings
 * Inference.
 */
export const createContainer = (options: ContainerOptions): Server => {
  const recorded = createRecordedRequests();
  const routes = createRoutes(options, recorded);
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    // A client can disconnect between two writes; `answer` handles 'close'.
    response.on('error', () => {});
    handle(routes, recorded, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else if (!response.destroyed) sendError(response, error);
    });
  });
};

const limitsOf = (options: ContainerOptions, adapters: ServingLimits['adapters']): ServingLimits => {
  const { modelName, reasoningModelName, embeddingModelName, rerankModelName, windowTokens } = options;
  const models = [
    ...(modelName === undefined ? [] : [{ name: modelName, reasons: false }]),
    ...(reasoningModelName === undefined ? [] : [{ name: reasoningModelName, reasons: true }]),
  ];
  return { models, adapters, poolingModels: { embed: embeddingModelName, rerank: rerankModelName }, windowTokens };
};

const createRoutes = (options: ContainerOptions, recorded: RecordedRequests): Map<string, Route> => {
  const { model, vectors, tokenizer, windowTokens, tokenDelayMs, firstTokenDelayMs } = options;
  const control = createControl({
    token_delay_ms: tokenDelayMs,
    first_token_delay_ms: firstTokenDelayMs,
    batch: null,
    omit_usage: false,
    fault: null,
  });
  const adapters = createAdapters(options.loadsAdapters ?? false);
  const limits = limitsOf(options, adapters.loaded);
  const context: ServingContext = { model, vectors, tokenizer, control, batch: createBatch(), limits };
  const created = Math.floor(Date.now() / 1_000);
  const about = { object: 'model', created, owned_by: 'sluice', parent: null, max_model_len: windowTokens };
  const names = new Set([...limits.models.map(({ name }) => name), ...Object.values(limits.poolingModels)]);
  const cards = [...names].filter((name) => name !== undefined).map((name) => ({ id: name, root: name, ...about }));
  return new Map<string, Route>([
    ['GET /ping', (_, response) => void response.writeHead(200).end()],
    [`GET ${MODELS_PATH}`, (_, response) => sendBody(response, 200, { object: 'list', data: cards })],
    ...modelRoutes(context),
    [
      `POST ${ADAPTERS_PATH}`,
      (body, response) => {
        adapters.load(body);
        response.writeHead(200).end();
      },
    ],
    [
      `POST ${inferenceHostRoutes.tokenize.path}`,
      (body, response) => sendBody(response, 200, tokenize(readTokenizeRequest(body), tokenizer, limits)),
    ],
    ['GET /control', (_, response) => sendBody(response, 200, control.settings())],
    ['PUT /control', (body, response) => sendBody(response, 200, control.change(parseBody(ControlChange, body)))],
    ['DELETE /control', (_, response) => sendBody(response, 200, control.reset())],
    ['GET /control/requests', (_, response) => sendBody(response, 200, recorded.list())],
    ['PUT /control/requests', (_, response) => endAfter(response, recorded.begin)],
    ['DELETE /control/requests', (_, response) => endAfter(response, recorded.end)],
  ]);
};

const endAfter = (response: ServerResponse, act: () => void): void => {
  act();
  response.writeHead(204).end();
};

const { createChatCompletion, createCompletion, createEmbeddings } = inferenceHostRoutes;

type ReplyTo<Request> = (context: ServingContext, request: Request, exchange: Exchange) => Promise<void>;

const modelRoutes = (context: ServingContext): [string, Route][] => {
  const answered =
    (reply: (body: string, exchange: Exchange) => Promise<void>): Route =>
    (body, response) =>
      answer(context.control, response, (exchange) => reply(body, exchange));
  const parsed = <Schema extends z.ZodType>(schema: Schema, reply: ReplyTo<z.output<Schema>>): Route =>
    answered((body, exchange) => reply(context, parseBody(schema, body), exchange));
  return [
    ['POST /invocations', answered((body, exchange) => replyToInvocation(context, parseJson(body), exchange))],
    [`POST ${createChatCompletion.path}`, parsed(ChatRequest, replyToChat)],
    [`POST ${createCompletion.path}`, parsed(CompletionRequest, replyToCompletion)],
    [`POST ${createEmbeddings.path}`, parsed(EmbeddingRequest, replyToEmbeddings)],
    ...['/rerank', '/v1/rerank', '/v2/rerank'].map((path): [string, Route] => [`POST ${path}`, parsed(RerankRequest, replyToRerank)]),
    ['POST /tei', answered((body, exchange) => replyToAnyText(context, body, exchange))],
    ['POST /tei/embed', answered((body, exchange) => replyToTextEmbeddings(context, body, exchange))],
    ['POST /tei/rerank', answered((body, exchange) => replyToTextRerank(context, body, exchange))],
  ];
};

interface Handler {
  requestName: string;
  /** Undefined if the body is not such a request. */
  read(body: unknown): ((context: ServingContext, exchange: Exchange) => Promise<void>) | undefined;
}

const handler = <Schema extends z.ZodType>(requestName: string, schema: Schema, reply: ReplyTo<z.output<Schema>>): Handler => ({
  requestName,
  read(body) {
    const read = schema.safeParse(body);
    return read.success ? (context, exchange) => reply(context, read.data, exchange) : undefined;
  },
});

const HANDLERS = {
  generate: [
    handler('ChatCompletionRequest', ChatRequest, replyToChat),
    handler('CompletionRequest', CompletionRequest, replyToCompletion),
  ],
  embed: [handler('EmbeddingRequest', EmbeddingRequest, replyToEmbeddings)],
  rerank: [handler('RerankRequest', RerankRequest, replyToRerank)],
} satisfies Record<string, Handler[]>;

const Named = z.object({ model: z.string() });

// A server of vLLM has one model and tries the schemas of that model's tasks; this one finds the model by its name.
const replyToInvocation = (context: ServingContext, body: unknown, exchange: Exchange): Promise<void> => {
  const name = Named.safeParse(body).data?.model;
  const pooling = name === undefined ? [] : poolingTasksOf(name, context.limits);
  const tasks = pooling.length > 0 ? pooling : (['generate'] as const);
  const handlers: Handler[] = tasks.flatMap((task) => HANDLERS[task]);
  for (const { read } of handlers) {
    const reply = read(body);
    if (reply) return reply(context, exchange);
  }
  const names = handlers.map(({ requestName }) => `'${requestName}'`).join(', ');
  throw new BadRequest(`Cannot find suitable handler for request. Expected one of: [${names}]`);
};

const handle = async (
  routes: ReadonlyMap<string, Route>,
  recorded: RecordedRequests,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { pathname } = new URL(request.url ?? '/', 'http://container');
  const route = routes.get(`${request.method} ${pathname}`);
  if (!route) throw new NotFound('Not Found');
  const body = await readBody(request);
  recorded.add({ path: pathname, headers: request.headers, body });
  await route(withAdapter(request.headers, body), response);
};

// Reads even a body that is too large to its end, because a client that is still sending would miss the response.
const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_BODY_BYTES) throw new TooLarge(MAX_BODY_BYTES);
  return Buffer.concat(chunks).toString('utf8');
};

const sendError = (response: ServerResponse, error: unknown): void => {
  const body = toErrorBody(error);
  if (body.error.code === 500) console.error(error);
  sendBody(response, body.error.code, body);
};
