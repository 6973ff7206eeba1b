import { MAX_TEI_INPUTS } from '../pooling/max-tei-inputs.ts';
import type { PoolingDialect } from '../pooling/pooling-route.ts';
import { readJson } from '../pooling/read-json.ts';
import type { RerankRequest } from './request.ts';
import { scoresOf } from './scores.ts';

type Reply = ({ index?: unknown; score?: unknown } | null)[];

/**
 * Text Embeddings Inference behind `/invocations`. It reports its counts in headers, which SageMaker does not pass on.
 */
export const teiRerank: PoolingDialect<RerankRequest, number> = {
  maxTexts: () => MAX_TEI_INPUTS,
  toBody: ({ query }, _, { texts }) => ({ query, texts, raw_scores: false, return_text: false, truncate: false }),
  read: (reply, _, __, { texts }) => ({
    results: scoresOf(readJson(reply) as Reply, texts.length, (entry) => entry.score),
    promptTokens: undefined,
  }),
};
