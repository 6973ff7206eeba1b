import { randomBytes, randomUUID } from 'node:crypto';
import { chatCompletions } from '../../../functions/inference/chat/route.ts';
import { prepareRequest } from '../../../functions/inference/pipeline/prepare-request.ts';
import { validate } from '../../../shared/http/validate.ts';
import { Model } from '../../../shared/models/model.ts';
import type { Price } from '../../../shared/prices/price.ts';
import { isOutput, type UpstreamChunk, type UpstreamUsage } from '../../../shared/upstream/chunk.ts';
import { ErrorInStream } from '../../../shared/upstream/error-in-stream.ts';
import { toUpstreamError, UpstreamFailed } from '../../../shared/upstream/errors.ts';
import { createStreamReader } from '../../../shared/upstream/read-stream.ts';
import { createCacheSalt } from '../../../shared/upstream/request-body.ts';
import { createPost } from './post.ts';
import { CallersReply, type Reply } from './reply.ts';

/** A container to measure, and the dialect of its requests. */
export interface Container {
  url: string;
  /** The path of its requests; if absent, `/invocations` and then `/v1/chat/completions` are tried. */
  path?: string | undefined;
  dialect: Model['dialect'];
  /** The names of its models, '' for its default. The one that thinks may differ from the one for all other checks. */
  models: { plain: string; thinking: string };
  timeoutMs: number;
}

/** Properties of a caller's request. */
export type Body = Readonly<Record<string, unknown>>;

/**
 * Sends one request and returns the reply that a caller of the gateway would get. Throws the error that the caller
 * would get, or ContainerGone.
 */
export type Ask = (body: Body, kind: keyof Container['models']) => Promise<Reply>;

const modelOf = (dialect: Model['dialect']): Model =>
  Model.parse({
    name: 'conformance',
    status: 'published',
    created: 0,
    dialect,
    capabilities: { thinking_budget: true, structured_outputs: true },
    context_length: 8_192,
    max_output_tokens: 4_096,
    default_output_tokens: 64,
    // The requested token ids are ones that the container returned.
    tokenizer: { tokenizer: 'none', vocabulary_size: 2 ** 31 },
    targets: [{ endpoint: 'conformance' }],
    prices: [{ version: '1', effective_at: 0, prompt_nanos: 0, completion_nanos: 0 }],
  });

/** Sends requests to a container as the function `inference` does: with the same schema, mapper, reader and reply. */
export const createAsk = ({ dialect, models, ...address }: Container): Ask => {
  const model = modelOf(dialect);
  const post = createPost(address);
  // The container's cache may still have the salt of an earlier run.
  const secret = randomBytes(16).toString('hex');

  return async (body, kind) => {
    const request = validate(chatCompletions.schema, { model: model.name, ...body });
    const { prompt, maxTokens, choices } = prepareRequest(chatCompletions, request, model, model.prices[0] as Price);
    const sent = chatCompletions.toUpstream(request, model, {
      containerModel: models[kind],
      prompt,
      maxTokens,
      requestId: `req_${randomUUID()}`,
      cacheSalt: createCacheSalt(secret)('org_conformance', request.prompt_cache_isolation_key),
    });
    const facts = { id: 'chatcmpl-conformance', created: 0, model: model.name, requestId: 'req_1', organization: 'org_1', mayStore: true };
    const reply = chatCompletions.toWhole(request, facts, model);
    const reader = createStreamReader(choices);
    let usage: UpstreamUsage | undefined;
    let count = 0;
    const take = (chunks: UpstreamChunk[]): void => {
      reply.take(chunks);
      usage = chunks.findLast((chunk) => chunk.usage)?.usage ?? usage;
      count += chunks.filter(isOutput).length;
    };
    try {
      for await (const part of post(sent)) take(reader.push(part));
      take(reader.end());
    } catch (error) {
      throw error instanceof ErrorInStream ? toUpstreamError(error, undefined, JSON.stringify(sent)) : error;
    }
    // Without usage, each chunk counts as one token, which is true of most containers.
    const whole = reply.whole(usage ?? { completion_tokens: count });
    return { ...parsed(whole), sent, chunks: count, hasUsage: usage !== undefined };
  };
};

// Parts such as logprobs are passed on as the container sent them, so the reply is checked against the schema.
const parsed = (whole: Record<string, unknown>) => {
  const { data, error } = CallersReply.safeParse(whole);
  if (data) return data;
  const [issue] = error.issues;
  throw new UpstreamFailed('upstream_error', `The reply is not as documented at ${issue?.path.join('.')}: ${issue?.message}`);
};
