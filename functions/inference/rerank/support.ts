import { InvalidRequest } from '../../../shared/http/errors.ts';
import { estimateTokens, textBytes } from '../pipeline/prompt-size.ts';
import { documentTexts, type RerankRequest } from './request.ts';

/** The tokens of a request, where four bytes of text count as one, and the query counts with each document. */
export const MAX_RERANK_TOKENS = 300_000;

/** Rejects a request that is too large. @throws 400 */
export const checkRerank = (request: RerankRequest): void => {
  const queryBytes = textBytes(request.query);
  const tokens = documentTexts(request).reduce((sum, document) => sum + estimateTokens(queryBytes + textBytes(document)), 0);
  if (tokens > MAX_RERANK_TOKENS)
    throw new InvalidRequest({
      param: 'documents',
      code: 'too_many_tokens',
      message: `The documents, each with the query, can have ${MAX_RERANK_TOKENS} tokens in total, and these have about ${tokens}. Split them into several requests.`,
    });
};
