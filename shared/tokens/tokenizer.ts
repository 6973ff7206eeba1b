import * as z from 'zod';
import { FunctionUnavailable } from '../lambda/errors.ts';
import { createInvokeFunction } from '../lambda/invoke-function.ts';
import { CountAnswer, FitAnswer, Refusal } from './answers.ts';
import { PromptRefused } from './errors.ts';
import type { CountQuestion, FitQuestion } from './questions.ts';

/**
 * The function `tokenizer`, for functions that are too small and too quick to load a tokenizer themselves.
 * @throws PromptRefused (400) when the chat template does not take the messages, PayloadTooLarge (413), else FunctionUnavailable (503) whatever goes wrong
 */
export interface Tokenizer {
  /** The length of a prompt; with a bound, also which of its messages stay so that it is no longer than that, if that can be. */
  fit(question: Omit<FitQuestion, 'operation'>): Promise<FitAnswer>;
  /** The lengths of a prompt and of texts that a model wrote. */
  count(question: Omit<CountQuestion, 'operation'>): Promise<CountAnswer>;
}

/** @param functionName of the function `tokenizer`: the variable TOKENIZER_FUNCTION */
export const createTokenizer = (functionName: string): Tokenizer => {
  const invoke = createInvokeFunction();
  const ask = async <Answer extends z.ZodObject>(schema: Answer, question: object): Promise<z.output<Answer>> => {
    const answer = z.union([schema, Refusal]).safeParse(await invoke(functionName, question));
    if (!answer.success) throw new FunctionUnavailable(answer.error);
    if ('refused' in answer.data) throw new PromptRefused((answer.data as Refusal).refused);
    return answer.data as z.output<Answer>;
  };
  return {
    fit: (question) => ask(FitAnswer, { operation: 'fit', ...question }),
    count: (question) => ask(CountAnswer, { operation: 'count', ...question }),
  };
};
