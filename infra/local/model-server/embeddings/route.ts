import { endianness as nativeEndianness } from 'node:os';
import type { Exchange, ServingContext } from '../replies/answering.ts';
import { sendPooled } from '../replies/pooled-reply.ts';
import { createReplyHead } from '../replies/reply.ts';
import { BadRequest } from '../requests/errors.ts';
import { findPoolingModel } from '../requests/served-models.ts';
import { encodeInput } from '../vectors/encoder-prompt.ts';
import { VECTOR_DIMENSIONS } from '../vectors/vectors.ts';
import { type EmbeddingRequest, inputsOf } from './request.ts';

const FLOAT_BYTES = 4;

/** Answers vLLM's embeddings request. Throws `NotFound`, `BadRequest` and `FaultReached`. */
export const replyToEmbeddings = async (context: ServingContext, request: EmbeddingRequest, exchange: Exchange): Promise<void> => {
  const { vectors, tokenizer, limits } = context;
  const model = findPoolingModel(request.model, 'embed', limits);
  const dimensions = dimensionsOf(request, model);
  const options = {
    tokenizer,
    windowTokens: limits.windowTokens,
    truncateTo: request.truncate_prompt_tokens,
    addsSpecialTokens: request.add_special_tokens,
  };
  const inputs = inputsOf(request).map((input) => encodeInput(input, options));
  const promptTokens = inputs.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
  const { id, created } = createReplyHead('embd', model, request.request_id);
  const data = inputs.map(({ text }, index) => ({
    index,
    object: 'embedding',
    embedding: toWire(vectors.embed(text, dimensions), request),
  }));
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens, completion_tokens: 0, prompt_tokens_details: null };
  await sendPooled(exchange, { id, object: 'list', created, model, data, usage });
};

const dimensionsOf = ({ dimensions }: EmbeddingRequest, model: string): number => {
  if (dimensions === null || dimensions === undefined) return VECTOR_DIMENSIONS;
  if (dimensions >= 1 && dimensions <= VECTOR_DIMENSIONS) return dimensions;
  throw new BadRequest(`Model '${model}' only supports dimensions in range [1, ${VECTOR_DIMENSIONS}], got ${dimensions}.`);
};

const toWire = (vector: Float32Array, { encoding_format: format, endianness }: EmbeddingRequest): number[] | string => {
  if (format === 'float') return [...vector];
  const bytes = Buffer.alloc(vector.length * FLOAT_BYTES);
  const isBig = endianness === 'big' || (endianness === 'native' && nativeEndianness() === 'BE');
  vector.forEach((number, at) => {
    if (isBig) bytes.writeFloatBE(number, at * FLOAT_BYTES);
    else bytes.writeFloatLE(number, at * FLOAT_BYTES);
  });
  return bytes.toString('base64');
};
