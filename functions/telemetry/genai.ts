import { inferenceHostRoutes } from '../../shared/hosts/inference-routes.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import type { Attributes } from './otlp/wire.ts';

/**
 * The commit of https://github.com/open-telemetry/semantic-conventions-genai whose names are used. The conventions are
 * still in development. No other file has a `gen_ai.` name.
 */
export const CONVENTIONS_COMMIT = '024a4f944a1291fcb627c9c47da69e79868dd15e';

/** `client` metrics measure the call to the model, `server` metrics the caller's request. */
export const metricNames = {
  serverDuration: 'gen_ai.server.request.duration',
  serverFirstToken: 'gen_ai.server.time_to_first_token',
  serverPerToken: 'gen_ai.server.time_per_output_token',
  clientDuration: 'gen_ai.client.inference.duration',
  clientFirstChunk: 'gen_ai.client.inference.time_to_first_chunk',
  inputTokens: 'gen_ai.client.inference.usage.input_tokens',
  outputTokens: 'gen_ai.client.inference.usage.output_tokens',
  cachedTokens: 'gen_ai.client.inference.usage.cache_read.input_tokens',
  inputTokensEach: 'gen_ai.client.inference.operation.input_tokens',
  outputTokensEach: 'gen_ai.client.inference.operation.output_tokens',
  embeddingsDuration: 'gen_ai.client.embeddings.duration',
  embeddingsInputTokensEach: 'gen_ai.client.embeddings.operation.input_tokens',
} as const;

const CLIENT_PROVIDER = 'aws.sagemaker';
const SERVER_PROVIDER = 'sluice';

const { createChatCompletion, createCompletion, createEmbeddings, createMessage, createRerank, createRerankV2, createResponse } =
  inferenceHostRoutes;
const EMBEDDINGS = 'embeddings';
const OPERATIONS: ReadonlyMap<string, string> = new Map([
  [createChatCompletion.path, 'chat'],
  [createCompletion.path, 'text_completion'],
  [createEmbeddings.path, EMBEDDINGS],
  [createRerank.path, 'rerank'],
  [createRerankV2.path, 'rerank'],
  // Responses and messages are converted to chat completions.
  [createResponse.path, 'chat'],
  [createMessage.path, 'chat'],
]);

/** The operation of a request on a model. Undefined for other requests, such as tokenizations, or after a crash. */
export const operationOf = ({ route, model }: UsageEvent): { operation: string; model: string } | undefined => {
  const operation = OPERATIONS.get(route ?? '');
  return operation === undefined || model === undefined ? undefined : { operation, model };
};
export type ModelOperation = NonNullable<ReturnType<typeof operationOf>>;

/** True for a request for embeddings, whose metrics have names of their own. */
export const isEmbeddings = ({ operation }: ModelOperation): boolean => operation === EMBEDDINGS;

/** The class of the error of a request. Undefined for success, and if the caller disconnected. */
export const errorTypeOf = ({ outcome, error_code }: UsageEvent): string | undefined =>
  error_code ?? (outcome === 'completed' || outcome === 'client_closed' ? undefined : outcome);

const commonAttributes = (provider: string, { operation, model }: ModelOperation): Attributes => ({
  'gen_ai.operation.name': operation,
  'gen_ai.provider.name': provider,
  'gen_ai.request.model': model,
});

/** The attributes of metrics about requests of callers. */
export const serverAttributes = (of: ModelOperation): Attributes => commonAttributes(SERVER_PROVIDER, of);
/** The attributes of metrics about calls to models. */
export const clientAttributes = (of: ModelOperation): Attributes => commonAttributes(CLIENT_PROVIDER, of);
/** The attributes of the counters of tokens. */
export const tokenAttributes = (of: ModelOperation): Attributes => ({ ...clientAttributes(of), 'gen_ai.token.modality': 'text' });

/** The name of the span of a call to a model. */
export const inferenceSpanName = ({ operation, model }: ModelOperation): string => `${operation} ${model}`;

// Their runtimes answer at once (docs/decisions/0110); all others stream, even if the caller's request doesn't.
const WHOLE: ReadonlySet<string> = new Set([EMBEDDINGS, 'rerank']);

/** The attributes of the span of a call to a model. @param firstChunkMs from the call */
export const inferenceSpanAttributes = (event: UsageEvent, of: ModelOperation, firstChunkMs: number | undefined): Attributes => ({
  ...clientAttributes(of),
  'gen_ai.request.stream': !WHOLE.has(of.operation),
  'gen_ai.response.finish_reasons': event.finish_reason === null ? undefined : [event.finish_reason],
  'gen_ai.response.time_to_first_chunk': firstChunkMs === undefined ? undefined : { seconds: firstChunkMs / 1_000 },
  'gen_ai.usage.input_tokens': event.prompt_tokens,
  'gen_ai.usage.output_tokens': event.completion_tokens,
  'gen_ai.usage.cache_read.input_tokens': event.cached_tokens,
});
