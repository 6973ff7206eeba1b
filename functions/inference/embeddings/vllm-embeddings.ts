import type { Model } from '../../../shared/models/model.ts';
import type { PoolingCall, PoolingDialect } from '../pooling/pooling-route.ts';
import { readJson } from '../pooling/read-json.ts';
import { UnusableReply } from '../pooling/unusable-reply.ts';
import { reportedTokens, type VllmUsage } from '../pooling/vllm-usage.ts';
import type { EmbeddingsRequest } from './request.ts';
import { readVector, type Vector } from './vector.ts';

// A call must be answered within 60 s, and its reply must fit into 25 MB.
const MAX_INPUTS_PER_CALL = 64;
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
const BASE64_BYTES_PER_DIMENSION = 16 / 3;

export const dimensionsOf = ({ dimensions }: EmbeddingsRequest, { embedding }: Model): number => {
  const length = dimensions ?? embedding?.dimensions;
  if (length === undefined) throw new Error('A model for embeddings has no dimensions.');
  return length;
};

interface Reply {
  data?: { index?: unknown; embedding?: unknown }[];
  usage?: VllmUsage;
}

// The entries say which input they are for.
const vectorsOf = ({ data }: Reply, dimensions: number, count: number): Vector[] => {
  if (!Array.isArray(data) || data.length !== count) throw new UnusableReply('The reply does not have one embedding for each input.');
  const vectors: Vector[] = [];
  for (const [place, entry] of data.entries()) {
    const index = entry?.index ?? place;
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= count || vectors[index as number])
      throw new UnusableReply('An embedding has no input of its own.');
    const vector = readVector(entry?.embedding, dimensions);
    if (!vector) throw new UnusableReply(`An embedding is not a vector of ${dimensions} finite numbers.`);
    vectors[index as number] = vector;
  }
  return vectors;
};

/**
 * vLLM's pooling runner behind `/invocations`. It is asked for base64, which is a third of the size of JSON's numbers,
 * in our byte order. Without `truncate_prompt_tokens` it rejects inputs that are too long, instead of cutting them.
 */
export const vllmEmbeddings: PoolingDialect<EmbeddingsRequest, Vector> = {
  maxTexts: (request, model) => {
    const bytes = dimensionsOf(request, model) * BASE64_BYTES_PER_DIMENSION;
    return Math.max(1, Math.min(MAX_INPUTS_PER_CALL, Math.floor(MAX_REPLY_BYTES / bytes)));
  },
  toBody: (request, model, { texts, containerModel, cacheSalt, requestId }: PoolingCall) => ({
    model: containerModel,
    input: texts,
    encoding_format: 'base64',
    embed_dtype: 'float32',
    endianness: 'little',
    // A model whose vectors can't be shortened rejects even its own length.
    ...(request.dimensions != null && request.dimensions !== model.embedding?.dimensions && { dimensions: request.dimensions }),
    cache_salt: cacheSalt,
    request_id: requestId,
  }),
  read: (reply, request, model, { texts }) => {
    const read = readJson(reply) as Reply;
    return { results: vectorsOf(read, dimensionsOf(request, model), texts.length), promptTokens: reportedTokens(read.usage) };
  },
};
