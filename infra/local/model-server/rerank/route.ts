import type { ContainerTokenizer } from '../model/tokenizer.ts';
import type { Exchange, ServingContext } from '../replies/answering.ts';
import { sendPooled } from '../replies/pooled-reply.ts';
import { createReplyHead } from '../replies/reply.ts';
import { findPoolingModel } from '../requests/served-models.ts';
import { encodePair } from '../vectors/encoder-prompt.ts';
import { sigmoid } from '../vectors/vectors.ts';
import type { RerankRequest } from './request.ts';

/** Answers vLLM's rerank request. Throws `NotFound`, `BadRequest` and `FaultReached`. */
export const replyToRerank = async (context: ServingContext, request: RerankRequest, exchange: Exchange): Promise<void> => {
  const { vectors, tokenizer, limits } = context;
  const model = findPoolingModel(request.model, 'rerank', limits);
  const options = { tokenizer, windowTokens: limits.windowTokens, truncateTo: request.truncate_prompt_tokens };
  const documents = typeof request.documents === 'string' ? [request.documents] : request.documents;
  const relevance = vectors.relevance(request.query);
  const pairs = documents.map((document) => encodePair(request.query, shorten(document, request.max_tokens_per_doc, tokenizer), options));
  const promptTokens = pairs.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
  const results = pairs
    .map(({ text }, index) => {
      const logit = relevance(text);
      const document = { text: documents[index], multi_modal: null };
      return { index, document, relevance_score: request.use_activation === false ? logit : sigmoid(logit) };
    })
    .sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index);
  const { id } = createReplyHead('score', model, request.request_id);
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  await sendPooled(exchange, { id, model, usage, results: results.slice(0, request.top_n || documents.length) });
};

const shorten = (document: string, maxTokens: number, tokenizer: ContainerTokenizer): string => {
  if (maxTokens === 0) return document;
  const tokens = tokenizer.encodePrompt(document);
  return tokens.length > maxTokens ? tokenizer.decode(tokens.slice(0, maxTokens), true) : document;
};
