import { encodeConversation } from '../chat/prompt.ts';
import { findModel, type ServingLimits } from '../served-models.ts';
import type { ContainerTokenizer } from '../tokenizer.ts';
import type { DetokenizeRequest, TokenizeRequest } from './request.ts';

/** The reply to `POST /tokenize`, as vLLM's. Throws `NotFound` for a model that is not served, `BadRequest` for a conversation that the template does not take. */
export const tokenize = (body: TokenizeRequest, tokenizer: ContainerTokenizer, limits: ServingLimits) => {
  findModel(body.model, limits);
  const tokens = 'messages' in body ? encodeConversation(body, tokenizer) : tokenizer.encodePrompt(body.prompt);
  const token_strs = body.return_token_strs ? tokens.map((id) => tokenizer.vocabularyEntry(id)) : null;
  return { count: tokens.length, max_model_len: limits.windowTokens, tokens, token_strs };
};

/** The reply to `POST /detokenize`, as vLLM's: special tokens are spelled out, ids beyond the vocabulary are nothing. Throws `NotFound` for a model that is not served. */
export const detokenize = (
  { model, tokens }: DetokenizeRequest,
  tokenizer: ContainerTokenizer,
  limits: ServingLimits,
): { prompt: string } => {
  findModel(model, limits);
  return { prompt: tokenizer.decode(tokens, true) };
};
