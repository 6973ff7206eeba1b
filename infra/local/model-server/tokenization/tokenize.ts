import { encodeConversation } from '../chat/prompt.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';
import { findModel, type ServingLimits } from '../requests/served-models.ts';
import type { TokenizeRequest } from './request.ts';

/**
 * Tokenizes. Throws `NotFound` for an unknown model, and `BadRequest` if the chat template rejects the conversation.
 */
export const tokenize = (body: TokenizeRequest, tokenizer: ContainerTokenizer, limits: ServingLimits) => {
  findModel(body.model, limits);
  const tokens = 'messages' in body ? encodeConversation(body, tokenizer) : tokenizer.encodePrompt(body.prompt);
  const token_strs = body.return_token_strs ? tokens.map((id) => tokenizer.vocabularyEntry(id)) : null;
  return { count: tokens.length, max_model_len: limits.windowTokens, tokens, token_strs };
};
