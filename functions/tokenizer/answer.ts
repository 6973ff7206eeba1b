import type { CountAnswer, FitAnswer, Refusal } from '../../shared/tokens/answers.ts';
import { TemplateRefused } from '../../shared/tokens/errors.ts';
import { countPrompt, fitPrompt } from '../../shared/tokens/fit-prompt.ts';
import type { LoadedTokenizer } from '../../shared/tokens/loaded-tokenizer.ts';
import type { ChatPrompt } from '../../shared/tokens/prompt.ts';
import type { CountQuestion, FitQuestion, TokenizerQuestion } from '../../shared/tokens/questions.ts';
import { answerDetokenize, answerTokenize } from './tokenize.ts';
import type { Tokenizers } from './tokenizers.ts';

const answerFit = (tokenizer: LoadedTokenizer, { prompt, max_prompt_tokens }: FitQuestion): FitAnswer =>
  fitPrompt(tokenizer, prompt, max_prompt_tokens);

/** An answer is counted also where the prompt, which the runtime has taken, cannot be rendered here. */
const countIfTaken = (tokenizer: LoadedTokenizer, prompt: ChatPrompt): number | null => {
  try {
    return countPrompt(tokenizer, prompt);
  } catch (error) {
    if (error instanceof TemplateRefused) return null;
    throw error;
  }
};

const answerCount = (tokenizer: LoadedTokenizer, { prompt, texts }: CountQuestion): CountAnswer => {
  const counter = tokenizer.createCounter();
  return {
    prompt_tokens: prompt && countIfTaken(tokenizer, prompt),
    text_tokens: texts.map((text) => counter.count(text) as number),
  };
};

const answerOne = (tokenizer: LoadedTokenizer, question: TokenizerQuestion) => {
  switch (question.operation) {
    case 'fit':
      return answerFit(tokenizer, question);
    case 'count':
      return answerCount(tokenizer, question);
    case 'tokenize':
      return answerTokenize(tokenizer, question);
    case 'detokenize':
      return answerDetokenize(tokenizer, question);
  }
};

/** Answers one question; a chat template that refuses the prompt is an answer too. Throws when the tokenizer's files cannot be read. */
export const answer = async (tokenizers: Tokenizers, question: TokenizerQuestion): Promise<ReturnType<typeof answerOne> | Refusal> => {
  const tokenizer = await tokenizers(question.files);
  try {
    return answerOne(tokenizer, question);
  } catch (error) {
    if (error instanceof TemplateRefused) return { refused: error.message };
    throw error;
  }
};
