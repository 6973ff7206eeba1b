import * as z from 'zod';
import { TokenizerFiles } from '../models/model.ts';
import type { ChatPrompt } from './prompt.ts';
import { TokenIds } from './token-ids.ts';

const isPrompt = (value: unknown): boolean => {
  const messages = (value as ChatPrompt | null)?.messages;
  return Array.isArray(messages) && messages.length > 0;
};

/** A prompt comes from our own functions, which have checked it: only its outer shape is looked at again. */
const Prompt = z.custom<ChatPrompt>(isPrompt, 'expected a prompt with at least one message');

/** How long is a prompt, and which of its messages stay where it must not be longer than a bound? */
export const FitQuestion = z.strictObject({
  operation: z.literal('fit'),
  files: TokenizerFiles,
  prompt: Prompt,
  /** null: only count. */
  max_prompt_tokens: z.int().min(1).nullable(),
});
export type FitQuestion = z.infer<typeof FitQuestion>;

/** How long is an answer that broke off, and the prompt that it answers? */
export const CountQuestion = z.strictObject({
  operation: z.literal('count'),
  files: TokenizerFiles,
  prompt: Prompt.nullable(),
  texts: z.array(z.string()).max(1_024),
});
export type CountQuestion = z.infer<typeof CountQuestion>;

/** What are the tokens of a text as it is, or of a prompt that the chat template renders? */
export const TokenizeQuestion = z.strictObject({
  operation: z.literal('tokenize'),
  files: TokenizerFiles,
  input: z.union([z.string(), Prompt]),
  /** Whether the tokenizer adds what it puts around a text of its own accord. */
  add_special_tokens: z.boolean(),
  /** Whether a rendered prompt goes on to where the answer begins; without meaning for a text. */
  add_generation_prompt: z.boolean(),
  /** Whether the tokens are also given as the vocabulary has them. */
  return_token_strs: z.boolean(),
});
export type TokenizeQuestion = z.infer<typeof TokenizeQuestion>;

/** What is the text of these token ids? */
export const DetokenizeQuestion = z.strictObject({
  operation: z.literal('detokenize'),
  files: TokenizerFiles,
  tokens: TokenIds,
});
export type DetokenizeQuestion = z.infer<typeof DetokenizeQuestion>;

/** Everything that the function `tokenizer` is asked. */
export const TokenizerQuestion = z.discriminatedUnion('operation', [FitQuestion, CountQuestion, TokenizeQuestion, DetokenizeQuestion]);
export type TokenizerQuestion = z.infer<typeof TokenizerQuestion>;
