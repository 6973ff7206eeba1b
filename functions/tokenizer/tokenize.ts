import {
  type DetokenizeAnswer,
  MAX_ANSWER_BYTES,
  MAX_ANSWER_TOKENS,
  type TokenizeAnswer,
  type TooLarge,
  type UnknownId,
} from '../../shared/tokens/answers.ts';
import type { DetokenizeQuestion, TokenizeQuestion } from '../../shared/tokens/questions.ts';
import type { LoadedTokenizer } from './engine/loaded-tokenizer.ts';

const ifItFits = <Answer extends object>(answer: Answer): Answer | TooLarge =>
  Buffer.byteLength(JSON.stringify(answer)) > MAX_ANSWER_BYTES ? { too_large: true } : answer;

/** Tokenizes a text or a prompt. Throws TemplateRefused. */
export const answerTokenize = (tokenizer: LoadedTokenizer, question: TokenizeQuestion): TokenizeAnswer | TooLarge => {
  const { input, add_special_tokens, add_generation_prompt, return_token_strs } = question;
  const text = typeof input === 'string' ? input : tokenizer.render(input, { addGenerationPrompt: add_generation_prompt });
  const tokens = tokenizer.encode(text, add_special_tokens);
  if (tokens.length > MAX_ANSWER_TOKENS) return { too_large: true };
  return ifItFits({ tokens, token_strs: return_token_strs ? tokens.map((id) => tokenizer.tokenOf(id) ?? '') : null });
};

export const answerDetokenize = (tokenizer: LoadedTokenizer, { tokens }: DetokenizeQuestion): DetokenizeAnswer | UnknownId | TooLarge => {
  const unknownAt = tokens.findIndex((id) => tokenizer.tokenOf(id) === undefined);
  return unknownAt < 0 ? ifItFits({ text: tokenizer.decode(tokens) }) : { unknown_at: unknownAt };
};
