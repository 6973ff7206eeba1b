import * as z from 'zod';
import { MAX_ANSWER_TOKENS } from '../../../shared/tokens/answers.ts';
import { tokenIdsUpTo } from '../../../shared/tokens/token-ids.ts';
import { pairCalls } from '../chat/call-ids.ts';
import { Messages } from '../chat/message.ts';
import { Switch } from '../chat/sampling-fields.ts';
import { Tools } from '../chat/tool.ts';

// As many as one reply can have.
const TokenIds = tokenIdsUpTo(MAX_ANSWER_TOKENS);

const ModelName = z.string().min(1).max(256);

// Fields of the form that a request doesn't use are accepted without effect.
const common = {
  model: ModelName,
  add_special_tokens: Switch.meta({
    description: 'Whether to add the special tokens that the tokenizer puts around a text. Default: true for a prompt, false for messages.',
  }),
  return_token_strs: Switch.meta({ description: 'Whether to return `token_strs`. Default false.' }),
};
const ofPrompt = { prompt: z.string().nullish() };
const ofMessages = {
  messages: Messages.nullish(),
  tools: Tools.nullish(),
  add_generation_prompt: Switch.meta({ description: 'Whether the rendered messages end with the start of the answer. Default true.' }),
};

/** A request to tokenize, as vLLM defines it: `prompt` or `messages`. Unknown fields are accepted. */
export const TokenizeRequest = z.looseObject({ ...common, ...ofPrompt, ...ofMessages }).superRefine(({ prompt, messages }, context) => {
  const isText = prompt != null;
  const fault =
    isText === (messages != null)
      ? { path: ['prompt'], message: `expected exactly one of prompt and messages, got ${isText ? 'both' : 'neither'}` }
      : pairCalls(messages ?? []).fault;
  if (fault) context.addIssue({ code: 'custom', ...fault });
});
export type TokenizeRequest = z.output<typeof TokenizeRequest>;

export const TokenizeReply = z.object({
  count: z.int().meta({ description: 'The number of tokens.' }),
  max_model_len: z.int().meta({ description: "The model's context length." }),
  tokens: TokenIds,
  token_strs: z.array(z.string()).nullable().meta({ description: 'The tokens as the vocabulary spells them; null unless requested.' }),
});
export type TokenizeReply = z.output<typeof TokenizeReply>;

/** A request to detokenize, as vLLM defines it. Unknown fields are accepted. */
export const DetokenizeRequest = z.looseObject({ model: ModelName, tokens: TokenIds });
export type DetokenizeRequest = z.output<typeof DetokenizeRequest>;

export const DetokenizeReply = z.object({ prompt: z.string() });
export type DetokenizeReply = z.output<typeof DetokenizeReply>;

const namesBeside = (request: object, known: object): string[] =>
  Object.entries(request).flatMap(([name, value]) => (value == null || Object.hasOwn(known, name) ? [] : [name]));

/** The fields of a tokenize request that were accepted but have no effect. */
export const ignoredOfTokenize = (request: TokenizeRequest): string[] =>
  namesBeside(request, { ...common, ...(request.prompt == null ? ofMessages : ofPrompt) });

/** The fields of a detokenize request that were accepted but have no effect. */
export const ignoredOfDetokenize = (request: DetokenizeRequest): string[] => namesBeside(request, DetokenizeRequest.shape);
