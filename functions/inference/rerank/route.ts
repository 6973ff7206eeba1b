import { idLike } from '../../../shared/ids/id.ts';
import type { PoolingReply, PoolingRoute } from '../pooling/pooling-route.ts';
import { documentTexts, ignoredRerankFields, isRerankField, RerankRequest } from './request.ts';
import { checkRerank } from './support.ts';
import { teiRerank } from './tei-rerank.ts';
import { vllmRerank } from './vllm-rerank.ts';

// Documents with equal scores keep their order.
const bestFirst = (scores: readonly number[]): { index: number; score: number }[] =>
  scores.map((score, index) => ({ index, score })).sort((one, other) => other.score - one.score);

function* writeRanking(
  request: RerankRequest,
  scores: readonly number[],
  { requestId, model, promptTokens }: PoolingReply,
): Generator<string> {
  yield `{"id":${JSON.stringify(idLike('rerank', requestId))},"object":"list","model":${JSON.stringify(model)},"results":[`;
  const texts = request.return_documents ? documentTexts(request) : undefined;
  for (const [place, { index, score }] of bestFirst(scores)
    .slice(0, request.top_n ?? undefined)
    .entries()) {
    const result = { index, relevance_score: score, ...(texts && { document: { text: texts[index] } }) };
    yield `${place === 0 ? '' : ','}${JSON.stringify(result)}`;
  }
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  yield `],"usage":${JSON.stringify(usage)},"meta":${JSON.stringify({ billed_units: { total_tokens: promptTokens } })}}`;
}

/** Ranks documents by their relevance to a query: a reply with the fields of Cohere's and of Jina's. */
export const rerank: PoolingRoute<RerankRequest, number> = {
  task: 'rerank',
  schema: RerankRequest,
  checkSupport: checkRerank,
  ignored: ignoredRerankFields,
  isDocumented: isRerankField,
  toPrompt: (request) => ({ texts: documentTexts(request), pairedWith: request.query }),
  nameOf: (_, index) => `documents[${index}]`,
  dialectOf: ({ dialect }) => (dialect === 'tei' ? teiRerank : vllmRerank),
  logsResults: true,
  write: writeRanking,
};
