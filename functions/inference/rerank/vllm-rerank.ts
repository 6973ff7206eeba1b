import type { PoolingCall, PoolingDialect } from '../pooling/pooling-route.ts';
import { readJson } from '../pooling/read-json.ts';
import { reportedTokens, type VllmUsage } from '../pooling/vllm-usage.ts';
import type { RerankRequest } from './request.ts';
import { scoresOf } from './scores.ts';

// A call must be answered within 60 s.
const MAX_DOCUMENTS_PER_CALL = 100;

interface Reply {
  results?: ({ index?: unknown; relevance_score?: unknown } | null)[];
  usage?: VllmUsage;
}

/**
 * vLLM's pooling runner behind `/invocations`, which scores all documents without `top_n`. Without
 * `truncate_prompt_tokens` it rejects documents that are too long, instead of cutting them.
 */
export const vllmRerank: PoolingDialect<RerankRequest, number> = {
  maxTexts: () => MAX_DOCUMENTS_PER_CALL,
  toBody: ({ query }, _, { texts, containerModel, cacheSalt, requestId }: PoolingCall) => ({
    model: containerModel,
    query,
    documents: texts,
    cache_salt: cacheSalt,
    request_id: requestId,
  }),
  read: (reply, _, __, { texts }) => {
    const read = readJson(reply) as Reply;
    return { results: scoresOf(read.results, texts.length, (entry) => entry.relevance_score), promptTokens: reportedTokens(read.usage) };
  },
};
