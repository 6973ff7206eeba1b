import * as z from 'zod';
import { ignoringUnknown } from '../database/ignoring-unknown.ts';
import { TokenizerFiles } from '../models/model.ts';
import type { ChatPrompt } from './prompt.ts';
import { TokenIds } from './token-ids.ts';

const isPrompt = (value: unknown): boolean => {
  const messages = (value as ChatPrompt | null)?.messages;
  return Array.isArray(messages) && messages.length > 0;
};

// Prompts come from our own functions, which have validated them, so only the outer shape is checked again.
const Prompt = z.custom<ChatPrompt>(isPrompt, 'expected a prompt with at least one message');

const asked = {
  files: TokenizerFiles,
  /** The organization whose deployment the files are of; absent for those of a shared model. */
  organization: z.string().optional(),
};

/** Asks for a prompt's length, and which of its messages to keep so that it stays within a limit. */
export const FitQuestion = z.strictObject({
  operation: z.literal('fit'),
  ...asked,
  prompt: Prompt,
  /** null: only count the prompt. */
  max_prompt_tokens: z.int().min(1).nullable(),
});
export type FitQuestion = z.infer<typeof FitQuestion>;

/** Asks for the length of an answer that broke off, and of its prompt. */
export const CountQuestion = z.strictObject({
  operation: z.literal('count'),
  ...asked,
  prompt: Prompt.nullable(),
  texts: z.array(z.string()).max(1_024),
});
export type CountQuestion = z.infer<typeof CountQuestion>;

/** Asks for the tokens of a text, or of a prompt rendered with the chat template. */
export const TokenizeQuestion = z.strictObject({
  operation: z.literal('tokenize'),
  ...asked,
  input: z.union([z.string(), Prompt]),
  /** Adds the special tokens that the tokenizer puts around a text. */
  add_special_tokens: z.boolean(),
  /** Ends a rendered prompt with the start of the answer; no effect for a text. */
  add_generation_prompt: z.boolean(),
  /** Also returns the tokens as the vocabulary spells them. */
  return_token_strs: z.boolean(),
});
export type TokenizeQuestion = z.infer<typeof TokenizeQuestion>;

/** Asks for the text of token ids. */
export const DetokenizeQuestion = z.strictObject({
  operation: z.literal('detokenize'),
  ...asked,
  tokens: TokenIds,
});
export type DetokenizeQuestion = z.infer<typeof DetokenizeQuestion>;

/** The event of the function `tokenizer`. */
export const TokenizerQuestion = ignoringUnknown(
  z.discriminatedUnion('operation', [FitQuestion, CountQuestion, TokenizeQuestion, DetokenizeQuestion]),
);
export type TokenizerQuestion = z.infer<typeof TokenizerQuestion>;
