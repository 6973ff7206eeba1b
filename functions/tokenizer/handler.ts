import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { logInfo } from '../../shared/logging/log.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { TokenizerQuestion } from '../../shared/tokens/questions.ts';
import { answer } from './answer.ts';
import { createReadObject } from './read-object.ts';
import { createTokenizers } from './tokenizers.ts';

const tokenizers = createTokenizers(createReadObject(environmentVariable('TOKENIZERS_BUCKET')));

const tokensOf = (question: TokenizerQuestion, answered: Awaited<ReturnType<typeof answer>>): number | null => {
  if (question.operation === 'detokenize') return question.tokens.length;
  if ('tokens' in answered) return answered.tokens.length;
  return 'prompt_tokens' in answered ? answered.prompt_tokens : null;
};

const answerQuestion = async (event: unknown): ReturnType<typeof answer> => {
  const question = TokenizerQuestion.parse(event);
  const startMs = performance.now();
  const answered = await answer(tokenizers, question);
  logInfo(question.operation, { prompt_tokens: tokensOf(question, answered), duration_ms: Math.round(performance.now() - startMs) });
  return answered;
};

/**
 * Invoked by our other functions: counts and truncates prompts, counts, tokenizes and detokenizes texts. Logs
 * lengths, never a text.
 */
export const handler = middy<unknown, Awaited<ReturnType<typeof answer>>>().use(originalStacks()).handler(answerQuestion);
