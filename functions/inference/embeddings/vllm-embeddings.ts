import type { PoolingCall, PoolingDialect } from '../pooling/pooling-route.ts';
import { readJson } from '../pooling/read-json.ts';
import { UnusableReply } from '../pooling/unusable-reply.ts';
import { reportedTokens, type VllmUsage } from '../pooling/vllm-usage.ts';
import { dimensionsOf } from './dimensions-of.ts';
import type { EmbeddingsRequest } from './request.ts';
import { createVectors, readVector, type Vector } from './vector.ts';

// A call must be answered within 60 s, and its reply must fit into 25 MB.
const MAX_INPUTS_PER_CALL = 64;
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
const BASE64_BYTES_PER_DIMENSION = 16 / 3;

interface Reply {
  data?: { index?: unknown; embedding?: unknown }[];
  usage?: VllmUsage;
}

// The entries say which input they are for.
const vectorsOf = ({ data }: Reply, dimensions: number, count: number): Vector[] => {
  if (!Array.isArray(data) || data.length !== count) throw new UnusableReply('The reply does not have one embedding for each input.');
  const vectors = createVectors(count, dimensions);
  const read = new Set<unknown>();
  for (const [place, entry] of data.entries()) {
    const index = entry?.index ?? place;
    const vector = typeof index === 'number' ? vectors[index] : undefined;
    if (!vector || read.has(index)) throw new UnusableReply('An embedding has no input of its own.');
    if (!readVector(entry?.embedding, vector)) throw new UnusableReply(`An embedding is not a vector of ${dimensions} finite numbers.`);
    read.add(index);
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
