import * as z from 'zod';
import { FunctionUnavailable, PayloadTooLarge } from '../aws/function-errors.ts';
import type { InvokeFunction } from '../aws/invoke-function.ts';
import { CountAnswer, DetokenizeAnswer, FitAnswer, TokenizeAnswer, TokenizerRefusal, TooLarge, UnknownId } from './answers.ts';
import { PromptRefused, TooLargeToCount, TooLargeToTokenize, UnknownTokenId, Untokenizable } from './errors.ts';
import type { CountQuestion, DetokenizeQuestion, FitQuestion, TokenizeQuestion } from './questions.ts';

/**
 * A client of the function `tokenizer`, for functions that are too small to load a tokenizer themselves.
 * @throws PromptRefused (400) if the chat template rejects the messages, Untokenizable (400) for a text that would
 * take too long, TooLargeToCount (413), FunctionUnavailable (503) for all other failures
 */
export interface Tokenizer {
  /** Counts a prompt; with a limit, also returns which messages to keep so that it fits, if possible. */
  fit(question: Omit<FitQuestion, 'operation'>): Promise<FitAnswer>;
  /** Counts a prompt and texts that a model wrote. */
  count(question: Omit<CountQuestion, 'operation'>): Promise<CountAnswer>;
  /** Tokenizes a text or a prompt. Throws TooLargeToTokenize (400) if there are more tokens than a reply can have. */
  tokenize(question: Omit<TokenizeQuestion, 'operation'>): Promise<TokenizeAnswer>;
  /** Converts tokens to text. Throws UnknownTokenId (400) and TooLargeToTokenize (400). */
  detokenize(question: Omit<DetokenizeQuestion, 'operation'>): Promise<DetokenizeAnswer>;
}

/** @param functionName the name or ARN of the function `tokenizer` (TOKENIZER_FUNCTION) */
export const createTokenizer = (invoke: InvokeFunction, functionName: string): Tokenizer => {
  const send = (question: object): Promise<unknown> =>
    invoke(functionName, question).catch((error: unknown) => {
      throw error instanceof PayloadTooLarge ? new TooLargeToCount() : error;
    });
  const ask = async <Answer extends z.ZodType>(
    schema: Answer,
    question: object,
    param: 'prompt' | 'messages',
  ): Promise<z.output<Answer>> => {
    const answer = z.union([schema, TokenizerRefusal]).safeParse(await send(question));
    if (!answer.success) throw new FunctionUnavailable(answer.error);
    const { data: refusal } = TokenizerRefusal.safeParse(answer.data);
    if (refusal) throw refusal.by === 'template' ? new PromptRefused(refusal.refused) : new Untokenizable(param, refusal.refused);
    return answer.data as z.output<Answer>;
  };
  return {
    fit: (question) => ask(FitAnswer, { operation: 'fit', ...question }, 'messages'),
    count: (question) => ask(CountAnswer, { operation: 'count', ...question }, 'prompt'),
    tokenize: async (question) => {
      const param = typeof question.input === 'string' ? 'prompt' : 'messages';
      const answer = await ask(z.union([TokenizeAnswer, TooLarge]), { operation: 'tokenize', ...question }, param);
      if ('too_large' in answer) throw new TooLargeToTokenize(param);
      return answer;
    },
    detokenize: async (question) => {
      const answer = await ask(z.union([DetokenizeAnswer, UnknownId, TooLarge]), { operation: 'detokenize', ...question }, 'prompt');
      if ('unknown_at' in answer) throw new UnknownTokenId(answer.unknown_at, question.tokens[answer.unknown_at]);
      if ('too_large' in answer) throw new TooLargeToTokenize('tokens');
      return answer;
    },
  };
};

/** The same tokenizer for the deployments of an organization, whose files share one place of its cache. */
export const forDeployments = (tokenizer: Tokenizer, organization: string): Tokenizer => ({
  fit: (question) => tokenizer.fit({ ...question, organization }),
  count: (question) => tokenizer.count({ ...question, organization }),
  tokenize: (question) => tokenizer.tokenize({ ...question, organization }),
  detokenize: (question) => tokenizer.detokenize({ ...question, organization }),
});
