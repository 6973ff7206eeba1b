import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { logInfo } from '../../shared/logging/log.ts';
import { TokenizerQuestion } from '../../shared/tokens/questions.ts';
import { answer } from './answer.ts';
import { createReadObject } from './read-object.ts';
import { createTokenizers } from './tokenizers.ts';

const tokenizers = createTokenizers(createReadObject(environmentVariable('TOKENIZERS_BUCKET')));

/** Invoked by our other functions: counts prompts and texts, and shortens prompts. Logs lengths, never a text. */
export const handler = async (event: unknown): ReturnType<typeof answer> => {
  const question = TokenizerQuestion.parse(event);
  const startMs = performance.now();
  const answered = await answer(tokenizers, question);
  const promptTokens = 'prompt_tokens' in answered ? answered.prompt_tokens : null;
  logInfo(question.operation, { prompt_tokens: promptTokens, duration_ms: Math.round(performance.now() - startMs) });
  return answered;
};
