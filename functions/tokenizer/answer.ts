import { logError } from '../../shared/logging/log.ts';
import type { TokenizerFiles } from '../../shared/models/model.ts';
import type { CountAnswer, FitAnswer, TokenizerRefusal } from '../../shared/tokens/answers.ts';
import { TemplateFailed, TemplateRefused, TextRefused } from '../../shared/tokens/errors.ts';
import type { ChatPrompt } from '../../shared/tokens/prompt.ts';
import type { CountQuestion, FitQuestion, TokenizerQuestion } from '../../shared/tokens/questions.ts';
import { countPrompt, fitPrompt } from './engine/fit-prompt.ts';
import type { LoadedTokenizer } from './engine/loaded-tokenizer.ts';
import { answerDetokenize, answerTokenize } from './tokenize.ts';
import type { Tokenizers } from './tokenizers.ts';

// Without a need for the text, a template that fails here returns no count: the runtime may render it, or not use it.
const answerFit = (tokenizer: LoadedTokenizer, { prompt, max_prompt_tokens }: FitQuestion): FitAnswer => {
  try {
    return fitPrompt(tokenizer, prompt, max_prompt_tokens);
  } catch (error) {
    if (error instanceof TemplateFailed && max_prompt_tokens === null) return { prompt_tokens: null, kept: null };
    throw error;
  }
};

// Returns null if the prompt can't be counted here: the runtime has accepted it, so its answer is counted all the same.
const countIfPossible = (tokenizer: LoadedTokenizer, prompt: ChatPrompt): number | null => {
  try {
    return countPrompt(tokenizer, prompt);
  } catch (error) {
    if (error instanceof TemplateRefused || error instanceof TextRefused) return null;
    throw error;
  }
};

const answerCount = (tokenizer: LoadedTokenizer, { prompt, texts }: CountQuestion): CountAnswer => {
  const counter = tokenizer.createCounter();
  return {
    prompt_tokens: prompt && countIfPossible(tokenizer, prompt),
    text_tokens: texts.map((text) => counter.count(text) as number),
    special_tokens: tokenizer.encode('', true).length,
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

const withLog = (tokenizer: LoadedTokenizer, files: TokenizerFiles): LoadedTokenizer => ({
  ...tokenizer,
  render: (...prompt) => {
    try {
      return tokenizer.render(...prompt);
    } catch (error) {
      if (error instanceof TemplateFailed) logError('template_failed', error.cause, { files });
      throw error;
    }
  },
});

/** Answers one question; a rejected prompt or text is an answer, too. Throws if the tokenizer's files can't be read. */
export const answer = async (
  tokenizers: Tokenizers,
  question: TokenizerQuestion,
): Promise<ReturnType<typeof answerOne> | TokenizerRefusal> => {
  const { files, organization } = question;
  const tokenizer = withLog(await tokenizers(files, organization), files);
  try {
    return answerOne(tokenizer, question);
  } catch (error) {
    if (error instanceof TemplateRefused) return { refused: error.message, by: 'template' };
    if (error instanceof TextRefused) return { refused: error.message, by: 'tokenizer' };
    throw error;
  }
};
