import { logError } from '../../shared/logging/log.ts';
import type { TokenizerFiles } from '../../shared/models/model.ts';
import type { CountAnswer, FitAnswer, Refusal } from '../../shared/tokens/answers.ts';
import { TemplateFailed, TemplateRefused, TextRefused } from '../../shared/tokens/errors.ts';
import type { ChatPrompt } from '../../shared/tokens/prompt.ts';
import type { CountQuestion, FitQuestion, TokenizerQuestion } from '../../shared/tokens/questions.ts';
import { countPrompt, fitPrompt } from './engine/fit-prompt.ts';
import type { LoadedTokenizer } from './engine/loaded-tokenizer.ts';
import { answerDetokenize, answerTokenize } from './tokenize.ts';
import type { Tokenizers } from './tokenizers.ts';

/** What breaks our renderer may be fine for the runtime's, or for a runtime that has no use for the template: it goes on uncounted. */
const answerFit = (tokenizer: LoadedTokenizer, { prompt, max_prompt_tokens }: FitQuestion): FitAnswer => {
  try {
    return fitPrompt(tokenizer, prompt, max_prompt_tokens);
  } catch (error) {
    if (error instanceof TemplateFailed && max_prompt_tokens === null) return { prompt_tokens: null, kept: null };
    throw error;
  }
};

/** An answer is counted also where the prompt, which the runtime has taken, cannot be counted here. */
const countIfTaken = (tokenizer: LoadedTokenizer, prompt: ChatPrompt): number | null => {
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
    prompt_tokens: prompt && countIfTaken(tokenizer, prompt),
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

/** The same tokenizer, whose template does not break unseen. */
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

/** Answers one question; that a prompt or a text is refused is an answer too. Throws when the tokenizer's files cannot be read. */
export const answer = async (tokenizers: Tokenizers, question: TokenizerQuestion): Promise<ReturnType<typeof answerOne> | Refusal> => {
  const tokenizer = withLog(await tokenizers(question.files), question.files);
  try {
    return answerOne(tokenizer, question);
  } catch (error) {
    if (error instanceof TemplateRefused) return { refused: error.message, by: 'template' };
    if (error instanceof TextRefused) return { refused: error.message, by: 'tokenizer' };
    throw error;
  }
};
