import { MAX_TEI_INPUTS } from '../pooling/max-tei-inputs.ts';
import type { PoolingDialect } from '../pooling/pooling-route.ts';
import { readJson } from '../pooling/read-json.ts';
import { UnusableReply } from '../pooling/unusable-reply.ts';
import { dimensionsOf } from './dimensions-of.ts';
import type { EmbeddingsRequest } from './request.ts';
import { createVectors, readVector, type Vector } from './vector.ts';

/**
 * Text Embeddings Inference behind `/invocations`. It reports its counts in headers, which SageMaker does not pass on.
 */
export const teiEmbeddings: PoolingDialect<EmbeddingsRequest, Vector> = {
  maxTexts: () => MAX_TEI_INPUTS,
  toBody: (request, model, { texts }) => ({
    inputs: texts,
    normalize: true,
    truncate: false,
    ...(request.dimensions != null && request.dimensions !== model.embedding?.dimensions && { dimensions: request.dimensions }),
  }),
  read: (reply, request, model, { texts }) => {
    const read = readJson(reply);
    if (!Array.isArray(read) || read.length !== texts.length)
      throw new UnusableReply('The reply does not have one embedding for each input.');
    const dimensions = dimensionsOf(request, model);
    const results = createVectors(texts.length, dimensions);
    results.forEach((vector, index) => {
      if (!readVector(read[index], vector)) throw new UnusableReply(`An embedding is not a vector of ${dimensions} finite numbers.`);
    });
    return { results, promptTokens: undefined };
  },
};
