import * as z from 'zod';
import { ChatRequestMessage, Tool } from '../chat/request.ts';
import { JsonObject } from '../requests/fields.ts';
import { parseJson, parseValue } from '../requests/parse-body.ts';

const shared = { model: z.string().nullish(), return_token_strs: z.boolean().nullish() };

// `add_special_tokens` has no effect, because this tokenizer adds none.
const TokenizePrompt = z.object({ ...shared, prompt: z.string(), add_special_tokens: z.boolean().optional() });

const TokenizeChat = z.object({
  ...shared,
  messages: z.array(ChatRequestMessage),
  tools: z.array(Tool).nullish(),
  add_generation_prompt: z.boolean().optional(),
  continue_final_message: z.boolean().optional(),
  chat_template_kwargs: JsonObject.nullish(),
});

/** A request to tokenize text or a conversation. */
export type TokenizeRequest = z.infer<typeof TokenizePrompt> | z.infer<typeof TokenizeChat>;

/** Parses a request to tokenize. `prompt` has precedence over `messages`. Throws `BadRequest`. */
export const readTokenizeRequest = (body: string): TokenizeRequest => {
  const value = parseJson(body);
  const isChat = typeof value === 'object' && value !== null && 'messages' in value && !('prompt' in value);
  return isChat ? parseValue(TokenizeChat, value) : parseValue(TokenizePrompt, value);
};
