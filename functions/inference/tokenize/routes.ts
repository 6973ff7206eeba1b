import type * as z from 'zod';
import { presentedKey } from '../../../shared/admission/keys/authenticate.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { jsonReply } from '../../../shared/http/reply.ts';
import { deprecationHeaders } from '../../../shared/models/deprecation.ts';
import type { Model, TokenizerFiles } from '../../../shared/models/model.ts';
import type { ChatPrompt } from '../../../shared/tokens/prompt.ts';
import type { Tokenizer } from '../../../shared/tokens/tokenizer.ts';
import type { Outcome, UsageEvent } from '../../../shared/usage/event.ts';
import { type Admission, admit } from '../admission/admit.ts';
import { toChatPrompt } from '../chat/to-prompt.ts';
import type { Dependencies, Serve } from '../pipeline/dependencies.ts';
import { parseRequest } from '../pipeline/parse-request.ts';
import { ignoredHeader } from '../pipeline/prepare-request.ts';
import { estimateTokens, measurePrompt } from '../pipeline/prompt-size.ts';
import { settleRequest } from '../pipeline/settle-request.ts';
import { callerFacts, errorFacts, stepEnds } from '../pipeline/usage-event.ts';
import {
  type DetokenizeReply,
  DetokenizeRequest,
  ignoredOfDetokenize,
  ignoredOfTokenize,
  type TokenizeReply,
  TokenizeRequest,
} from './schema.ts';

class NoTokenizer extends ApiError {
  constructor(model: string) {
    super({
      status: 400,
      type: 'invalid_request_error',
      code: 'unsupported_parameter',
      param: 'model',
      message: `The model '${model}' has no tokenizer. Call a model that has one, or ask your administrator to add a tokenizer to this model.`,
    });
  }
}

// Messages are rendered as a chat completion sends them to the model.
const toInput = ({ model: name, prompt, messages, tools }: TokenizeRequest, model: Model): string | ChatPrompt =>
  prompt ?? toChatPrompt({ model: name, messages: messages ?? [], tools }, model);

const estimateInput = (input: string | ChatPrompt): number =>
  estimateTokens(typeof input === 'string' ? Buffer.byteLength(input) : measurePrompt(input).bytes);

type TokenizerDependencies = Pick<Dependencies, 'host' | 'modelsOf' | 'keys' | 'usage' | 'settlements' | 'tokenizer' | 'now'>;

interface TokenizerTask {
  // Reserved from the tokens-per-minute limit until the reply.
  reservedTokens: number;
  ignored: string[];
  ask: (tokenizer: Tokenizer) => Promise<object>;
}

interface TokenizerRoute<Request extends { model: string }> {
  schema: z.ZodType<Request>;
  toTask: (request: Request, model: Model, files: TokenizerFiles) => TokenizerTask;
}

// A request without inference counts as one request and costs nothing.
const freeEvent = (facts: {
  event: ApiEvent;
  admission: Admission;
  alias: string | undefined;
  model: Model;
  path: string;
  outcome: Outcome;
  error?: unknown;
  parsedAtMs: number;
  answeredAtMs: number | undefined;
  nowMs: number;
}): UsageEvent => ({
  request_id: facts.event.requestId,
  ...callerFacts(facts.event, facts.admission),
  model: facts.model.name,
  ...(facts.alias && { alias: facts.alias }),
  route: facts.path,
  stream: false,
  prompt_tokens: 0,
  cached_tokens: 0,
  completion_tokens: 0,
  source: 'runtime',
  outcome: facts.outcome,
  ...errorFacts(facts.error),
  finish_reason: null,
  time_to_first_token_ms: null,
  duration_ms: facts.nowMs - facts.event.receivedAtMs,
  step_ends_ms: stepEnds(facts.event, [
    facts.parsedAtMs,
    facts.admission.admittedAtMs,
    undefined,
    undefined,
    undefined,
    facts.answeredAtMs,
  ]),
  cost_nanos: 0n,
  price_version: null,
});

const serveTokenizer =
  <Request extends { model: string }>(path: string, { schema, toTask }: TokenizerRoute<Request>, deps: TokenizerDependencies): Serve =>
  async (event) => {
    const key = presentedKey(event, deps.host);
    const prepare = (request: Request, model: Model): TokenizerTask => {
      if (!model.tokenizer) throw new NoTokenizer(model.name);
      return toTask(request, model, model.tokenizer);
    };
    const { alias, model, prepared: task, authenticated } = await parseRequest({ schema }, prepare, deps, key, event);
    const { requestId } = event;
    const parsedAtMs = deps.now();
    // An empty text reserves one token.
    const tokens = Math.max(1, task.reservedTokens);
    const admission = await admit(deps.keys, {
      key,
      model: model.name,
      requestId,
      tokens,
      maxCostNanos: () => 0n,
      isFree: true,
      authenticated,
    });
    const headers = { ...admission.headers, ...ignoredHeader(task.ignored), ...deprecationHeaders(model) };
    const settle = (outcome: Outcome, error?: unknown): Promise<void> => {
      const nowMs = deps.now();
      const answeredAtMs = outcome === 'completed' ? nowMs : undefined;
      const usageEvent = freeEvent({ event, admission, alias, model, path, outcome, error, parsedAtMs, answeredAtMs, nowMs });
      return settleRequest(deps, { event, admission, usageEvent, error });
    };
    try {
      const reply = jsonReply(requestId, 200, await task.ask(deps.tokenizer), headers);
      await settle('completed');
      return reply;
    } catch (error) {
      await settle('upstream_failed', error);
      throw error instanceof ApiError ? error.withHeaders(headers) : error;
    }
  };

/** Tokenizes a text, or messages rendered with the model's chat template (interface 4.4; vLLM's shapes). */
export const tokenize = (path: string, deps: TokenizerDependencies): Serve =>
  serveTokenizer<TokenizeRequest>(
    path,
    {
      schema: TokenizeRequest,
      toTask: (request, model, files) => {
        const input = toInput(request, model);
        return {
          reservedTokens: estimateInput(input),
          ignored: ignoredOfTokenize(request),
          ask: async (tokenizer): Promise<TokenizeReply> => {
            const { tokens, token_strs } = await tokenizer.tokenize({
              files,
              input,
              add_special_tokens: request.add_special_tokens ?? typeof input === 'string',
              add_generation_prompt: request.add_generation_prompt ?? true,
              return_token_strs: request.return_token_strs ?? false,
            });
            return { count: tokens.length, max_model_len: model.context_length, tokens, token_strs };
          },
        };
      },
    },
    deps,
  );

/** Converts tokens to text (interface 4.4; vLLM's shapes). */
export const detokenize = (path: string, deps: TokenizerDependencies): Serve =>
  serveTokenizer<DetokenizeRequest>(
    path,
    {
      schema: DetokenizeRequest,
      toTask: (request, _, files) => ({
        reservedTokens: request.tokens.length,
        ignored: ignoredOfDetokenize(request),
        ask: async (tokenizer): Promise<DetokenizeReply> => {
          const { text } = await tokenizer.detokenize({ files, tokens: request.tokens });
          return { prompt: text };
        },
      }),
    },
    deps,
  );
