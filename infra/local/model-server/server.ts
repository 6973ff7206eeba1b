import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { inferenceHostRoutes } from '../../../shared/hosts/inference-routes.ts';
import { MODELS_PATH } from '../../../shared/models/models-path.ts';
import { ChatRequest } from './chat/request.ts';
import { replyToChat } from './chat/route.ts';
import { CompletionRequest } from './completions/request.ts';
import { replyToCompletion } from './completions/route.ts';
import type { LanguageModel } from './model/language-model.ts';
import type { ContainerTokenizer } from './model/tokenizer.ts';
import { answer, type Exchange, type ServingContext } from './replies/answering.ts';
import { ControlChange, createControl } from './replies/control.ts';
import { sendBody } from './replies/reply.ts';
import { BadRequest, NotFound, TooLarge, toErrorBody } from './requests/errors.ts';
import { parseBody, parseJson } from './requests/parse-body.ts';
import { readTokenizeRequest } from './tokenization/request.ts';
import { tokenize } from './tokenization/tokenize.ts';

const MAX_BODY_BYTES = 32 * 2 ** 20;

export interface ContainerOptions {
  model: LanguageModel;
  tokenizer: ContainerTokenizer;
  /** The default model. */
  modelName: string;
  /** The same model under a second name, where it reasons before it answers. */
  reasoningModelName?: string | undefined;
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
 * text completions, tokenization, and `/control`, where a test sets delays and faults.
 */
export const createContainer = (options: ContainerOptions): Server => {
  const routes = createRoutes(options);
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    // A client can disconnect between two writes; `answer` handles 'close'.
    response.on('error', () => {});
    handle(routes, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else if (!response.destroyed) sendError(response, error);
    });
  });
};

const createRoutes = ({ model, tokenizer, windowTokens, ...options }: ContainerOptions): Map<string, Route> => {
  const { modelName, reasoningModelName, tokenDelayMs, firstTokenDelayMs } = options;
  const control = createControl({ token_delay_ms: tokenDelayMs, first_token_delay_ms: firstTokenDelayMs, omit_usage: false, fault: null });
  const models = [{ name: modelName, reasons: false }];
  if (reasoningModelName !== undefined) models.push({ name: reasoningModelName, reasons: true });
  const limits = { models, windowTokens };
  const context: ServingContext = { model, tokenizer, control, limits };
  const created = Math.floor(Date.now() / 1_000);
  const about = { object: 'model', created, owned_by: 'sluice', parent: null, max_model_len: windowTokens };
  const cards = models.map(({ name }) => ({ id: name, root: name, ...about }));
  return new Map<string, Route>([
    ['GET /ping', (_, response) => void response.writeHead(200).end()],
    [`GET ${MODELS_PATH}`, (_, response) => sendBody(response, 200, { object: 'list', data: cards })],
    ...completionRoutes(context),
    [
      `POST ${inferenceHostRoutes.tokenize.path}`,
      (body, response) => sendBody(response, 200, tokenize(readTokenizeRequest(body), tokenizer, limits)),
    ],
    ['GET /control', (_, response) => sendBody(response, 200, control.settings())],
    ['PUT /control', (body, response) => sendBody(response, 200, control.change(parseBody(ControlChange, body)))],
    ['DELETE /control', (_, response) => sendBody(response, 200, control.reset())],
  ]);
};

const { createChatCompletion, createCompletion } = inferenceHostRoutes;

const completionRoutes = (context: ServingContext): [string, Route][] => [
  [
    'POST /invocations',
    (body, response) => answer(context.control, response, (exchange) => replyToInvocation(context, parseJson(body), exchange)),
  ],
  [
    `POST ${createChatCompletion.path}`,
    (body, response) => answer(context.control, response, (exchange) => replyToChat(context, parseBody(ChatRequest, body), exchange)),
  ],
  [
    `POST ${createCompletion.path}`,
    (body, response) =>
      answer(context.control, response, (exchange) => replyToCompletion(context, parseBody(CompletionRequest, body), exchange)),
  ],
];

// Like vLLM, tries the chat schema, then the text completion schema, and names no field if neither matches.
const replyToInvocation = (context: ServingContext, body: unknown, exchange: Exchange): Promise<void> => {
  const chat = ChatRequest.safeParse(body);
  if (chat.success) return replyToChat(context, chat.data, exchange);
  const completion = CompletionRequest.safeParse(body);
  if (completion.success) return replyToCompletion(context, completion.data, exchange);
  throw new BadRequest("Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest', 'CompletionRequest']");
};

const handle = async (routes: ReadonlyMap<string, Route>, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { pathname } = new URL(request.url ?? '/', 'http://container');
  const route = routes.get(`${request.method} ${pathname}`);
  if (!route) throw new NotFound('Not Found');
  await route(await readBody(request), response);
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
